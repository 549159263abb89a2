"""An MCP server over standard input and output that misbehaves on request. Its first argument is a file to which it
adds a line for each start and each call, so that tests see what really happened; the second may be a way to fail."""

import json
import os
import subprocess
import sys
import time

LEDGER, MODE = sys.argv[1], (sys.argv + ["well"])[2]
READ = {"readOnlyHint": True}
META = {}  # of the call under way


class Unknown(Exception):
    """A method that this server does not have."""


def note(line):
    with open(LEDGER, "a", encoding="utf-8") as ledger:
        ledger.write(line + "\n")


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
    sys.stdout.flush()


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def echo(args):
    return text(args["text"])


def append_line(args):
    return text(f"appended {args['line']}, key {META.get('idempotencyKey')}")


def die(_):
    os._exit(1)


def hang(_):
    return None


def stuck(_):
    time.sleep(3600)


def garbage(_):
    print("this is not JSON\n{\"half\": ", flush=True)
    send({"id": 999_999, "result": {}})
    send({"method": "notifications/no_such_thing"})
    return text("through the noise")


def huge(args):
    return text("x" * int(args["bytes"]))


def grow(_):
    TOOLS["grown"] = (lambda _: text("I am new"), {"annotations": READ})
    del TOOLS["shrinks"]
    send({"method": "notifications/tools/list_changed"})
    return text("grown")


def trace(_):
    return text(str(META.get("traceparent")))


def environment(_):
    return text(json.dumps(dict(os.environ) | {"cwd": os.getcwd()}))


def helper(_):
    return text(str(subprocess.Popen(["sleep", "600"]).pid))


def parts(_):
    resource = {"uri": "file:///note", "text": "in a note"}
    return {
        "content": [
            {"type": "text", "text": "first"},
            {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
            {"type": "resource", "resource": resource},
            {"type": "resource_link", "name": "more", "uri": "file:///more"},
        ],
        "structuredContent": {"count": 4},
    }


def only_data(_):
    return {"content": [], "structuredContent": {"left": 3}}


def fails(_):
    return text("out of salt") | {"isError": True}


ONE = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
LINE = {"type": "object", "properties": {"line": {"type": "string"}}, "required": ["line"]}
TOOLS = {
    "echo": (echo, {"description": "Says it again", "inputSchema": ONE, "annotations": READ}),
    "append_line": (append_line, {"inputSchema": LINE}),
    "die": (die, {}),
    "die_reading": (die, {"annotations": READ}),
    "hang": (hang, {"annotations": READ}),
    "stuck": (stuck, {"annotations": READ}),
    "garbage": (garbage, {"annotations": READ}),
    "huge": (huge, {"annotations": READ}),
    "grow": (grow, {}),
    "shrinks": (hang, {}),
    "environment": (environment, {"annotations": READ}),
    "trace": (trace, {"annotations": READ}),
    "helper": (helper, {}),
    "parts": (parts, {"annotations": READ}),
    "only_data": (only_data, {"annotations": READ}),
    "fails": (fails, {}),
    "json": (echo, {"annotations": READ}),
    "far": (echo, {"inputSchema": {"$ref": "https://example.org/schema.json"}}),
    "odd": (echo, {"inputSchema": {"type": "no such type"}}),
    "bomb": (echo, {"inputSchema": {"properties": {"text": {"pattern": "(\\w{200}){200}"}}}}),
}


def listed(cursor):
    """A page of the tools: three of them, and where the next page begins."""
    names, begin = list(TOOLS), int(cursor or 0)
    page = [{"name": name, "inputSchema": {"type": "object"}} | TOOLS[name][1] for name in names[begin : begin + 3]]
    return {"tools": page} | ({"nextCursor": str(begin + 3)} if begin + 3 < len(names) else {})


def answer(message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": "s", "version": "1"}}
    if method == "tools/list":
        return listed(params.get("cursor"))
    if method != "tools/call":
        raise Unknown(method)
    args = params.get("arguments", {})
    META.clear()
    META.update(params.get("_meta", {}))
    note("call " + params["name"] + "".join(" " + str(value) for value in args.values() if len(str(value)) < 50))
    return TOOLS[params["name"]][0](args)


def main():
    note("start")
    if MODE == "ends":
        sys.exit("no licence for this machine")
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "notifications/cancelled":
            note("cancelled")
        if "id" in message and MODE != "silent":
            try:
                result = answer(message)
            except Unknown as unknown:
                send({"id": message["id"], "error": {"code": -32601, "message": f"no method {unknown}"}})
                continue
            if result is not None:
                send({"id": message["id"], "result": result})
    note("end")


main()
