"""Talks to the built server with the protocol's own Python package, in both versions, over HTTP and over `consort mcp`;
then runs the official conformance suite, when that is installed. `scripts/mcp` installs both."""

import asyncio
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients/python/tests"))
from harness import BINARY, KEY, QUIET, READER, FakeModel, Served, with_fake_model  # noqa: E402

import httpx2  # noqa: E402
from mcp import Client, MCPError, StdioServerParameters  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from mcp.types import ElicitResult  # noqa: E402

SHARED = """
[[ensemble.share]]
kind = "tool"
name = "ring_bell"
[[ensemble.share]]
kind = "task"
name = "careful"
[[ensemble.share]]
kind = "task"
name = "slow"
[[ensemble.share]]
kind = "task"
name = "write"

[[ensemble.task]]
name = "careful"
description = "Draft {topic} [say a draft]"
review = "required"
[[ensemble.task]]
name = "slow"
description = "Think about {topic} [words 60] [pace 50]"
"""
# Fixtures of the conformance suite, as far as shared tools and tasks can be them.
FIXTURES = """
[[ensemble.share]]
kind = "tool"
name = "greet"
target = "ring_bell"
[[ensemble.share]]
kind = "tool"
name = "test_simple_text"
target = "ring_bell"
[[ensemble.share]]
kind = "task"
name = "slow_compute"
[[ensemble.share]]
kind = "task"
name = "failing_job"
[[ensemble.share]]
kind = "task"
name = "confirm_delete"
[[ensemble.share]]
kind = "task"
name = "test_error_handling"
target = "failing_job"
[[ensemble.share]]
kind = "task"
name = "test_tool_with_progress"

[[ensemble.task]]
name = "slow_compute"
description = "Compute [words {seconds}1] [pace 100]"
[[ensemble.task]]
name = "failing_job"
description = "Fail [say no]"
output_schema = { type = "object", required = ["answer"] }
[[ensemble.task]]
name = "confirm_delete"
description = "Delete {filename} [say deleted]"
review = "required"
[[ensemble.task]]
name = "test_tool_with_progress"
description = "Ring [call ring_bell {}] [say rung]"
tools = ["ring_bell"]
"""


@asynccontextmanager
async def connected(served, mode="auto", key=KEY, **options):
    """A client over HTTP."""
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=120) as http:
        async with Client(streamable_http_client(f"{served.url}/mcp", http_client=http), mode=mode, **options) as client:
            yield client


@asynccontextmanager
async def beside(served, mode="auto", **options):
    """A client of `consort mcp`."""
    words = ["mcp", "--url", served.url, "--key", KEY]
    async with Client(StdioServerParameters(command=BINARY, args=words, env=QUIET), mode=mode, **options) as client:
        yield client


def said(result):
    return result.content[0].text


async def lists_and_calls(client, version):
    assert client.protocol_version == version, client.protocol_version
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"ring_bell", "careful", "slow", "write", "run_ensemble", "chat"}, set(tools)
    assert tools["slow"].input_schema["properties"] == {"topic": {"type": "string"}}, tools["slow"]
    rung = await client.call_tool("ring_bell", {"input": "x"})
    assert not rung.is_error and said(rung) == "the bell rang", rung
    progress = []

    async def told(count, total, message):
        progress.append((count, message))

    wrote = await client.call_tool("write", {"topic": "bees"}, progress_callback=told)
    assert not wrote.is_error and "wörd40" in said(wrote), wrote
    assert [count for count, _ in progress] == sorted(count for count, _ in progress), progress
    assert ("write: done") in [message for _, message in progress], progress
    first = await client.call_tool("chat", {"message": "[say hello]"})
    assert said(first) == "hello", first
    more = {"message": "[say again]", "conversation": first.structured_content["conversation"]}
    assert said(await client.call_tool("chat", more)) == "again"
    wrong = await client.call_tool("ring_bell", {})
    assert wrong.is_error and "input" in said(wrong), wrong
    try:
        await client.call_tool("nothing", {})
    except MCPError as error:
        assert "there is no tool 'nothing'" in str(error), error
    else:
        raise AssertionError("an unknown tool was called")


async def a_review(connect):
    asked = []

    async def decides(context, params):
        asked.append(params)
        return ElicitResult(action="accept", content={"decision": "EDIT", "revisedOutput": "better"})

    async with connect(elicitation_callback=decides) as client:
        result = await client.call_tool("careful", {"topic": "bees"})
    assert said(result) == "better", result
    assert len(asked) == 1 and "a draft" in asked[0].message, asked
    assert set(asked[0].requested_schema["properties"]) == {"decision", "revisedOutput", "feedback"}, asked


