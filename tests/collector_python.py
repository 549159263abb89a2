"""Sends the spans of a run to Phoenix, and asks it what it has understood. `scripts/collector` installs it."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients/python/tests"))
from harness import Served  # noqa: E402

PATIENCE = 120
CONFIGURATION = """
[models.demo]
provider = "demo"
model = "demo"
[ensemble]
name = "sums"
[[ensemble.task]]
name = "sum"
description = "What is 17 * 23?"
tools = ["calculator"]
[telemetry]
otlp_endpoint = "{collector}"
"""
WANTED = "{ projects { edges { node { tokenCountTotal spans(first: 50) { edges { node { name spanKind } } } } } } }"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def post(url, body):
    headers = {"Content-Type": "application/json", "Prefer": "wait=60"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def until(what, found):
    """The first value that is found, in time."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if value := found():
                return value
        except OSError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"{what}: not within {PATIENCE} s")


def understood(collector, tokens):
    """The kinds and names of the spans, once the whole run is there with so many tokens."""
    project = post(f"{collector}/graphql", {"query": WANTED})["data"]["projects"]["edges"][0]["node"]
    spans = sorted((span["node"]["spanKind"], span["node"]["name"]) for span in project["spans"]["edges"])
    is_whole = any(name.startswith("invoke_workflow") for _, name in spans)
    return is_whole and project["tokenCountTotal"] == tokens and spans


def collect(collector):
    served = Served(CONFIGURATION.format(collector=collector))
    try:
        run = post(f"{served.url}/api/runs", {})
        assert run["status"] == "COMPLETED", run
        tokens = run["metrics"]["totalTokens"]
        spans = until(f"the run and its {tokens} tokens are there", lambda: understood(collector, tokens))
    finally:
        served.close()
    assert {"agent", "llm", "tool"} <= {kind for kind, _ in spans}, spans
    print(f"Phoenix has understood {len(spans)} spans and {tokens} tokens")


def main():
    with tempfile.TemporaryDirectory(prefix="consort-collector-") as folder, open(Path(folder, "log"), "wb") as log:
        ports = {"PHOENIX_PORT": str(free_port()), "PHOENIX_GRPC_PORT": str(free_port())}
        environment = {**os.environ, **ports, "PHOENIX_HOST": "127.0.0.1", "PHOENIX_WORKING_DIR": folder}
        collector = f"http://127.0.0.1:{ports['PHOENIX_PORT']}"
        words = [str(Path(sys.executable).with_name("phoenix")), "serve"]
        phoenix = subprocess.Popen(words, env=environment, stdout=log, stderr=log)
        try:
            until("the collector listens", lambda: urllib.request.urlopen(f"{collector}/healthz").status == 200)
            collect(collector)
        finally:
            phoenix.terminate()
            phoenix.wait()


if __name__ == "__main__":
    main()
