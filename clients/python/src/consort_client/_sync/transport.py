"""Requests and streams over HTTP: sends again what broke, and takes streams up where they broke. Made from _async/transport.py by `python generate.py`."""

from __future__ import annotations

import time
import json
import uuid
from collections.abc import Iterator, Awaitable, Callable, Mapping, Sequence
from time import monotonic
from typing import Any, TypeVar

import httpx

from .._wire import (
    ATTEMPTS_MAX,
    CALL_MAX,
    PATIENCE,
    PAUSE_FIRST,
    REPEATABLE,
    SILENCE_MAX,
    Absence,
    Decoder,
    Position,
    address,
    key_of,
    present,
)
from ..errors import Busy, ConsortError, NotConsort, Problem, ServerError, Unreachable, problem_of
from ..types import Frame
from .api import Api

T = TypeVar("T")


class Transport:
    """A server's address with a key."""

    def __init__(
        self, url: str | None, key: str | None, *, timeout: float, patience: float, http: httpx.Client | None
    ) -> None:
        self.url = address(url)
        """The address of the server."""
        self.api = Api(self.send)
        """Every request of the API, as a method."""
        self._patience = patience
        self._timeout = timeout
        self._own = http is None
        # Every stream holds a connection, so there is no limit but the server's.
        self._http = http or httpx.Client(limits=httpx.Limits(max_connections=None))
        secret = key_of(key)
        self._headers = {"authorization": f"Bearer {secret}"} if secret else {}

    def close(self) -> None:
        """Closes the connections."""
        if self._own:
            self._http.close()

    def send(  # noqa: PLR0913 -- the parts of a request
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        body: Any = None,
        reads: type[Any] | None = None,
    ) -> Any:
        """Sends a request and returns its answer: JSON, unless text or bytes are to be read."""
        sent = self._headers | {"accept": "*/*" if reads else "application/json"} | present(headers)
        if method == "POST":
            # What is sent again after a broken connection is done once.
            sent.setdefault("Idempotency-Key", str(uuid.uuid4()))
        content = None
        if isinstance(body, bytes):
            content = body
        elif body is not None:
            content = json.dumps(body).encode()
            sent.setdefault("content-type", "application/json")
        response = self._answer(method, path, params=present(query), headers=sent, content=content)
        if not response.is_success:
            raise problem_of(response.status_code, response.text, self.url)
        if reads is bytes:
            return response.content
        if reads is str:
            return response.text
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError as error:
            raise NotConsort(f"{self.url} answers with something that is not JSON") from error

    def _answer(self, method: str, path: str, **sent: Any) -> httpx.Response:
        attempt = 1
        while True:
            try:
                return self._http.request(method, self.url + path, timeout=self._timeout, **sent)
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise NotConsort(f"{self.url}: {error}") from error
            except httpx.TransportError as error:
                if attempt >= ATTEMPTS_MAX or method not in REPEATABLE:
                    raise Unreachable(f"cannot reach {self.url}: {error}") from error
            time.sleep(PAUSE_FIRST * attempt)
            attempt += 1

    def patiently(self, request: Callable[[], T]) -> T:
        """Returns the answer to a request, once the server is there: in the middle of something long it may be away."""
        absence = Absence(self._patience)
        while True:
            try:
                return request()
            except (Unreachable, ServerError, Busy):
                pause = absence.next_pause(monotonic())
                if pause is None:
                    raise
            time.sleep(pause)

    def frames(self, path: str, *, since: int | None = None, only: Sequence[str] = ()) -> Iterator[Frame]:
        """The frames of a stream after number `since`, each once, over as many connections as it takes.

        It ends with the frame `run_result`; a thread's stream does not end by itself."""
        position = Position(last=since)
        absence = Absence(self._patience)
        while True:
            try:
                for frame in self._connection(path, position, only):
                    absence.over()
                    yield frame
                    if frame["type"] == "run_result":
                        return
                reason: ConsortError = Unreachable(f"{self.url} ended the stream")
            except (Unreachable, ServerError, Busy) as error:
                reason = error
            pause = absence.next_pause(monotonic(), position.opened_at)
            if pause is None:
                raise Unreachable(f"{self.url} has been away too long; at last: {reason}") from reason
            time.sleep(pause)

    def _connection(self, path: str, position: Position, only: Sequence[str]) -> Iterator[Frame]:
        headers = self._headers | {"accept": "text/event-stream"}
        if position.last is not None:
            headers["last-event-id"] = str(position.last)
        params = {"events": ",".join(only)} if only else {}
        limits = httpx.Timeout(self._timeout, read=SILENCE_MAX)
        decoder = Decoder()
        position.opened_at = None
        try:
            with self._http.stream("GET", self.url + path, params=params, headers=headers, timeout=limits) as got:
                if not got.is_success:
                    raise problem_of(got.status_code, (got.read()).decode(errors="replace"), self.url)
                position.opened_at = monotonic()
                for data in got.iter_bytes():
                    for event in decoder.feed(data):
                        for frame in position.take(event):
                            # One with a turn tells of that turn.
                            if frame["type"] == "error" and event.id is None and "turn_id" not in frame:
                                raise stream_error(json.loads(event.data))
                            yield frame
        except httpx.TransportError as error:
            raise Unreachable(f"cannot reach {self.url}: {error}") from error


def stream_error(body: dict[str, Any]) -> Problem:
    """The error that ends a stream: what is damaged stays so, the rest may pass."""
    kind = Problem if body.get("code") == "STORAGE_DAMAGED" else ServerError
    return kind(500, body)


__all__ = ["CALL_MAX", "PATIENCE", "Transport"]
