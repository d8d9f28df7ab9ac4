"""What happens during a run, as it happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """Progress of one phase: `done` of `total` units, how many bytes a unit is, and a word about the state."""

    phase: str
    done: int
    total: int
    unit: str
    note: str = ""
    unit_bytes: int = 0


Listener = Callable[[Event], None]


def silent(event: Event) -> None:
    """A listener that does nothing."""
