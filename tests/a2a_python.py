"""Asks the built `consort serve` over A2A, with the protocol's own Python package, over JSON-RPC and over REST; then lets
`consort` ask an agent that is made with the same package. `scripts/a2a` installs it."""

import asyncio
import json
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "clients/python/tests"), str(ROOT / "tests")]
from harness import KEY, FakeModel, Served, with_fake_model  # noqa: E402

import httpx  # noqa: E402
from a2a_agent import Agent  # noqa: E402
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory  # noqa: E402
from a2a.types.a2a_pb2 import (  # noqa: E402
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import (  # noqa: E402
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

MORE = """
[[ensemble.task]]
name = "careful"
description = "Check {topic} [say a draft]"
review = "required"

[[ensemble.share]]
kind = "task"
name = "careful"

[tools]
allow_private_addresses = true

[chat]
permission_mode = "auto"
"""


class Told:
    """A program that is told of tasks."""

    def __init__(self):
        told = self.messages = []
        self.came = threading.Event()
        came = self.came

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                told.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(204)
                self.end_headers()
                came.set()

            def log_message(self, format, *args):
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/told"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    async def first(self):
        assert await asyncio.to_thread(self.came.wait, 120), "nothing was told"
        return self.messages[0]


def said(text, skill=None, **more):
    message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], **more)
    if skill:
        message.metadata.update({"skillId": skill})
    return SendMessageRequest(message=message)


async def clients(served, binding, streaming):
    http = httpx.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=120)
    card = await A2ACardResolver(http, served.url).get_agent_card()
    config = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding], streaming=streaming)
    return card, ClientFactory(config).create(card)


async def events(client, request):
    return [event async for event in client.send_message(request)]


def result(task):
    return "".join(part.text for artifact in task.artifacts for part in artifact.parts)


async def failing(error, call):
    try:
        await call
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


async def a_conversation(served, _model, binding):
    card, client = await clients(served, binding, streaming=False)
    assert {skill.id for skill in card.skills} == {"careful", "run_ensemble", "chat"}, card
    [first] = await events(client, said("[say hello there]"))
    assert first.task.status.state == TaskState.TASK_STATE_COMPLETED and result(first.task) == "hello there", first
    [second] = await events(client, said("[words 3]", context_id=first.task.context_id))
    assert second.task.context_id == first.task.context_id and second.task.id != first.task.id
    got = await client.get_task(GetTaskRequest(id=second.task.id))
    assert got == second.task, got
    listed = await client.list_tasks(ListTasksRequest(context_id=first.task.context_id, page_size=1))
    assert [task.id for task in listed.tasks] == [second.task.id] and listed.total_size == 2, listed
    rest = await client.list_tasks(
        ListTasksRequest(context_id=first.task.context_id, page_token=listed.next_page_token, include_artifacts=True)
    )
    assert [task.id for task in rest.tasks] == [first.task.id] and rest.tasks[0].artifacts, rest
    await failing(TaskNotFoundError, client.get_task(GetTaskRequest(id="run-0")))
    await failing(TaskNotCancelableError, client.cancel_task(CancelTaskRequest(id=got.id)))
    own = await client.get_extended_agent_card(GetExtendedAgentCardRequest())
    assert own.skills == card.skills
    await client.close()