async def a_client_that_cannot_ask(connect):
    async with connect() as client:
        result = await client.call_tool("careful", {"topic": "bees"})
    assert "It waits for a person" in said(result) and "/reviews/run-" in said(result), result


async def until(served, run, status):
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {KEY}"}, timeout=120) as http:
        while (row := (await http.get(f"{served.url}/api/runs/{run}")).json())["status"] != status:
            assert row["status"] in ("ACCEPTED", "RUNNING"), row
            await asyncio.sleep(0.05)


async def thinking(served):
    """The run of the slow task."""
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {KEY}"}, timeout=120) as http:
        while True:
            runs = (await http.get(f"{served.url}/api/runs?status=RUNNING")).json()["runs"]
            for run in runs:
                if (run.get("currentTask") or {}).get("name") == "slow":
                    return run["runId"]
            await asyncio.sleep(0.05)


async def cancelled(served, connect):
    """The client stops waiting, and so does the run."""
    async with connect() as client:
        call = asyncio.create_task(client.call_tool("slow", {"topic": "bees"}))
        run = await thinking(served)
        call.cancel()
        try:
            await call
        except asyncio.CancelledError:
            pass
        await until(served, run, "CANCELLED")


async def killed_in_the_middle(served):
    """The run of a call goes on, and the same key finds it."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": "slow", "arguments": {"topic": "ants"}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"authorization": f"Bearer {KEY}", "idempotency-key": "ants", "mcp-protocol-version": "2026-07-28"}
    headers |= {"mcp-method": "tools/call", "mcp-name": "slow", "accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
        call = asyncio.create_task(http.post(f"{served.url}/mcp", json=message))
        run = await thinking(served)
        served.kill()
        try:
            await call
        except httpx2.HTTPError:
            pass
        served.start()
        message["id"] = 2
        again = (await http.post(f"{served.url}/mcp", json=message)).text
        assert "wörd60" in again, again
        row = (await http.get(f"{served.url}/api/runs/{run}")).json()
        assert row["status"] == "COMPLETED", row
        runs = (await http.get(f"{served.url}/api/runs")).json()["runs"]
        assert len([row for row in runs if row["runId"] == run]) == 1


async def keys(served):
    async with connected(served, key=READER) as client:
        assert (await client.list_tools()).tools == []
    try:
        async with connected(served, key="another"):
            raise AssertionError("a wrong key was taken")
    except BaseException as error:  # noqa: BLE001 -- the client raises a group
        assert "AssertionError" not in repr(error), error


async def everything(served):
    for mode, version in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
        for connect in (connected, beside):
            async with connect(served, mode) as client:
                await lists_and_calls(client, version)
            await a_client_that_cannot_ask(lambda connect=connect, mode=mode, **more: connect(served, mode, **more))
            await cancelled(served, lambda connect=connect, mode=mode: connect(served, mode))
            if mode == "auto" or connect is beside:
                # Over HTTP the older version needs a session to be asked.
                await a_review(lambda connect=connect, mode=mode, **more: connect(served, mode, **more))
            print(f"{mode} over {'HTTP' if connect is connected else 'consort mcp'}: as it should be")
    await keys(served)
    await killed_in_the_middle(served)


def conformance(model):
    """The suite of the protocol itself, without the scenarios that are listed with a reason."""
    home = ROOT / "target/mcp/conformance"
    if not (home / "ready").exists():
        print("skipped: the conformance suite is not installed")
        return
    config = with_fake_model(model, FIXTURES)
    # The suite sends no key.
    config = config[: config.index("[[server.api_key]]")] + config[config.index("[models.fake]") :]
    served = Served(config)
    programs = home / "node_modules/.bin"
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}
    try:
        for version in ("2026-07-28", "2025-11-25"):
            words = [programs / "conformance", "server", "--url", f"{served.url}/mcp", "--requirements", version]
            words += ["--expected-failures", ROOT / f"tests/mcp_expected_{version}.yaml"]
            done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
            print("\n".join(done.stdout.splitlines()[-40:]))
            assert done.returncode == 0, done.stderr
    finally:
        served.close()


def main():
    model = FakeModel()
    served = Served(with_fake_model(model, SHARED))
    try:
        asyncio.run(asyncio.wait_for(everything(served), 900))
    finally:
        served.close()
    conformance(model)
    model.close()


main()
