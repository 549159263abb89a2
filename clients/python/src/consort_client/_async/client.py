"""The client: one address, one key, and everything that can be asked for with them."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import httpx

from .runs import AsyncRuns
from .threads import AsyncThreads
from .transport import CALL_MAX, PATIENCE, AsyncTransport


class AsyncClient:
    """A Consort server.

    The address and the key are taken from `CONSORT_URL` and `CONSORT_API_KEY` where they are not given. `timeout` is
    for one answer, `patience` for how long a server may be away before a stream is given up, both in seconds."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = CALL_MAX,
        patience: float = PATIENCE,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        transport = AsyncTransport(url, key, timeout=timeout, patience=patience, http=http)
        self._transport = transport
        self.api = transport.api
        """Every request of the API, as a method."""
        self.runs = AsyncRuns(transport)
        """Runs."""
        self.threads = AsyncThreads(transport)
        """Chats."""

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._transport.url

    async def tool(self, name: str, input: Any) -> str:
        """Calls a tool; raises `ValueError` with its words when it fails."""
        answer = await self.api.invoke_tool(name, {"input": input})
        if answer["status"] != "SUCCESS":
            raise ValueError(answer.get("errorMessage") or answer["status"])
        return str(answer.get("output", ""))

    async def close(self) -> None:
        """Closes the connections."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
