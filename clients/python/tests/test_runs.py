"""Runs on the real server: followed over kills and cuts, each frame once; decided by callbacks; steered."""

from __future__ import annotations

import threading
import unittest
from collections.abc import Iterator
from typing import Any

from consort_client import AsyncClient, Client, Conflict, RunFailed, Unreachable, approve, edit, exit_early, reject
from consort_client.types import DecisionRequest, Review

from .harness import KEY, FakeModel, Proxy, Served, with_fake_model

# Longer than a debug build takes to start again on a busy machine.
PATIENCE = 60.0


def reviewed(*names: str) -> Any:
    """A request of tasks that a person must look at."""
    return {"tasks": [{"name": name, "description": f"[say {name} done]", "review": "required"} for name in names]}


def seqs(frames: list[Any]) -> list[int]:
    """The numbers of the stored frames."""
    return [frame["seq"] for frame in frames if "seq" in frame]


class RunsTest(unittest.TestCase):
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

    def test_a_run_is_streamed_from_its_first_frame_to_its_result(self) -> None:
        run = self.client.runs.create(topic="wasps")
        frames = list(run.stream())
        self.assertEqual(seqs(frames), list(range(len(seqs(frames)))))
        self.assertEqual((frames[0]["type"], frames[-1]["type"]), ("run_accepted", "run_result"))
        self.assertEqual(run.detail()["status"], "COMPLETED")
        self.assertIn("wörd20", run.answer())
        later = list(run.stream(since=seqs(frames)[-3]))
        self.assertEqual(later, frames[-3:], "the last two events and the result")

    def test_only_the_wanted_types_come_and_the_result(self) -> None:
        run = self.client.runs.create({"tasks": [{"description": "[say hello]"}]})
        self.assertEqual(
            [frame["type"] for frame in run.stream(only=["task_completed"])], ["task_completed", "run_result"]
        )

    def test_a_killed_server_costs_nothing_but_the_wait(self) -> None:
        run = self.client.runs.create()
        frames: list[Any] = []
        killed = 0
        for frame in run.stream():
            frames.append(frame)
            if frame["type"] == "token" and frames[-2]["type"] == "llm_iteration_started" and killed < 2:
                killed += 1
                self.server.kill()
                self.server.start()
        self.assertEqual(seqs(frames), list(range(len(seqs(frames)))), "each stored frame once, in order")
        kinds = [frame["type"] for frame in frames]
        self.assertGreater(killed, 0)
        self.assertEqual(kinds.count("run_adopted"), 1 + killed, "it was begun, and taken up again after each kill")
        self.assertEqual((kinds[-1], run.detail()["status"]), ("run_result", "COMPLETED"))
        self.assertEqual(list(run.stream())[:-1], [frame for frame in frames if "seq" in frame], "as it is stored")

    def test_cut_connections_repeat_nothing(self) -> None:
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        with Client(proxy.url, KEY, patience=PATIENCE) as client:
            run = client.runs.create()
            frames: list[Any] = []
            for frame in run.stream():
                frames.append(frame)
                if frame["type"] in ("task_started", "token", "task_completed"):
                    proxy.cut()
        self.assertEqual(seqs(frames), list(range(len(seqs(frames)))))
        self.assertEqual(frames[-1]["type"], "run_result")

    def test_a_request_whose_answer_is_lost_is_done_once(self) -> None:
        proxy = Proxy(self.server.port)
        self.addCleanup(proxy.close)
        tag = "lost"
        with Client(proxy.url, KEY) as client:
            proxy.deaf_to_answers = 2
            run = client.runs.create({"tasks": [{"description": "[say hi]"}], "tags": {"case": tag}})
        runs = self.client.runs.list(tag=f"case:{tag}")
        self.assertEqual([each["runId"] for each in runs["runs"]], [run.id])

    def test_each_decision_of_a_callback_is_obeyed(self) -> None:
        decisions: Iterator[DecisionRequest] = iter(
            [reject("Again, please"), approve(), edit("Edited by hand"), exit_early()]
        )
        seen: list[Review] = []

        def decide(review: Review) -> DecisionRequest:
            seen.append(review)
            return next(decisions)

        run = self.client.runs.create(reviewed("one", "two", "three", "four"))
        detail = run.wait(on_review=decide)
        self.assertEqual([review["taskName"] for review in seen], ["one", "one", "two", "three"])
        outputs = {task["name"]: task.get("output") for task in detail["tasks"]}
        self.assertEqual((outputs["one"], outputs["two"]), ("one done", "Edited by hand"))
        self.assertEqual([task["status"] for task in detail["tasks"]][3], "SKIPPED", "it ended early")

    def test_a_review_that_was_decided_is_not_asked_about_again(self) -> None:
        run = self.client.runs.create(reviewed("one"))
        asked: list[str] = []
        run.wait(on_review=lambda review: asked.append(review["reviewId"]) or approve())  # type: ignore[func-returns-value]
        run.wait(on_review=lambda review: asked.append(review["reviewId"]) or approve())  # type: ignore[func-returns-value]
        self.assertEqual(len(asked), 1)
        with self.assertRaises(Conflict) as caught:
            run.decide(asked[0], approve())
        self.assertEqual(caught.exception.code, "REVIEW_RESOLVED")

    def test_somebody_else_may_decide_first(self) -> None:
        run = self.client.runs.create(reviewed("one"))

        def decide(review: Review) -> DecisionRequest:
            run.decide(review["reviewId"], edit("theirs"))
            return edit("ours")

        self.assertEqual(run.answer(on_review=decide), "theirs")

    def test_a_decision_outlives_the_server_it_was_asked_by(self) -> None:
        run = self.client.runs.create(reviewed("one"))

        def decide(_: Review) -> DecisionRequest:
            self.server.kill()
            back = threading.Timer(1.0, self.server.start)
            back.start()
            self.addCleanup(back.join)
            return edit("decided while it was away")

        self.assertEqual(run.answer(on_review=decide), "decided while it was away")

    def test_a_review_that_a_callback_leaves_stays_open_for_others(self) -> None:
        run = self.client.runs.create(reviewed("one"))
        for frame in run.stream(on_review=lambda _: None):
            if frame["type"] == "review_requested":
                last = frame["seq"]
                break
        self.assertEqual([review["taskName"] for review in run.reviews()], ["one"])
        # Whoever comes later is asked about what is open, though its frame came before.
        self.assertEqual(list(run.stream(since=last, on_review=lambda _: approve()))[-1]["type"], "run_result")

    def test_a_run_is_steered(self) -> None:
        run = self.client.runs.create({"tasks": [{"name": "a", "description": "[words 400] [pace 50]"}]})
        run.pause()
        self.assertTrue(run.detail()["paused"])
        run.resume()
        run.inject("Be brief", target="a", priority="HIGH")
        run.switch_model("fake")
        run.cancel("now")
        with self.assertRaises(RunFailed) as caught:
            run.answer()
        self.assertEqual(caught.exception.detail["status"], "CANCELLED")
        again = run.retry()
        again.cancel("now")
        self.assertEqual(again.wait()["retryOf"], run.id)
        run.delete()

    def test_a_plan_starts_nothing(self) -> None:
        before = self.client.runs.list()["total"]
        self.assertEqual([task["name"] for task in self.client.runs.plan()["tasks"]], ["research", "write"])
        self.assertEqual(self.client.runs.list()["total"], before)

    def test_structured_answers_are_data(self) -> None:
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        task: Any = {"description": '[say {"n": 7}]', "outputSchema": schema}
        self.assertEqual(self.client.runs.create({"tasks": [task]}).answer(), {"n": 7})


