"""What the tasks of a run did, added up where the run is steered."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from backbone_dask.runtime.memory import peak_bytes
from backbone_dask.runtime.meter import METER

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """One task: what it was, how long it took, what it counted, whether it ran where it was placed."""

    function: str
    seat: str
    seconds: float
    at_home: bool | None
    peak_bytes: int
    amounts: dict[str, int]


@dataclass(slots=True)
class Ledger:
    """Sums over tasks, those that ran twice because a worker was lost included."""

    amounts: Counter[str] = field(default_factory=Counter)
    tasks: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    placed: int = 0
    at_home: int = 0
    peaks: dict[str, int] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        log.debug("%s on %s: %.3f s, at home: %s", entry.function, entry.seat, entry.seconds, entry.at_home)
        self.amounts.update(entry.amounts)
        self.tasks[entry.function] += 1
        self.seconds[entry.function] = self.seconds.get(entry.function, 0.0) + entry.seconds
        self.placed += entry.at_home is not None
        self.at_home += bool(entry.at_home)
        self.peaks[entry.seat] = max(self.peaks.get(entry.seat, 0), entry.peak_bytes)

    def traffic(self) -> dict[str, int]:
        """For people: how far the columns travelled."""
        return {
            "bytes_read": self.amounts["read"],
            "bytes_from_cache": self.amounts["cached"],
            "bytes_moved": self.amounts["moved"],
            "tasks_placed": self.placed,
            "tasks_at_home": self.at_home,
        }


def added(parts: Sequence[dict[str, int]]) -> dict[str, int]:
    """The traffic of several fits."""
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def entered(
    enter: Callable[[Entry], None], seat: str, home: str | None, function: Callable[..., Any], *arguments: Any
) -> Any:
    """function(*arguments), with an entry about it, also if it fails."""
    began = time.perf_counter()
    try:
        return function(*arguments)
    finally:
        at_home = None if home is None else home == seat
        taken = time.perf_counter() - began
        enter(Entry(name_of(function), seat, taken, at_home, peak_bytes(), METER.drain()))


def name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
