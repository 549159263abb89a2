"""Holds what the built server sends to webhooks against the packages that receivers verify it with, and sends to its
hooks what the packages of senders sign; those for JavaScript too, when they are installed. `scripts/judge` installs
them."""

import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients/python/tests"))
from harness import KEY, FakeModel, Served, with_fake_model  # noqa: E402

from slack_sdk.signature import SignatureVerifier  # noqa: E402
from standardwebhooks.webhooks import Webhook, WebhookVerificationError  # noqa: E402

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHERS = "a secret of the sender's"
CONFIG = """
[[webhook]]
name = "ops"
url = "{url}"
secret = "{secret}"
events = ["run.completed"]
tags = {{ told = "yes" }}
retry = ["10ms", "10ms"]

[[hook]]
name = "standard"
verify = "standard"
secret = "{secret}"
inputs = {{ topic = "body.topic" }}

[[hook]]
name = "github"
verify = "github"
secret = "{others}"
inputs = {{ topic = "body.topic" }}

[[hook]]
name = "slack"
verify = "slack"
secret = "{others}"
inputs = {{ topic = "body.topic" }}
"""


# How long a message is waited for: one that never comes is a failure and no standstill.
PATIENCE_SECONDS = 300


class Receiver:
    """A program that is told of runs, and answers each message when the test says so, with the status it says."""

    def __init__(self):
        messages = self.messages = Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                answer = Queue()
                messages.put((dict(self.headers.items()), body, answer))
                status = answer.get()
                try:
                    self.send_response(status)
                    self.end_headers()
                except OSError:
                    # The server was killed meanwhile.
                    pass

            def log_message(self, format, *args):
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/told"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def next(self):
        """The headers and the body of the next message, and where its answer goes."""
        return self.messages.get(timeout=PATIENCE_SECONDS)

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def ask(url, body, headers):
    """Status and body of a request with these bytes."""
    request = urllib.request.Request(url, body.encode(), {"Content-Type": "application/json"} | headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def told(served, receiver):
    """A run is told of with a signature that holds, and with the same id and bytes until it is taken."""
    run = {"tasks": [{"description": "[say döne]"}], "tags": {"told": "yes"}}
    status, accepted = ask(f"{served.url}/api/runs", json.dumps(run), {"Authorization": f"Bearer {KEY}"})
    assert status == 202, accepted
    headers, body, answer = receiver.next()
    tries = [(headers, body)]
    served.kill()
    answer.put(204)
    served.start()
    for status in (500, 204):
        headers, body, answer = receiver.next()
        tries.append((headers, body))
        answer.put(status)
    for headers, body in tries:
        message = Webhook(SECRET).verify(body, headers)
        assert message["type"] == "run.completed" and message["data"]["runId"] == accepted["runId"], message
        assert (headers["webhook-id"], body) == (tries[0][0]["webhook-id"], tries[0][1])
    try:
        Webhook(SECRET).verify(body.replace("COMPLETED", "FAILED"), headers)
        raise AssertionError("another body must not fit the signature")
    except WebhookVerificationError:
        return {"headers": headers, "body": body}


def signed_by(sender, body, at):
    """The headers that a sender's own package makes."""
    if sender == "slack":
        signature = SignatureVerifier(OTHERS).generate_signature(timestamp=str(at), body=body)
        return {"X-Slack-Request-Timestamp": str(at), "X-Slack-Signature": signature}
    signature = Webhook(SECRET).sign("msg_1", datetime.fromtimestamp(at, timezone.utc), body)
    return {"webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": signature}


def begun(served, sender, body, headers):
    """A signed request begins one run, also when it is sent again after a crash; another body under the same signature
    none."""
    url = f"{served.url}/hooks/{sender}"
    status, first = ask(url, body, headers)
    assert status == 202, (sender, first)
    served.kill()
    served.start()
    assert ask(url, body, headers) == (202, first), sender
    status, refused = ask(url, body.replace("bees", "wasps"), headers)
    assert status == 401 and refused["error"] == "UNAUTHORIZED", (sender, refused)


def in_javascript(message, body):
    """Verifies a message and signs a body with the packages for JavaScript; returns the signature."""
    node = ROOT / "target/judge-node"
    if not (node / "ready").exists():
        return None
    (node / "webhooks.mjs").write_text((ROOT / "tests/webhooks_node.mjs").read_text(encoding="utf-8"), encoding="utf-8")
    asked = json.dumps({"secret": SECRET, "message": message, "sender": {"secret": OTHERS, "body": body}})
    done = subprocess.run(["node", "webhooks.mjs"], cwd=node, input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def main():
    model, receiver = FakeModel(), Receiver()
    served = Served(with_fake_model(model, CONFIG.format(url=receiver.url, secret=SECRET, others=OTHERS)))
    try:
        message = told(served, receiver)
        body = json.dumps({"topic": "bees", "event_id": "Ev1"})
        now = int(time.time())
        for sender in ("standard", "slack"):
            begun(served, sender, body, signed_by(sender, body, now))
            old = signed_by(sender, body, now - 400)
            assert ask(f"{served.url}/hooks/{sender}", body, old)[0] == 401, "it may be a copy"
        print("standardwebhooks and slack-sdk for Python: fine")
        signature = in_javascript(message, body)
        if signature:
            begun(served, "github", body, {"X-Hub-Signature-256": signature, "X-GitHub-Delivery": "1"})
            print("standardwebhooks and @octokit/webhooks-methods for JavaScript: fine")
    finally:
        served.close()
        receiver.close()
        model.close()


main()
