"""An agent of the A2A protocol, made with its own Python package, for `consort` to ask: it shouts, or waits until it is
cancelled."""

import asyncio
import socket
import threading

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Part,
    Task,
    TaskState,
    TaskStatus,
)
from starlette.applications import Starlette


class Shouting(AgentExecutor):
    """The agent."""

    def __init__(self):
        self.waits = threading.Event()
        self.cancelled = threading.Event()
        self.asked = 0

    async def execute(self, context, event_queue):
        self.asked += 1
        started = Task(id=context.task_id, context_id=context.context_id)
        started.status.CopyFrom(TaskStatus(state=TaskState.TASK_STATE_SUBMITTED))
        started.history.append(context.message)
        await event_queue.enqueue_event(started)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work(message=updater.new_agent_message(parts=[Part(text="listening")]))
        said = context.get_user_input()
        if said == "wait":
            self.waits.set()
            await asyncio.sleep(3600)
        await updater.add_artifact(parts=[Part(text=said.upper() + "!")], name="shout", last_chunk=True)
        await updater.complete()

    async def cancel(self, context, event_queue):
        self.cancelled.set()
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


class Agent:
    """The agent on a port of its own."""

    def __init__(self, binding, streaming):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        skill = AgentSkill(id="shout", name="Shout", description="Shouts what it is told", tags=["loud"])
        interface = AgentInterface(url=f"{self.url}/agent", protocol_binding=binding, protocol_version="1.0")
        card = AgentCard(
            name="Shouter",
            description="Shouts",
            version="1",
            capabilities=AgentCapabilities(streaming=streaming),
            default_input_modes=["text/plain"],
            default_output_modes=["text/plain"],
            skills=[skill],
            supported_interfaces=[interface],
        )
        self.executor = Shouting()
        handler = DefaultRequestHandler(
            agent_executor=self.executor, task_store=InMemoryTaskStore(), agent_card=card
        )
        rpc = create_jsonrpc_routes(request_handler=handler, rpc_url="/agent")
        rest = create_rest_routes(request_handler=handler, path_prefix="/agent")
        routes = create_agent_card_routes(agent_card=card) + (rpc if binding == "JSONRPC" else rest)
        config = uvicorn.Config(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="error")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()

    def close(self):
        """Stops it."""
        self._server.should_exit = True
        self._thread.join(10)
