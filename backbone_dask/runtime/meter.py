"""What the tasks of one process count: bytes read, taken from its cache, and brought from other processes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from uuid import uuid4

from backbone_dask.values import Standardised

PROCESS = uuid4().hex
"""This process: no other one, and none that comes back in its place, has the same."""


@dataclass(slots=True)
class Meter:
    """Amounts by name, until whoever runs the tasks takes them away."""

    _amounts: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def count(self, name: str, amount: int) -> None:
        with self._lock:
            self._amounts[name] += amount

    def drain(self) -> dict[str, int]:
        with self._lock:
            taken = dict(self._amounts)
            self._amounts.clear()
        return taken


METER = Meter()


@dataclass(slots=True)
class Resident:
    """Columns in the memory of a process. One that gets them from another process counts what travelled."""

    columns: Standardised
    origin: str = field(default_factory=lambda: PROCESS)

    def here(self) -> Standardised:
        if self.origin != PROCESS:
            METER.count("moved", self.columns.nbytes)
            # Dask keeps what it brought, so that the next task of this process finds it here.
            self.origin = PROCESS
        return self.columns

    def __sizeof__(self) -> int:
        """What Dask plans transfers and memory by."""
        return object.__sizeof__(self) + self.columns.nbytes
