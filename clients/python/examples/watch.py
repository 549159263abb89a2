"""Shows what a run does while it does it. The connection may break, and the server may even be killed."""

from consort_client import Client

with Client() as consort:
    run = consort.runs.create(topic="bees")
    for frame in run.stream():
        if frame["type"] == "task_started":
            print(f"{frame['taskIndex']} of {frame['totalTasks']}: {frame['agentRole']}")
        elif frame["type"] == "tool_called":
            print(f"  {frame['toolName']} {frame['toolArguments']}")
        elif frame["type"] == "run_result":
            print(f"{frame['status']} with {frame['metrics']['totalTokens']} tokens")
