"""Refusals, with who refused and in which words."""

from __future__ import annotations

import socket
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from consort_client import (
    BadRequest,
    Busy,
    Client,
    Conflict,
    Forbidden,
    NotConsort,
    NotFound,
    Unauthorized,
    Unreachable,
)

from .harness import KEY, READER, FakeModel, Served, with_fake_model


class ErrorsTest(unittest.TestCase):
    """On a server with keys."""

    model: FakeModel
    server: Served

    @classmethod
    def setUpClass(cls) -> None:
        cls.model = FakeModel()
        cls.server = Served(with_fake_model(cls.model).replace("max_concurrent_runs = 8", "max_concurrent_runs = 1"))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.close()
        cls.model.close()

    def client(self, key: str | None = KEY) -> Client:
        client = Client(self.server.url, key)
        self.addCleanup(client.close)
        return client

    def test_a_wrong_key_and_none_are_refused(self) -> None:
        for key in ("wrong", None):
            with self.assertRaises(Unauthorized) as caught:
                self.client(key).runs.create()
            self.assertEqual((caught.exception.status, caught.exception.code), (401, "UNAUTHORIZED"))
        with self.assertRaises(Unauthorized):
            next(iter(self.client("wrong").runs.open("run-1").stream()))

    def test_a_key_without_the_scope_is_told_which(self) -> None:
        with self.assertRaisesRegex(Forbidden, "`run`") as caught:
            self.client(READER).runs.create()
        self.assertEqual(caught.exception.code, "FORBIDDEN")

    def test_every_mistake_of_a_request_is_named_with_its_place(self) -> None:
        request: Any = {"tasks": [{"description": "a", "tools": ["fly"]}, {"description": "b", "model": "huge"}]}
        with self.assertRaises(BadRequest) as caught:
            self.client().runs.create(request)
        places = [mistake["place"] for mistake in caught.exception.mistakes]
        self.assertEqual(len(places), 2, places)
        self.assertIsNotNone(caught.exception.request_id)
        with self.assertRaises(BadRequest):
            self.client().runs.create({"tasks": []})

    def test_what_is_not_there_is_not_found(self) -> None:
        client = self.client()
        for attempt in (
            lambda: client.runs.open("run-none").detail(),
            lambda: list(client.runs.open("run-none").stream()),
            lambda: client.runs.open("../threads").detail(),
            lambda: client.threads.open("thread-none").say("hello"),
            lambda: client.tool("fly", {}),
        ):
            self.assertRaises(NotFound, attempt)
        self.assertRaises(ValueError, lambda: client.runs.open("..").detail())

    def test_a_full_server_says_when_to_come_again(self) -> None:
        client = self.client()
        slow: Any = {"tasks": [{"description": "[words 400] [pace 50]"}]}
        run = client.runs.create(slow)
        with self.assertRaises(Busy) as caught:
            client.runs.create(slow)
        self.assertEqual(caught.exception.code, "CONCURRENCY_LIMIT")
        self.assertGreater(caught.exception.retry_after or 0, 0)
        run.cancel("now")
        run.wait()
        with self.assertRaises(Conflict) as ended:
            run.pause()
        self.assertEqual(ended.exception.code, "RUN_COMPLETED")

    def test_the_same_key_with_another_body_is_refused(self) -> None:
        client = self.client()
        first = client.runs.create({"tasks": [{"description": "[say a]"}]}, idempotency_key="k")
        again = client.runs.create({"tasks": [{"description": "[say a]"}]}, idempotency_key="k")
        self.assertEqual(first.id, again.id)
        with self.assertRaises(BadRequest) as caught:
            client.runs.create({"tasks": [{"description": "[say b]"}]}, idempotency_key="k")
        self.assertEqual((caught.exception.status, caught.exception.code), (422, "IDEMPOTENCY_CONFLICT"))
        first.wait()

    def test_a_tool_that_fails_says_why(self) -> None:
        self.assertEqual(self.client().tool("calculator", "6 * 7"), "42")
        with self.assertRaises(ValueError):
            self.client().tool("calculator", "6 *")

    def test_every_kind_of_answer_is_read(self) -> None:
        api = self.client().api
        self.assertEqual([model["alias"] for model in api.capabilities()["models"]], ["fake"])
        self.assertEqual(api.openapi()["openapi"][:2], "3.")
        self.assertIn("consort_queue_depth", api.metrics())
        thread = self.client().threads.create("Bees and wasps")
        self.assertIn("# Bees and wasps", api.export_thread(thread.id))
        self.assertIsNone(api.delete_thread(thread.id))  # type: ignore[func-returns-value]


class ElsewhereTest(unittest.TestCase):
    """Without a server, or with another one."""

    def test_an_address_that_is_none_is_told_at_once(self) -> None:
        for url in ("localhost:7329", "ftp://a", "http://"):
            self.assertRaisesRegex(ValueError, "is not the address of a server", Client, url)

    def test_a_server_that_is_not_there_is_unreachable(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        with Client(f"http://127.0.0.1:{port}", patience=0.1) as client:
            self.assertRaisesRegex(Unreachable, f"cannot reach http://127.0.0.1:{port}", client.runs.list)
            self.assertRaises(Unreachable, lambda: list(client.runs.open("run-1").stream()))

    def test_a_broken_stream_is_asked_for_again_after_the_last_frame(self) -> None:
        asked: list[str | None] = []
        pieces = [
            b'id: 0\ndata: {"type": "a"}\n\nid: 1\ndata: {"type": "b"}\n\nid: 2\nda',
            b'id: 1\ndata: {"type": "b"}\n\nid: 2\ndata: {"type": "c"}\n\ndata: {"type": "run_result"}\n\n',
        ]

        class Stream(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(pieces[len(asked)])
                asked.append(self.headers["last-event-id"])

            def log_message(self, format: str, *args: Any) -> None:
                pass

        with Client(self.serve(Stream)) as client:
            frames = [frame["type"] for frame in client.runs.open("run-1").stream()]
        self.assertEqual((frames, asked), (["a", "b", "c", "run_result"], [None, "1"]))

    def serve(self, handler: type[BaseHTTPRequestHandler]) -> str:
        server = HTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}"

    def test_a_server_of_others_is_told_apart(self) -> None:
        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(404 if self.path.startswith("/api/threads") else 200)
                self.end_headers()
                self.wfile.write(b"<html>")

            def log_message(self, format: str, *args: Any) -> None:
                pass

        with Client(self.serve(Page)) as client:
            self.assertRaises(NotConsort, client.runs.list)
            self.assertRaises(NotConsort, client.threads.list)
