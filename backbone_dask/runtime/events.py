"""What happens during a run, as it happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from backbone_dask.values import TracePoint


@dataclass(frozen=True, slots=True)
class Event:
    """Progress of one phase: `done` of `total` units, how many bytes a unit is, and a word about the state.

    `facts` are what a phase has found so far: survivors, level, backbone (its size), coverage; objective, bound, gap,
    limit (seconds) and termination of a solve; global gap and global bound over all columns. `run` says which of
    several runs it is.
    """

    phase: str
    done: int
    total: int
    unit: str
    note: str = ""
    unit_bytes: int = 0
    run: str = ""
    facts: Mapping[str, float | str] = field(default_factory=dict)


Listener = Callable[[Event], None]


def silent(event: Event) -> None:
    """A listener that does nothing."""


def together(*listeners: Listener) -> Listener:
    """A listener that hands every event to all of these, in turn."""

    def listen(event: Event) -> None:
        for each in listeners:
            each(event)

    return listen


@dataclass(frozen=True, slots=True)
class Part:
    """One of several runs that validate the choices of a fit."""

    index: int
    count: int

    @property
    def name(self) -> str:
        """Of its journal."""
        return f"validation-{self.index}"

    def __str__(self) -> str:
        return f"validation {self.index + 1} of {self.count}"


class Solving:
    """A watcher of solves of one problem that tells a listener the best that is known of it."""

    def __init__(self, listen: Listener, limit: float) -> None:
        self._listen, self._limit = listen, limit
        self._objective, self._bound = float("inf"), float("-inf")

    def __call__(self, point: TracePoint) -> None:
        """Points may come from several solves of it, and those of a lost worker a second time."""
        self._objective, self._bound = min(self._objective, point.objective), max(self._bound, point.bound)
        facts = solve_facts(self._objective, self._bound) | {"limit": self._limit}
        self._listen(Event("reduced", 0, 1, "fit", facts=facts))


def solve_facts(objective: float, bound: float) -> dict[str, float | str]:
    """What people want to know of a solve; nothing of a bound that is not known."""
    if bound == float("-inf"):
        return {"objective": objective}
    gap = max(objective - bound, 0.0) / max(abs(objective), 1e-300)
    return {"objective": objective, "bound": bound, "gap": gap}
