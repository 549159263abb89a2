"""Runs: started, followed, steered and decided. Made from _async/runs.py by `python generate.py`."""

from __future__ import annotations

from collections.abc import Iterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

from .._wire import segment
from ..errors import Conflict, NotFound, RunFailed
from ..types import DecisionRequest, Edits, Frame, InjectRequest, Rehearsal, Review, RunDetail, RunRequest
from ..types import Runs as Page
from .transport import Transport

OnReview = Callable[[Review], "DecisionRequest | None"]
"""Decides what waits for a person; `None` leaves it to somebody else."""


class Run:
    """A run on the server."""

    def __init__(self, transport: Transport, id: str) -> None:
        self._transport = transport
        self.id = id
        """Its id."""

    def stream(
        self, *, since: int | None = None, only: Sequence[str] = (), on_review: OnReview | None = None
    ) -> Iterator[Frame]:
        """Its frames, each stored one exactly once, to the last, `run_result`; over broken connections and restarts.

        `since` is the number of a frame that came before, `only` the types wanted. Tokens are not stored: those of a
        connection that broke are gone, and `llm_iteration_completed` has the whole answer."""
        wanted = [*only, *(["review_requested"] if only and on_review else [])]
        reviewer = Reviewer(self._transport, self, on_review)
        if since is not None:
            reviewer.attend()
        for frame in self._transport.frames(self._path("/events"), since=since, only=wanted):
            if frame["type"] == "review_requested":
                reviewer.attend()
            if not only or frame["type"] in only or frame["type"] == "run_result":
                yield frame

    def wait(self, *, on_review: OnReview | None = None) -> RunDetail:
        """Waits for its end, however it ends."""
        for _ in self.stream(only=["run_result"], on_review=on_review):
            pass
        return self._transport.patiently(self.detail)

    def answer(self, *, on_review: OnReview | None = None) -> Any:
        """Waits for its answer: data where the last task has a schema, else text. Raises `RunFailed`."""
        detail = self.wait(on_review=on_review)
        if detail["status"] != "COMPLETED":
            raise RunFailed(detail)
        parsed = detail.get("parsedOutput")
        return detail.get("output") if parsed is None else parsed

    def detail(self) -> RunDetail:
        """Returns the run with its tasks and outputs."""
        return self._transport.api.get_run(self.id)

    def reviews(self) -> list[Review]:
        """The open reviews."""
        return (self._transport.api.list_reviews(run_id=self.id))["reviews"]

    def decide(self, review_id: str, decision: DecisionRequest) -> None:
        """Decides a review."""
        self._transport.api.decide_review(review_id, decision)

    def cancel(self, mode: Literal["after_task", "after_iteration", "now"] = "after_task") -> None:
        """Stops it, as soon as the mode says."""
        self._transport.api.cancel_run(self.id, {"mode": mode})

    def pause(self) -> None:
        """Holds it before its next step."""
        self._transport.api.pause_run(self.id)

    def resume(self) -> None:
        """Lets it go on."""
        self._transport.api.resume_run(self.id)

    def switch_model(self, model: str) -> None:
        """Makes every later model call ask this one."""
        self._transport.api.switch_model(self.id, {"model": model})

    def inject(self, content: str, **more: Any) -> None:
        """Tells its agents something; `target`, `priority` and `ttl` say to whom, how urgently and for how long."""
        request: InjectRequest = {"content": content, **more}  # type: ignore[typeddict-item]
        self._transport.api.inject_directive(self.id, request)

    def retry(self, edits: Edits | None = None) -> Run:
        """A new run that keeps what this one completed."""
        return Run(self._transport, accepted(self._transport.api.retry_run(self.id, edits)))

    def fork(self, edits: Edits) -> Run:
        """A new run that begins with this one's events up to one of them."""
        return Run(self._transport, accepted(self._transport.api.fork_run(self.id, edits)))

    def delete(self) -> None:
        """Erases it; one that has not ended is stopped first, and erased by another call."""
        self._transport.api.delete_run(self.id)

    def _path(self, more: str) -> str:
        return f"/api/runs/{segment(self.id)}{more}"


class Reviewer:
    """Asks a callback about each open review of a run, once."""

    def __init__(self, transport: Transport, run: Run, decide: OnReview | None) -> None:
        self._run = run
        self._transport = transport
        self._decide = decide
        self._asked: set[str] = set()

    def attend(self) -> None:
        """Asks about those that are open. What a stream tells of again was decided before."""
        if self._decide is None:
            return
        for review in self._transport.patiently(self._run.reviews):
            if review["reviewId"] in self._asked:
                continue
            self._asked.add(review["reviewId"])
            decision = self._decide(review)
            if decision is not None:
                self._apply(review["reviewId"], decision)

    def _apply(self, review_id: str, decision: DecisionRequest) -> None:
        # Somebody else may have been faster, or the run may be over.
        with suppress(Conflict, NotFound):
            self._transport.patiently(lambda: self._run.decide(review_id, decision))


class Runs:
    """The runs of a server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self, request: RunRequest | None = None, *, idempotency_key: str | None = None, **inputs: Any
    ) -> Run:
        """Starts a run: of the ensemble with these inputs, or as the request says."""
        wanted: RunRequest = {**(request or {})}
        if inputs:
            wanted["inputs"] = {**(wanted.get("inputs") or {}), **inputs}
        taken = self._transport.api.submit_run(wanted, idempotency_key=idempotency_key)
        return Run(self._transport, accepted(taken))

    def plan(self, request: RunRequest | None = None) -> Rehearsal:
        """Returns the plan of a request; nothing is started."""
        wanted: RunRequest = {**(request or {}), "dryRun": True}
        return self._transport.api.submit_run(wanted)  # type: ignore[return-value]

    def open(self, id: str) -> Run:
        """A run by its id; nothing is asked of the server yet."""
        return Run(self._transport, id)

    def list(self, **filters: Any) -> Page:
        """A page of runs; the filters are those of `GET /api/runs`."""
        return self._transport.api.list_runs(**filters)


def accepted(taken: Any) -> str:
    """The id of the run that was taken."""
    return str(taken["runId"])