async def a_stream(served, model, binding):
    _, client = await clients(served, binding, streaming=True)
    told = []
    async for event in client.send_message(said(f"[words 8] [hold {binding}]")):
        told.append(event)
        if event.HasField("artifact_update"):
            # The first word came while the model still had the others.
            model.go_on(binding)
    assert told[0].HasField("task"), told[0]
    assert told[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED, told[-1]
    words = ""
    for event in told:
        if event.HasField("artifact_update"):
            words = words * event.artifact_update.append + event.artifact_update.artifact.parts[0].text
    assert words.split() == [f"wörd{number}" for number in range(1, 9)], words
    await client.close()


async def an_answer(served, _model, binding):
    _, client = await clients(served, binding, streaming=False)
    [asked] = await events(client, said("bees", skill="careful"))
    assert asked.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED, asked
    assert "a draft" in asked.task.status.message.parts[0].text
    _, follower = await clients(served, binding, streaming=True)
    follows = follower.subscribe(SubscribeToTaskRequest(id=asked.task.id))
    first = await anext(follows)
    assert first.task.id == asked.task.id, first
    [done] = await events(client, said("approve", task_id=asked.task.id))
    assert done.task.status.state == TaskState.TASK_STATE_COMPLETED and result(done.task) == "a draft", done
    last = [event async for event in follows][-1]
    assert last.status_update.status.state == TaskState.TASK_STATE_COMPLETED, last

    async def more():
        return await events(client, said("more", task_id=asked.task.id))

    await failing(UnsupportedOperationError, more())
    await follower.close()
    await client.close()


async def a_push(served, _model, binding):
    _, client = await clients(served, binding, streaming=False)
    told = Told()
    [asked] = await events(client, said("bees", skill="careful"))
    config = TaskPushNotificationConfig(task_id=asked.task.id, id="p", url=told.url, token="t")
    config.authentication.scheme, config.authentication.credentials = "Bearer", "secret"
    assert await client.create_task_push_notification_config(config) == config
    request = GetTaskPushNotificationConfigRequest(task_id=asked.task.id, id="p")
    assert await client.get_task_push_notification_config(request) == config
    listing = ListTaskPushNotificationConfigsRequest(task_id=asked.task.id)
    assert list((await client.list_task_push_notification_configs(listing)).configs) == [config]
    await events(client, said("approve", task_id=asked.task.id))
    headers, body = await told.first()
    assert headers["authorization"] == "Bearer secret" and headers["x-a2a-notification-token"] == "t", headers
    assert body["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED", body
    removed = DeleteTaskPushNotificationConfigRequest(task_id=asked.task.id, id="p")
    await client.delete_task_push_notification_config(removed)
    assert not (await client.list_task_push_notification_configs(listing)).configs
    await client.close()


async def a_crash(served, _model, binding):
    """The task goes on after SIGKILL, and what it is asked finds it."""
    _, client = await clients(served, binding, streaming=False)
    told = Told()
    request = said("[words 30] [pace 40]", skill="run_ensemble")
    request.configuration.return_immediately = True
    request.configuration.task_push_notification_config.url = told.url
    [begun] = await events(client, request)
    served.kill()
    served.start()
    _, client = await clients(served, binding, streaming=True)
    [again, *_] = await events(client, said("approve", task_id=await waiting(client, begun.task.id)))
    assert again.task.id == begun.task.id, again
    done = await client.get_task(GetTaskRequest(id=begun.task.id))
    assert done.status.state == TaskState.TASK_STATE_COMPLETED, done
    await told.first()
    states = [body["statusUpdate"]["status"]["state"] for _, body in told.messages]
    assert states[0] == "TASK_STATE_INPUT_REQUIRED", states
    # The same message once more begins nothing.
    [same, *_] = await events(client, request)
    assert same.task.id == begun.task.id, same
    await client.close()


async def waiting(client, task):
    """Waits until a task needs an answer."""
    async for event in client.subscribe(SubscribeToTaskRequest(id=task)):
        state = event.task.status.state if event.HasField("task") else event.status_update.status.state
        if state == TaskState.TASK_STATE_INPUT_REQUIRED:
            return task
    raise AssertionError("it never asked")


async def a_cancel(served, _model, binding):
    _, client = await clients(served, binding, streaming=False)
    request = said(f"[words 2] [hold cancel of {binding}]")
    request.configuration.return_immediately = True
    [begun] = await events(client, request)
    cancelled = await client.cancel_task(CancelTaskRequest(id=begun.task.id))
    assert cancelled.status.state == TaskState.TASK_STATE_CANCELED, cancelled
    await client.close()


async def told(http, url, is_there):
    """Waits for an answer that is as it should be."""
    async with asyncio.timeout(120):
        while not is_there(answer := (await http.get(url)).json()):
            await asyncio.sleep(0.02)
    return answer


async def killed_while_it_is_asked(served, http, agent, request):
    """`consort` is killed while the agent works: it does not ask again, and the run says that the outcome is unknown."""
    agent.executor.waits.clear()
    run = (await http.post("/api/runs", json=request)).json()["runId"]
    assert await asyncio.to_thread(agent.executor.waits.wait, 120), "the agent was not asked"
    asked = agent.executor.asked
    served.kill()
    served.start()
    await told(http, f"/api/runs/{run}", lambda detail: detail["status"] == "COMPLETED")
    events = (await http.get(f"/api/runs/{run}/events")).text
    assert "outcome unknown" in events and agent.executor.asked == asked, (agent.executor.asked, events)


async def an_agent(model, binding, streaming):
    """`consort` asks the agent: by hand, in a run, and in one that is cancelled."""
    agent = Agent(binding, streaming)
    served = Served(with_fake_model(model, f'\n[network.a2a.helper]\nurl = "{agent.url}"\n'))
    http = httpx.AsyncClient(base_url=served.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=120)
    try:
        known = await told(http, "/api/network", lambda network: network["peers"][0]["connected"])
        assert known["peers"][0]["sharedCapabilities"][0]["name"] == "shout", known
        shouted = (await http.post("/api/tools/helper.shout/invoke", json={"input": "hello"})).json()
        assert shouted["output"] == "HELLO!", shouted

        def task(words):
            described = f'[call helper.shout {{"input": "{words}"}}] [say done]'
            return {"tasks": [{"name": "ask", "description": described, "tools": ["network:#loud"]}]}

        run = (await http.post("/api/runs", json=task("in a run"), headers={"Prefer": "wait=120"})).json()
        assert run["status"] == "COMPLETED", run
        events = (await http.get(f"/api/runs/{run['runId']}/events")).text
        assert "IN A RUN!" in events, events
        run = (await http.post("/api/runs", json=task("wait"))).json()["runId"]
        assert await asyncio.to_thread(agent.executor.waits.wait, 120), "the agent was not asked"
        await http.post(f"/api/runs/{run}/cancel", json={"mode": "now"})
        await told(http, f"/api/runs/{run}", lambda detail: detail["status"] == "CANCELLED")
        assert await asyncio.to_thread(agent.executor.cancelled.wait, 120), "the agent was not told"
        await killed_while_it_is_asked(served, http, agent, task("wait"))
    finally:
        await http.aclose()
        served.close()
        agent.close()


async def main():
    model = FakeModel()
    served = Served(with_fake_model(model, MORE))
    try:
        for binding in ("JSONRPC", "HTTP+JSON"):
            for judged in (a_conversation, a_stream, an_answer, a_push, a_cancel, a_crash):
                await judged(served, model, binding)
                print(f"a2a {binding}: {judged.__name__.replace('_', ' ')}")
        for binding, streaming in (("JSONRPC", True), ("HTTP+JSON", True), ("JSONRPC", False)):
            await an_agent(model, binding, streaming)
            print(f"a2a {binding}: an agent that is asked" + (", streamed" if streaming else ", looked at"))
    finally:
        served.close()
        model.close()


asyncio.run(main())
