"""A model that speaks the OpenAI protocol, and a tool at `/tool`, for the tests of the clients. It follows the marks in
the last thing it was asked, so that a test decides how a conversation goes:

[words N] answers with N words, [pace MS] pauses between them, [hold NAME] stops after the first word until
`POST /go-on/NAME`, [call TOOL {…}] asks for a tool first, [say TEXT] says that, [look] says which files it was shown. As
a program it prints its address and serves until its input ends."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


HELD_SECONDS = 60
"""The time for which an answer is held: a test that forgot it fails and does not hang."""


class FakeModel:
    """The model on a port of its own."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def go_on(self, name: str) -> None:
        """Lets the answers that are held by this name go on."""
        held[name].set()

    def close(self) -> None:
        """Stops it."""
        self._server.shutdown()
        self._server.server_close()


held: defaultdict[str, threading.Event] = defaultdict(threading.Event)
"""The conditions that answers wait for, by name."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    def do_POST(self) -> None:
        """Answers as the model or as the tool."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
        if self.path == "/tool":
            self._reply("application/json", [json.dumps({"output": "the bell rang"}).encode()])
        elif self.path.startswith("/go-on/"):
            held[self.path.removeprefix("/go-on/")].set()
            self._reply("application/json", [b"{}"])
        else:
            self._reply("text/event-stream", events(body["messages"]))

    def _reply(self, media: str, parts: Any) -> None:
        self.send_response(200)
        self.send_header("content-type", media)
        self.send_header("connection", "close")
        self.end_headers()
        try:
            for part in parts:
                self.wfile.write(part)
                self.wfile.flush()
        except OSError:
            # The server was killed, or the call was stopped.
            pass

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


def events(messages: list[dict[str, Any]]) -> Any:
    """The answer, piece by piece."""
    last = max(at for at, message in enumerate(messages) if message["role"] == "user")
    asked = str(messages[last]["content"])
    has_results = any(message["role"] == "tool" for message in messages[last:])
    call = re.search(r"\[call (\S+) (\{.*?\})\]", asked)
    if call and not has_results:
        function = {"name": call[1], "arguments": call[2]}
        asking = {"index": 0, "id": "call_0", "type": "function", "function": function}
        yield chunk({"delta": {"role": "assistant", "content": None, "tool_calls": [asking]}})
        yield chunk({"delta": {}, "finish_reason": "tool_calls"})
    else:
        pace = re.search(r"\[pace (\d+)\]", asked)
        hold = re.search(r"\[hold ([^\]]+)\]", asked)
        for at, word in enumerate(seen(messages) if "[look]" in asked else words(asked)):
            if pace:
                time.sleep(int(pace[1]) / 1000)
            if hold and at == 1 and not held[hold[1]].wait(HELD_SECONDS):
                raise TimeoutError(f"nobody let {hold[1]} go on")
            yield chunk({"delta": {"content": word}})
        yield chunk({"delta": {}, "finish_reason": "stop"})
    yield chunk(None, {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20})
    yield b"data: [DONE]\n\n"


def seen(messages: list[dict[str, Any]]) -> list[str]:
    """The addresses of the pictures in a conversation."""
    contents = [message["content"] for message in messages if isinstance(message["content"], list)]
    parts = [part for content in contents for part in content if part["type"] == "image_url"]
    return [part["image_url"]["url"] + " " for part in parts] or ["nothing"]


def words(asked: str) -> list[str]:
    said = re.search(r"\[say ([^\]]+)\]", asked)
    if said:
        return re.findall(r"\S+\s*", said[1])
    count = re.search(r"\[words (\d+)\]", asked)
    # With letters of several bytes, because positions are counted in bytes.
    return [f"wörd{number} " for number in range(1, int(count[1] if count else 6) + 1)]


def chunk(choice: dict[str, Any] | None, usage: dict[str, int] | None = None) -> bytes:
    body = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "fake"}
    data = body | {"choices": [{"index": 0} | choice] if choice else []} | ({"usage": usage} if usage else {})
    return b"data: " + json.dumps(data).encode() + b"\n\n"


if __name__ == "__main__":
    print(FakeModel().url, flush=True)
    sys.stdin.read()
