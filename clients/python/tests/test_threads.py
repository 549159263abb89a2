"""Chats on the real server: each word once over kills and cuts, calls allowed and denied by callbacks."""

from __future__ import annotations

import threading
import unittest
from typing import Any

from consort_client import AsyncClient, Client, TurnFailed
from consort_client.types import Approval

from .harness import KEY, FakeModel, Proxy, Served, with_fake_model

PATIENCE = 60.0
RING = '[call ring_bell {"input": "twice"}]'


def words_of(frames: list[Any]) -> dict[str, str]:
    """The words of each model call, joined as they came; each must begin where the last ended."""
    said: dict[str, str] = {}
    for frame in frames:
        if frame["type"] == "chunk" and "call_id" in frame and not frame.get("thinking"):
            before = said.get(frame["call_id"], "")
            assert frame["offset"] == len(before.encode()), frame
            said[frame["call_id"]] = before + frame["content"]
    return said


def numbers(frames: list[Any]) -> list[int]:
    """The numbers of the stored frames: words have that of the frame they follow."""
    return [frame["chat_seq"] for frame in frames if "at" in frame]


class ThreadsTest(unittest.TestCase):
    """Without `async`."""

    model: FakeModel
    server: Served

    @classmethod
    def setUpClass(cls) -> None:
        cls.model = FakeModel()
        cls.server = Served(with_fake_model(cls.model))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.close()
        cls.model.close()

    def setUp(self) -> None:
        self.client = Client(self.server.url, KEY, patience=PATIENCE)
        self.addCleanup(self.client.close)

    def test_a_chat_goes_on(self) -> None:
        thread = self.client.threads.create("About bees")
        self.assertEqual(thread.say("[say Hello there]").answer(), "Hello there")
        self.assertEqual(thread.say("[say And again]").answer(), "And again")
        said = [(message["role"], message["content"]) for message in thread.messages()]
        self.assertEqual(said[1::2], [("assistant", "Hello there"), ("assistant", "And again")])
        self.assertEqual(said[::2], [("user", "[say Hello there]"), ("user", "[say And again]")])
        self.assertIn(thread.id, [row["id"] for row in self.client.threads.list()["threads"]])
        thread.delete()

    def test_cut_connections_repeat_no_word_and_lose_none(self) -> None:
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        with Client(proxy.url, KEY, patience=PATIENCE) as client:
            turn = client.threads.create().say("[words 60] [pace 20]")
            frames: list[Any] = []
            for frame in turn.stream():
                frames.append(frame)
                if frame["type"] == "chunk" and len(frames) % 5 == 0:
                    proxy.cut()
        stored = numbers(frames)
        self.assertEqual(stored, list(range(stored[0], stored[0] + len(stored))))
        expected = "".join(f"wörd{number} " for number in range(1, 61))
        self.assertEqual(list(words_of(frames).values()), [expected])

    def test_a_killed_server_answers_all_the_same(self) -> None:
        turn = self.client.threads.create().say("[words 30] [hold kill]")
        frames: list[Any] = []
        killed = False
        for frame in turn.stream():
            frames.append(frame)
            if frame["type"] == "chunk" and not killed:
                killed = True
                self.server.kill()
                self.server.start()
                self.model.go_on("kill")
        stored = numbers(frames)
        self.assertEqual(stored, list(range(stored[0], stored[0] + len(stored))))
        self.assertEqual([frame["type"] for frame in frames].count("turn_adopted"), 2, "it was taken up again")
        answers = [frame["content"] for frame in frames if frame["type"] == "message" and frame["role"] == "assistant"]
        self.assertEqual(words_of(frames).popitem()[1].strip(), answers[-1].strip())

    def test_a_callback_allows_and_denies(self) -> None:
        seen: list[Approval] = []

        def allow(approval: Approval) -> Any:
            seen.append(approval)
            return "allow"

        thread = self.client.threads.create()
        thread.say(RING).answer(on_approval=allow)
        thread.say(RING).answer(on_approval=lambda _: "deny")
        self.assertEqual([(each["tool_name"], each["args"]) for each in seen], [("ring_bell", {"input": "twice"})])
        results = [message["content"] for message in thread.messages() if message["role"] == "tool"]
        self.assertEqual(len(results), 2)
        self.assertIn("the bell rang", results[0])
        self.assertNotIn("the bell rang", results[1])

    def test_a_call_that_waits_is_decided_by_whoever_comes_later(self) -> None:
        thread = self.client.threads.create()
        turn = thread.say(RING)
        for frame in turn.stream():
            if frame["type"] == "tool_approval_request":
                break
        self.assertEqual([approval["tool_name"] for approval in thread.approvals()], ["ring_bell"])
        turn.answer(on_approval=lambda _: "allow_for_chat")
        self.assertEqual(thread.approvals(), [])

    def test_a_stopped_turn_says_so(self) -> None:
        thread = self.client.threads.create()
        turn = thread.say("[words 400] [pace 50]")
        for frame in turn.stream():
            if frame["type"] == "chunk":
                thread.stop()
                break
        with self.assertRaises(TurnFailed) as caught:
            turn.answer()
        self.assertEqual(caught.exception.status, "CANCELLED")
        self.assertIn("wörd1", caught.exception.partial)

    def test_a_message_that_waits_has_its_own_answer(self) -> None:
        thread = self.client.threads.create()
        first = thread.say("[words 30] [hold queue]")
        second = thread.say("[say the second]", if_busy="queue")
        self.model.go_on("queue")
        self.assertEqual(second.queue_position, 0)
        self.assertEqual((second.answer(), first.answer().split()[0]), ("the second", "wörd1"))

    def test_a_thread_is_followed_over_its_turns(self) -> None:
        thread = self.client.threads.create()
        ends: list[str] = []
        stream = thread.stream()
        for content in ("[say one]", "[say two]"):
            saying = threading.Thread(target=thread.say, args=(content,))
            saying.start()
            for frame in stream:
                if frame["type"] == "message" and frame["role"] == "assistant":
                    ends.append(frame["content"])
                if frame["type"] == "chunk" and frame.get("done"):
                    break
            saying.join()
        stream.close()  # type: ignore[attr-defined]
        self.assertEqual(ends, ["one", "two"])


class AsyncThreadsTest(unittest.IsolatedAsyncioTestCase):
    """With `async`: the same text, so only what differs."""

    async def test_a_chat_with_a_call(self) -> None:
        model = FakeModel()
        self.addCleanup(model.close)
        server = Served(with_fake_model(model))
        self.addCleanup(server.close)

        async def allow(_: Approval) -> Any:
            return "allow"

        async with AsyncClient(server.url, KEY) as client:
            thread = await client.threads.create()
            await (await thread.say(RING)).answer(on_approval=allow)
            results = [message["content"] for message in await thread.messages() if message["role"] == "tool"]
            self.assertIn("the bell rang", results[0])
