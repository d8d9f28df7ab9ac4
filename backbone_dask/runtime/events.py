"""What happens during a run, as it happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """Progress of one phase: `done` of `total` units, and a word about the state of things."""

    phase: str
    done: int
    total: int
    unit: str
    note: str = ""


Listener = Callable[[Event], None]


def silent(event: Event) -> None:
    """A listener that does nothing."""
