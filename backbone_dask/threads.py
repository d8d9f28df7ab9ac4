"""One BLAS thread while an exact solve runs: the order of a sum, and so its bits, must not depend on the machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_limits: list[threadpool_limits] = []
_users = 0


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """The limit belongs to the process: the first user sets it, the last one lifts it."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _limits.append(threadpool_limits(limits=1, user_api="blas"))


def _leave() -> None:
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            _limits.pop().restore_original_limits()
