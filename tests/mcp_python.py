"""A server made with the Python library of the protocol: `stdio`, or `http PORT`, which prints its port when it listens
and wants a key."""

import os
import socket
import sys

import uvicorn
from mcp.server import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("python")


def note(line):
    with open("lines", "a", encoding="utf-8") as lines:
        lines.write(line + "\n")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(left: int, right: int) -> int:
    """Adds two numbers"""
    return left + right


@server.tool()
def append_line(line: str) -> str:
    note(line)
    return "appended"


@server.tool()
def refuses() -> str:
    raise ValueError("out of salt")


@server.tool()
def dies() -> str:
    note("dies")
    os._exit(1)


def locked(app):
    """The same application for those who have the key."""

    async def guard(scope, receive, send):
        if scope["type"] == "http" and dict(scope["headers"]).get(b"authorization") != b"Bearer key":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body"})
        else:
            await app(scope, receive, send)

    return guard


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    listener = socket.create_server(("127.0.0.1", int(sys.argv[2])))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(locked(server.streamable_http_app()), log_level="error")
    uvicorn.Server(config).run(sockets=[listener])
