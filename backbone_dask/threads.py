"""One BLAS thread while an exact solve runs: the order of a sum, and so its bits, must not depend on the machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_limits: list[Any] = []
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
            _limits.append(_libraries(len(sys.modules)).limit(limits=1, user_api="blas"))


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Looking for them takes a millisecond: again only where modules have come, and maybe a library with them."""
    return ThreadpoolController()


def _leave() -> None:
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            _limits.pop().restore_original_limits()
