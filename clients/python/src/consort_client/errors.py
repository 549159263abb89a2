"""Everything that can go wrong, by what a caller can do about it."""

from __future__ import annotations

import json
from typing import Any

from .types import Mistake, RunDetail


class ConsortError(Exception):
    """Something went wrong between this program and the server."""


class Unreachable(ConsortError):
    """The server is not there, or went away and did not come back in time."""


class NotConsort(ConsortError):
    """The address answers, but not as Consort does."""


class Problem(ConsortError):
    """The server refused a request and says why."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        self.status = status
        """The status of the answer."""
        self.code: str = str(body.get("error", body.get("code", "UNKNOWN")))
        """The code for programs, such as `RUN_NOT_FOUND`."""
        self.message: str = str(body.get("message", f"the server answered with status {status}"))
        """The mistake and what is allowed, in words."""
        self.mistakes: list[Mistake] = body.get("mistakes", [])
        """Every mistake in the request, each with its place."""
        self.request_id: str | None = body.get("requestId")
        """The id of the request, which is in the server's log too."""
        wait = body.get("retryAfterMs")
        self.retry_after: float | None = wait / 1000 if isinstance(wait, int) else None
        """Seconds after which the same request may be taken."""
        self.body = body
        """The whole answer."""
        super().__init__(f"{self.message} ({self.code})")


class BadRequest(Problem):
    """Something in the request is wrong; `mistakes` says what and where."""


class Unauthorized(Problem):
    """The server wants a key, or does not take this one."""


class Forbidden(Problem):
    """The key does not allow this."""


class NotFound(Problem):
    """There is no such thing, or it belongs to somebody else."""


class Conflict(Problem):
    """It was decided, ended or changed before."""


class Busy(Problem):
    """The server has enough to do; `retry_after` says when to try again."""


class ServerError(Problem):
    """The server cannot do it now."""


class RunFailed(ConsortError):
    """A run did not complete."""

    def __init__(self, detail: RunDetail) -> None:
        self.detail = detail
        """The run."""
        super().__init__(f"{detail['runId']}: {detail['status']}: {detail.get('error', 'no reason was given')}")


class TurnFailed(ConsortError):
    """A turn of a chat did not come to an answer."""

    def __init__(self, status: str, message: str, partial: str) -> None:
        self.status = status
        """Its last status: `FAILED` or `CANCELLED`."""
        self.partial = partial
        """The words that came before the failure."""
        super().__init__(f"{status}: {message}" if message else status)


KINDS: dict[int, type[Problem]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    428: Conflict,
    429: Busy,
}


def problem_of(status: int, text: str, url: str) -> ConsortError:
    """The error that an answer tells of."""
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    if not isinstance(body, dict) or not ("error" in body or "lifecycleState" in body):
        # A proxy answers for a server that is away.
        kind = Unreachable if status >= 500 else NotConsort
        return kind(f"{url} answered with status {status} and not as Consort does")
    default = ServerError if status >= 500 else BadRequest
    return KINDS.get(status, default)(status, body)
