"""Who hears of a solve's progress: set around the solve, since what solves is handed on through functions of any kind.

Telling is for people. A solve that nobody watches, or whose messages are lost, finds the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from backbone_dask.values import TracePoint

Watcher: TypeAlias = Callable[[TracePoint], None]


def nobody(point: TracePoint) -> None:
    """A watcher that does nothing."""


_watcher: ContextVar[Watcher] = ContextVar("watcher", default=nobody)


def current_watcher() -> Watcher:
    return _watcher.get()


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Solves that begin in this block, in this thread, tell `watcher` of their progress."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)
