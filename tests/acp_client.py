"""Drives the built `consort acp` as an editor does, with the protocol's own Python package; then once more with `acpx`,
a client from npm, when that is installed. `scripts/acp` installs both."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients/python/tests"))
from harness import BINARY, KEY, QUIET, FakeModel, Served, with_fake_model  # noqa: E402

import acp  # noqa: E402
from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse  # noqa: E402

ASKING = '\n[chat]\npermission_mode = "default"\n'


class Editor(acp.Client):
    """The editor, which the agent tells or asks something."""

    def __init__(self, choice="allow"):
        self.choice, self.updates, self.asked = choice, [], []
        self.waits, self.speaks = asyncio.Event(), asyncio.Event()

    async def session_update(self, session_id, update, **more):
        self.updates.append(update)
        if update.session_update == "agent_message_chunk":
            self.speaks.set()

    async def request_permission(self, options, session_id, tool_call, **more):
        self.asked.append((options, tool_call))
        if self.choice is None:
            self.waits.set()
            await asyncio.sleep(3600)
        if self.choice == "cancelled":
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=self.choice))

    def said(self):
        return "".join(update.content.text for update in self.updates if update.session_update == "agent_message_chunk")

    def kinds(self):
        return [update.session_update for update in self.updates]


@asynccontextmanager
async def editing(served, editor):
    """An editor with the agent that it has started."""
    words = ["acp", "--url", served.url, "--key", KEY]
    async with acp.spawn_agent_process(editor, BINARY, *words, env=QUIET) as (agent, process):
        told = await agent.initialize(protocol_version=1)
        assert told.protocol_version == 1 and told.agent_capabilities.load_session, told
        yield agent


def text(words):
    return [acp.text_block(words)]


async def a_turn(served, model):
    editor = Editor()
    async with editing(served, editor) as agent:
        session = await agent.new_session(cwd=str(ROOT), mcp_servers=[])
        assert {mode.id for mode in session.modes.available_modes} == {"plan", "default", "auto"}, session
        prompt = asyncio.create_task(agent.prompt(session_id=session.session_id, prompt=text("[words 5] [hold turn]")))
        # The first word comes while the model still has the others.
        await asyncio.wait_for(editor.speaks.wait(), 120)
        model.go_on("turn")
        done = await prompt
        assert done.stop_reason == "end_turn", done
        assert editor.said().split() == [f"wörd{number}" for number in range(1, 6)], editor.said()
    return session.session_id


async def a_permission(served, choice, expected):
    editor = Editor(choice)
    async with editing(served, editor) as agent:
        session = await agent.new_session(cwd=str(ROOT), mcp_servers=[])
        done = await agent.prompt(
            session_id=session.session_id, prompt=text('[call ring_bell {"input": "x"}] [say over]')
        )
        assert done.stop_reason == "end_turn" and editor.said() == "over", (done, editor.updates)
        options, call = editor.asked[0]
        assert [option.kind for option in options] == ["allow_once", "allow_always", "reject_once"], options
        assert call.raw_input == {"input": "x"}, call
        ended = [update.status for update in editor.updates if update.session_update == "tool_call_update"]
        assert ended == [expected], editor.updates


async def loaded(served, session):
    editor = Editor()
    async with editing(served, editor) as agent:
        listed = (await agent.list_sessions()).sessions
        assert session in [one.session_id for one in listed], listed
        await agent.load_session(cwd=str(ROOT), session_id=session, mcp_servers=[])
        assert editor.kinds() == ["user_message_chunk", "agent_message_chunk"], editor.updates
        done = await agent.prompt(session_id=session, prompt=text("[say again]"))
        assert done.stop_reason == "end_turn" and editor.said().endswith("again"), editor.updates


async def cancelled(served):
    for words, choice in (("[words 2] [hold for ever]", "allow"), ('[call ring_bell {"input": "x"}]', None)):
        editor = Editor(choice)
        async with editing(served, editor) as agent:
            session = (await agent.new_session(cwd=str(ROOT), mcp_servers=[])).session_id
            prompt = asyncio.create_task(agent.prompt(session_id=session, prompt=text(words)))
            while not (editor.said() or editor.waits.is_set()):
                await asyncio.sleep(0.02)
            await agent.cancel(session_id=session)
            assert (await asyncio.wait_for(prompt, 120)).stop_reason == "cancelled"


async def wrong(served):
    editor = Editor()
    async with editing(served, editor) as agent:
        for call in (
            agent.new_session(cwd="here", mcp_servers=[]),
            agent.load_session(cwd=str(ROOT), session_id="thread-none", mcp_servers=[]),
            agent.prompt(session_id="thread-none", prompt=text("hi")),
            agent.prompt(session_id="thread-none", prompt=[]),
        ):
            try:
                await call
            except acp.RequestError:
                continue
            raise AssertionError("it was taken")


async def killed_in_the_middle(served, model):
    """The server is killed and started again: the editor is told the rest, and the prompt is answered."""
    editor = Editor()
    async with editing(served, editor) as agent:
        session = (await agent.new_session(cwd=str(ROOT), mcp_servers=[])).session_id
        prompt = asyncio.create_task(agent.prompt(session_id=session, prompt=text("[words 40] [hold kill]")))
        await asyncio.wait_for(editor.speaks.wait(), 120)
        served.kill()
        served.start()
        model.go_on("kill")
        assert (await asyncio.wait_for(prompt, 120)).stop_reason == "end_turn"
        assert "wörd40" in editor.said(), editor.said()


async def everything(served, model):
    session = await a_turn(served, model)
    await loaded(served, session)
    await a_permission(served, "allow", "completed")
    await a_permission(served, "deny", "failed")
    await a_permission(served, "cancelled", "failed")
    await cancelled(served)
    await wrong(served)
    await killed_in_the_middle(served, model)
    print("the protocol's own Python package: as it should be")


def acpx(served):
    """One turn by a client that others wrote for other agents."""
    programs = ROOT / "target/acp/node/node_modules/.bin"
    if not (programs / "acpx").exists():
        print("skipped: acpx is not installed")
        return
    environment = QUIET | {"PATH": f"{programs}:{os.environ['PATH']}", "CONSORT_URL": served.url, "CONSORT_API_KEY": KEY}
    with tempfile.TemporaryDirectory() as home:
        environment["HOME"] = home
        words = [programs / "acpx", "--agent", f"{BINARY} acp", "--format", "json", "--approve-all", "exec", "[say forty two]"]
        done = subprocess.run(words, env=environment, cwd=home, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    chunks = [one["params"]["update"] for one in said if one.get("method") == "session/update"]
    words = "".join(one["content"]["text"] for one in chunks if one["sessionUpdate"] == "agent_message_chunk")
    assert words == "forty two", done.stdout
    print("acpx: as it should be")


def main():
    model = FakeModel()
    served = Served(with_fake_model(model, ASKING))
    try:
        asyncio.run(asyncio.wait_for(everything(served, model), 900))
        acpx(served)
    finally:
        served.close()
        model.close()


main()
