"""An MCP server of one era of the protocol: `new` speaks 2026-07-28 and nothing else, `old` 2025-11-25 and nothing
else; `strict` and `silent` are old ones that end, or say nothing, when the first message is no handshake. It listens
on its standard input or, as `http`, on a port it prints. Every request it gets is a line of a ledger."""

import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ERA, TRANSPORT, LEDGER = sys.argv[1:4]
OLD, NEW = "2025-11-25", "2026-07-28"
META = "io.modelcontextprotocol/"
TOOLS = ["say", "grow"]
FRESH = {"ttlMs": 0, "cacheScope": "private"}
LISTENERS = {}  # queues of those who want to know what changes, by the id of their request


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.error = {"code": code, "message": message}


def note(line):
    with open(LEDGER, "a", encoding="utf-8") as ledger:
        ledger.write(line + "\n")


def listed():
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"tools": [{"name": name, "inputSchema": schema} for name in TOOLS]}


def called(params):
    meta = params.get("_meta", {})
    if params["name"] == "grow":
        TOOLS.append("grown")
        for listener in LISTENERS.values():
            listener.put("notifications/tools/list_changed")
    words = f"{params['name']} {params['arguments'].get('text')} {meta.get('idempotencyKey')}"
    return {"content": [{"type": "text", "text": words}]}


def new(method, params):
    if params.get("_meta", {}).get(META + "protocolVersion") != NEW:
        raise Refused(-32602, "every request says its version")
    if META + "clientCapabilities" not in params["_meta"]:
        raise Refused(-32602, "every request says what the client can do")
    complete = {"resultType": "complete"}
    match method:
        case "server/discover":
            return complete | FRESH | {"supportedVersions": [NEW], "capabilities": {"tools": {"listChanged": True}}}
        case "tools/list":
            return complete | FRESH | listed()
        case "tools/call":
            return complete | called(params)
    raise Refused(-32601, f"{method} is not known here")


def old(method, params):
    match method:
        case "initialize":
            server = {"name": "old", "version": "1"}
            return {"protocolVersion": OLD, "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return listed()
        case "tools/call":
            return called(params)
    raise Refused(-32601, f"{method} is not known here")


def answered(message):
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        handle = new if ERA == "new" else old
        return answer | {"result": handle(message["method"], message.get("params", {}))}
    except Refused as refused:
        return answer | {"error": refused.error}


def news(request_id):
    """The messages to a listener: first that it is heard, then each change."""
    LISTENERS[request_id] = queue.Queue()
    about = {"_meta": {META + "subscriptionId": request_id}}
    accepted = about | {"notifications": {"toolsListChanged": True}}
    yield {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": accepted}
    while True:
        yield {"jsonrpc": "2.0", "method": LISTENERS[request_id].get(), "params": about}


def stdio():
    lock = threading.Lock()

    def send(message):
        with lock:
            print(json.dumps(message), flush=True)

    greeted = False
    for line in sys.stdin:
        message = json.loads(line)
        note(message.get("method", "answer"))
        if ERA in ("strict", "silent") and not greeted and message.get("method") != "initialize":
            if ERA == "strict":
                sys.exit("a handshake comes first")
            continue
        greeted = True
        if message.get("method") == "subscriptions/listen" and ERA == "new":
            told = news(message["id"])
            threading.Thread(target=lambda told=told: [send(each) for each in told], daemon=True).start()
        elif "id" in message:
            send(answered(message))


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(405, {})

    do_DELETE = do_GET

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        note(message.get("method", "answer"))
        wrong = self.wrong(message)
        if wrong:
            self.reply(400, {"jsonrpc": "2.0", "id": message.get("id"), "error": wrong})
        elif "id" not in message:
            self.reply(202, None)
        elif message["method"] == "subscriptions/listen" and ERA == "new":
            self.stream(news(message["id"]))
        else:
            self.reply(200, answered(message))

    def wrong(self, message):
        """The refusals of a server of this era, before it looks at the request."""
        if ERA == "new":
            if self.headers["MCP-Protocol-Version"] != NEW:
                return {"code": -32020, "message": "Missing MCP-Protocol-Version header"}
            named = message["method"] != "tools/call" or self.headers["Mcp-Name"] == message["params"]["name"]
            if self.headers["Mcp-Method"] != message["method"] or not named:
                return {"code": -32020, "message": "the headers say something else"}
        elif message["method"] != "initialize" and self.headers["Mcp-Session-Id"] != "session":
            return {"code": -32000, "message": "Bad Request: No valid session ID provided"}
        return None

    def reply(self, status, body):
        written = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        if ERA == "old":
            self.send_header("Mcp-Session-Id", "session")
        self.end_headers()
        self.wfile.write(written)

    def stream(self, messages):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for message in messages:
            self.wfile.write(f"data: {json.dumps(message)}\n\n".encode())
            self.wfile.flush()


def http():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()


http() if TRANSPORT == "http" else stdio()