class AsyncRunsTest(unittest.IsolatedAsyncioTestCase):
    """With `async`: the same text, so only what differs."""

    async def asyncSetUp(self) -> None:
        self.model = FakeModel()
        self.server = Served(with_fake_model(self.model))
        self.addCleanup(self.model.close)
        self.addCleanup(self.server.close)

    async def test_a_killed_server_costs_nothing_but_the_wait(self) -> None:
        async with AsyncClient(self.server.url, KEY, patience=PATIENCE) as client:
            run = await client.runs.create()
            frames: list[Any] = []
            kills = iter(["once"])
            async for frame in run.stream():
                frames.append(frame)
                if frame["type"] == "token" and next(kills, None):
                    self.server.kill()
                    self.server.start()
            self.assertEqual([frame["type"] for frame in frames].count("run_adopted"), 2)
            self.assertEqual(seqs(frames), list(range(len(seqs(frames)))))
            self.assertEqual((await run.detail())["status"], "COMPLETED")

    async def test_callbacks_may_be_coroutines(self) -> None:
        async def decide(_: Review) -> DecisionRequest:
            return edit("awaited")

        async with AsyncClient(self.server.url, KEY) as client:
            run = await client.runs.create(reviewed("one"))
            self.assertEqual(await run.answer(on_review=decide), "awaited")
            run = await client.runs.create(reviewed("one"))
            self.assertEqual(await run.answer(on_review=lambda _: edit("at once")), "at once")

    async def test_a_server_that_stays_away_is_given_up(self) -> None:
        async with AsyncClient(self.server.url, KEY, patience=0.5) as client:
            run = await client.runs.create()
            with self.assertRaisesRegex(Unreachable, "has been away too long"):
                async for frame in run.stream():
                    if frame["type"] == "token":
                        self.server.kill()
