"""Handles on values of a cluster that know how to make them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distributed import Future


class Handle:
    """The value of a task. A cluster that was lost begins a new epoch, in which the task is sent again."""

    __slots__ = ("_epoch", "_future", "_send")

    def __init__(self, send: Callable[[], Future]) -> None:
        self._send = send
        self._epoch = -1
        self._future: Future | None = None

    @property
    def sent(self) -> list[Future]:
        return [] if self._future is None else [self._future]

    def future(self, epoch: int) -> Future:
        if self._future is None or self._epoch != epoch:
            self._future, self._epoch = self._send(), epoch
        return self._future


class Placed:
    """A value of this process that one task reads. Nothing here keeps it alive once that task has it."""

    __slots__ = ("_scatter",)

    def __init__(self, scatter: Callable[[], Future]) -> None:
        self._scatter = scatter

    def future(self, epoch: int) -> Future:
        return self._scatter()


def resolved(value: Any, epoch: int) -> Any:
    """The value with futures in the place of handles, also in lists and tuples of them."""
    if isinstance(value, Handle | Placed):
        return value.future(epoch)
    if type(value) in (list, tuple):
        return type(value)(resolved(each, epoch) for each in value)
    return value
