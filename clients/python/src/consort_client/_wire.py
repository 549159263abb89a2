"""The parts that read and decide without waiting: addresses, server-sent events, each frame once, pauses."""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote, urlsplit

from .errors import NotConsort
from .types import Frame

DEFAULT_URL = "http://127.0.0.1:7329"
# Seconds for an answer: longer than any tool called directly may take.
CALL_MAX = 60.0
# Seconds that a stream may be silent: the server sends a sign of life every 15.
SILENCE_MAX = 60.0
# Seconds that a server may be away before a stream is given up.
PATIENCE = 30.0
# Seconds before the first attempt to connect again; they double up to the last.
PAUSE_FIRST, PAUSE_MAX = 0.1, 2.0
# Attempts at a request whose connection breaks, of those methods that do nothing twice: a POST has one Idempotency-Key.
ATTEMPTS_MAX = 3
REPEATABLE = ("GET", "POST")
# Bytes of one event; the largest holds a whole conversation.
EVENT_MAX = 64 * 1024 * 1024


def segment(text: str) -> str:
    """A value as one segment of a path."""
    if text in ("", ".", ".."):
        raise ValueError(f"{text!r} cannot be a part of an address")
    return quote(text, safe="")


def address(url: str | None) -> str:
    """The server's address: as given, else `CONSORT_URL`, else this machine's."""
    found = (url or os.environ.get("CONSORT_URL") or DEFAULT_URL).strip().rstrip("/")
    if urlsplit(found).scheme not in ("http", "https") or not urlsplit(found).hostname:
        raise ValueError(f"{found!r} is not the address of a server: it must begin with http:// or https://")
    return found


def key_of(key: str | None) -> str | None:
    """The API key: as given, else `CONSORT_API_KEY`."""
    return key or os.environ.get("CONSORT_API_KEY") or None


def present(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values that there are, as they are written in an address or a header."""
    written = {}
    for name, value in (values or {}).items():
        if value is not None:
            written[name] = ("true" if value else "false") if isinstance(value, bool) else value
    return written


@dataclass
class Event:
    """One server-sent event."""

    id: int | None
    kind: str
    data: str


class Decoder:
    """Bytes in any pieces become events; what is not whole yet waits."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8")(errors="replace")
        # The pieces of a line that has no end yet; joined once, however many there are.
        self._rest: list[str] = []
        self._lines: list[str] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that these bytes complete."""
        text = self._text.decode(data)
        self._size += len(data)
        if self._size > EVENT_MAX:
            raise NotConsort(f"an event of more than {EVENT_MAX} bytes")
        *lines, rest = text.split("\n")
        if not lines:
            self._rest.append(rest)
            return
        lines[0] = "".join([*self._rest, lines[0]])
        self._rest = [rest]
        for line in lines:
            if line.rstrip("\r"):
                self._lines.append(line.rstrip("\r"))
                continue
            event = self._event()
            self._lines, self._size = [], 0
            if event:
                yield event

    def _event(self) -> Event | None:
        fields: dict[str, list[str]] = {}
        for line in self._lines:
            name, _, value = line.partition(":")
            fields.setdefault(name, []).append(value.removeprefix(" "))
        if "data" not in fields:
            return None
        number = fields.get("id", [""])[-1]
        return Event(
            id=int(number) if number.isdecimal() else None,
            kind=fields.get("event", [""])[-1],
            data="\n".join(fields["data"]),
        )


@dataclass
class Position:
    """The frames of a stream that were received, so that nothing comes twice."""

    last: int | None
    """The number of the last stored frame."""
    said: dict[tuple[str, bool], int] = field(default_factory=dict)
    """The bytes received of the words of each model call, thoughts apart."""
    opened_at: float | None = None
    """The time since which the connection is open."""

    def take(self, event: Event) -> list[Frame]:
        """The frame in an event unless it came before; in front of it words that nobody was connected to hear."""
        frame = json.loads(event.data)
        if event.id is None:
            return self._words(frame) if event.kind == "chunk" and "offset" in frame else [cast(Frame, frame)]
        if self.last is not None and event.id <= self.last:
            return []
        self.last = event.id
        # An answer that asks for calls is a message at once.
        is_reply = event.kind in ("llm_completed", "message") and frame.get("call_id") is not None
        return [*(self._missed(frame) if is_reply else []), cast(Frame, frame)]

    def _words(self, frame: dict[str, Any]) -> list[Frame]:
        """Words without those that came before a connection broke: the server begins with all that were said."""
        call = (str(frame["call_id"]), bool(frame.get("thinking")))
        words = frame["content"].encode()
        known = self.said.get(call, 0) - frame["offset"]
        if known >= len(words):
            return []
        self.said[call] = frame["offset"] + len(words)
        if known > 0:
            frame["content"] = words[known:].decode(errors="replace")
            frame["offset"] += known
        return [cast(Frame, frame)]

    def _missed(self, frame: dict[str, Any]) -> list[Frame]:
        """The words of a call that was over before the connection was back."""
        kept = ("thread_id", "turn_id", "parent_id", "depth", "call_id", "content", "chat_seq")
        words = {name: frame[name] for name in kept if name in frame}
        return self._words({"type": "chunk", "parent_id": None, "depth": 0, **words, "offset": 0})


@dataclass
class Absence:
    """The time that a server has been away, and the time to wait for it."""

    patience: float
    since: float | None = None
    pause: float = PAUSE_FIRST

    def next_pause(self, now: float, opened_at: float | None = None) -> float | None:
        """The pause before the next attempt, or none when it has been away too long."""
        # A connection that held for a while was one, though nothing may have happened meanwhile.
        if opened_at is not None and now - opened_at > PAUSE_MAX:
            self.over()
        if self.since is None:
            self.since = now
        if now - self.since >= self.patience:
            return None
        pause = self.pause
        self.pause = min(self.pause * 2, PAUSE_MAX)
        return pause

    def over(self) -> None:
        """Something came: the next absence begins anew."""
        self.since = None
        self.pause = PAUSE_FIRST
