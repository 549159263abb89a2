"""Chats: said, followed, stopped, and their calls allowed or denied."""

from __future__ import annotations

import inspect  # async only
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal

from .._wire import segment
from ..errors import Conflict, NotFound, TurnFailed
from ..types import Approval, Frame, Message, Said, Say
from ..types import Thread as Row
from ..types import Threads as Page
from .transport import AsyncTransport

Permission = Literal["allow", "allow_for_chat", "deny"]
OnApproval = Callable[[Approval], "Awaitable[Permission | None] | Permission | None"]
"""Allows or denies a call that waits for permission; `None` leaves it to somebody else."""


class AsyncTurn:
    """One message and all that follows it, to the answer."""

    def __init__(self, thread: AsyncThread, said: Said, since: int | None) -> None:
        self._thread = thread
        self._since = since
        self.id = said["turnId"]
        """Its id."""
        self.queue_position = said.get("queuePosition")
        """The number of messages before it, while it waits."""

    async def stream(self, *, on_approval: OnApproval | None = None) -> AsyncIterator[Frame]:
        """Its frames, each stored one exactly once and each word once, to the last, `chunk` with `done`.

        A message that waited for others and was then refused has one frame, `error`."""
        async for frame in self._thread.stream(since=self._since, on_approval=on_approval):
            if frame.get("turn_id") != self.id:
                continue
            yield frame
            # A message that waited and was refused has only that to tell, which is not stored.
            if (frame["type"] == "chunk" and frame.get("done")) or (frame["type"] == "error" and "at" not in frame):
                return

    async def answer(self, *, on_approval: OnApproval | None = None) -> str:
        """Waits for the answer. Raises `TurnFailed` when it failed or was stopped."""
        said, reason, status = "", "", "FAILED"
        async for frame in self.stream(on_approval=on_approval):
            if frame["type"] == "message" and frame["role"] == "assistant":
                said = frame["content"]
            elif frame["type"] == "error":
                reason = frame["message"]
            elif frame["type"] == "chunk" and frame.get("done"):
                status = str(frame.get("status"))
        if status != "COMPLETED":
            raise TurnFailed(status, reason, said)
        return said


class AsyncThread:
    """A chat on the server."""

    def __init__(self, transport: AsyncTransport, id: str) -> None:
        self._transport = transport
        self.id = id
        """Its id."""

    async def say(self, content: str, **more: Any) -> AsyncTurn:
        """Sends a message; `model`, `collections`, `permission_mode`, `if_busy` and the like say more."""
        # A message that waits has no number yet: its turn is looked for after what there is.
        before = (await self.detail())["chatSeq"] if more.get("if_busy") == "queue" else None
        request: Say = {"content": content, **more}  # type: ignore[typeddict-item]
        return self._turn(await self._transport.api.say(self.id, request), before)

    async def go_on(self) -> AsyncTurn:
        """Goes on with an answer that was cut at the output limit."""
        return self._turn(await self._transport.api.continue_thread(self.id), None)

    async def stream(self, *, since: int | None = None, on_approval: OnApproval | None = None) -> AsyncIterator[Frame]:
        """Its frames from the first, or after number `since`: each stored one exactly once, each word once.

        It does not end by itself: a thread may always go on."""
        approver = AsyncApprover(self._transport, self, on_approval)
        if since is not None:
            await approver.attend()
        async for frame in self._transport.frames(f"/api/threads/{segment(self.id)}/events", since=since):
            if frame["type"] == "tool_approval_request":
                await approver.attend()
            yield frame

    async def approvals(self) -> list[Approval]:
        """The calls that wait for permission."""
        every = (await self._transport.api.list_approvals())["approvals"]
        return [approval for approval in every if approval["thread_id"] == self.id]

    async def decide(self, approval_id: str, decision: Permission) -> None:
        """Allows or denies a call."""
        await self._transport.api.answer_approval(approval_id, {"decision": decision})

    async def messages(self) -> list[Message]:
        """The messages so far."""
        return (await self._transport.api.list_messages(self.id))["messages"]

    async def stop(self) -> None:
        """Stops the running turn."""
        await self._transport.api.stop_turn(self.id)

    async def detail(self) -> Row:
        """Returns its state."""
        return await self._transport.api.get_thread(self.id)

    async def delete(self) -> None:
        """Erases it."""
        await self._transport.api.delete_thread(self.id)

    def _turn(self, said: Said, before: int | None) -> AsyncTurn:
        first = said.get("seq")
        if first is None:
            return AsyncTurn(self, said, before)
        return AsyncTurn(self, said, first - 1 if first > 0 else None)


class AsyncApprover:
    """Asks a callback about each call of a thread that waits for permission, once."""

    def __init__(self, transport: AsyncTransport, thread: AsyncThread, decide: OnApproval | None) -> None:
        self._thread = thread
        self._transport = transport
        self._decide = decide
        self._asked: set[str] = set()

    async def attend(self) -> None:
        """Asks about those that wait. What a stream tells of again was decided before."""
        if self._decide is None:
            return
        for approval in await self._transport.patiently(self._thread.approvals):
            if approval["approval_id"] in self._asked:
                continue
            self._asked.add(approval["approval_id"])
            decision = self._decide(approval)
            if inspect.isawaitable(decision):  # async only
                decision = await decision  # async only
            if decision is not None:
                await self._apply(approval["approval_id"], decision)

    async def _apply(self, approval_id: str, decision: Permission) -> None:
        # Somebody else may have been faster, or the turn may be over.
        with suppress(Conflict, NotFound):
            await self._transport.patiently(lambda: self._thread.decide(approval_id, decision))


class AsyncThreads:
    """The chats of the caller."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(self, title: str | None = None) -> AsyncThread:
        """Begins a chat."""
        thread = await self._transport.api.create_thread({"title": title} if title else {})
        return AsyncThread(self._transport, thread["id"])

    def open(self, id: str) -> AsyncThread:
        """A chat by its id; nothing is asked of the server yet."""
        return AsyncThread(self._transport, id)

    async def list(self, q: str | None = None) -> Page:
        """The chats, or those with these words."""
        return await self._transport.api.list_threads(q=q)
