"""Starts, watches and steers runs and chats of a Consort server. `Client` waits, `AsyncClient` awaits."""

from . import types
from ._async.client import AsyncClient
from ._async.runs import AsyncRun
from ._async.threads import AsyncThread, AsyncTurn
from ._sync.client import Client
from ._sync.runs import Run
from ._sync.threads import Thread, Turn
from .decisions import approve, edit, exit_early, reject
from .errors import (
    BadRequest,
    Busy,
    Conflict,
    ConsortError,
    Forbidden,
    NotConsort,
    NotFound,
    Problem,
    RunFailed,
    ServerError,
    TurnFailed,
    Unauthorized,
    Unreachable,
)

__all__ = [
    "AsyncClient",
    "AsyncRun",
    "AsyncThread",
    "AsyncTurn",
    "BadRequest",
    "Busy",
    "Client",
    "Conflict",
    "ConsortError",
    "Forbidden",
    "NotConsort",
    "NotFound",
    "Problem",
    "Run",
    "RunFailed",
    "ServerError",
    "Thread",
    "Turn",
    "TurnFailed",
    "Unauthorized",
    "Unreachable",
    "approve",
    "edit",
    "exit_early",
    "reject",
    "types",
]
