"""The real server on a port of its own, which can be killed and started again, and a proxy that cuts connections."""

from __future__ import annotations

import hashlib
import logging
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTING = HERE.parent.parent / "testing"
BINARY = os.environ.get("CONSORT_BIN", str(HERE.parent.parent.parent / "target/debug/consort"))
KEY, READER = "a key of the tests", "a key to look"
# Nobody's settings but those of the tests.
QUIET = {name: value for name, value in os.environ.items() if not name.startswith("CONSORT_")}

# Tests of `async` wait in the middle for a server to be killed; the loop need not say so.
logging.getLogger("asyncio").setLevel(logging.ERROR)
sys.path.insert(0, str(TESTING))
from fake_model import FakeModel  # noqa: E402

__all__ = ["KEY", "READER", "FakeModel", "Proxy", "Served", "with_fake_model"]


def with_fake_model(model: FakeModel, more: str = "") -> str:
    """The configuration on the fake model."""
    text = (TESTING / "fake.toml").read_text(encoding="utf-8").replace("MODEL_URL", model.url) + more
    for name, key in (("TESTS_SHA256", KEY), ("READER_SHA256", READER)):
        text = text.replace(name, hashlib.sha256(key.encode()).hexdigest())
    return text


class Served:
    """A server, on this configuration or on the demo."""

    def __init__(self, config: str | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="consort-client-")
        if config is not None:
            Path(self._folder.name, "consort.toml").write_text(config, encoding="utf-8")
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts it; the second time on the port it had."""
        words = [BINARY, "serve", "--port", str(self.port), "--data", "data"]
        self._log = open(Path(self._folder.name, "log"), "ab")  # noqa: SIM115 -- the server's, until it is killed
        self._process = subprocess.Popen(
            words, cwd=self._folder.name, stdout=subprocess.PIPE, stderr=self._log, text=True, env=QUIET
        )
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line.startswith("consort listening on "), Path(self._folder.name, "log").read_text(encoding="utf-8")
        self.port = int(line.rsplit(":", 1)[1])

    def kill(self) -> None:
        """Kills it as a crash would."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        self._log.close()

    def close(self) -> None:
        """Kills it for good."""
        self.kill()
        self._folder.cleanup()


class Proxy:
    """Passes bytes on to a server, until it cuts all connections."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self.deaf_to_answers = 0
        """Connections whose answer is cut off instead of passed on."""
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        """Cuts every connection there is; new ones are taken."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for near, far in pairs:
            for each in (near, far):
                shut(each)

    def close(self) -> None:
        """Ends it."""
        shut(self._listener)
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._port))
            with self._lock:
                self._pairs.append((near, far))
                deaf, self.deaf_to_answers = self.deaf_to_answers > 0, max(0, self.deaf_to_answers - 1)
            threading.Thread(target=pass_on, args=(near, far, deaf), daemon=True).start()


def pass_on(near: socket.socket, far: socket.socket, deaf: bool) -> None:
    """Passes bytes both ways until one side ends."""
    try:
        while True:
            ready, _, _ = select.select([near, far], [], [])
            for side in ready:
                data = side.recv(65536)
                if not data or (deaf and side is far):
                    return
                (far if side is near else near).sendall(data)
    except (OSError, ValueError):
        pass
    finally:
        for each in (near, far):
            shut(each)
            each.close()


def shut(each: socket.socket) -> None:
    """Ends what goes through a socket, also for whoever waits on it."""
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
