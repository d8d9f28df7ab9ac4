"""What the events of a phase amount to: how fast it goes, how long it takes, what it found. Pure values for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from backbone_dask.runtime.events import Event


@dataclass(frozen=True, slots=True)
class Phase:
    """The newest event of a phase, with what earlier ones found, and moments of a clock.

    `begun` units were done at the moment `mark`: speed is counted from there.
    """

    event: Event
    began: float
    mark: float
    begun: int
    newest: float

    @property
    def over(self) -> bool:
        return is_end(self.event) or self.event.done >= self.event.total

    @property
    def facts(self) -> dict[str, float | str]:
        return dict(self.event.facts)

    def elapsed(self, now: float) -> float:
        return (self.newest if self.over else now) - self.began

    def speed(self, now: float) -> float:
        """Units a second since the mark: groups end together, so that the last few of them say little."""
        taken = (self.newest if self.over else now) - self.mark
        return (self.event.done - self.begun) / taken if taken > 0 else 0.0

    def share(self, now: float) -> float:
        """How far it is: by units, or where that says nothing by the time that it has."""
        event, limit = self.event, float(self.facts.get("limit", 0.0))
        if self.over:
            return 1.0
        if limit:
            return min(self.elapsed(now) / limit, 1.0)
        return min(event.done / event.total, 1.0) if event.total else 1.0

    def seconds_left(self, now: float) -> float | None:
        """At the speed so far; None where it cannot be known."""
        speed = self.speed(now)
        return (self.event.total - self.event.done) / speed if speed and not self.over else None


def is_end(event: Event) -> bool:
    """A level ends when its coverage is known: it may leave out subproblems. Other phases end when all is done."""
    return "coverage" in event.facts if event.phase == "levels" else event.done >= event.total


def advanced(phase: Phase | None, event: Event, now: float) -> Phase:
    """The phase after one more event."""
    if phase is None:
        # What is done already when a phase begins was done by an earlier run: it says nothing about the speed.
        return Phase(event, now, now, event.done, now)
    if event.total != phase.event.total or event.facts.get("level") != phase.event.facts.get("level"):
        return Phase(event, phase.began, now, event.done, now)
    merged = replace(event, facts={**phase.event.facts, **event.facts})
    return replace(phase, event=merged, newest=now)


def amount(phase: Phase) -> str:
    event = phase.event
    return f"{event.done:,}/{event.total:,} {event.unit}"


def rate(phase: Phase, now: float) -> str:
    """Columns a second, and bytes where a unit has a size; nothing for units that are few."""
    speed = phase.speed(now)
    if not phase.event.unit_bytes or not speed:
        return ""
    return f"{speed:,.0f}/s {speed * phase.event.unit_bytes / 1e9:.2f} GB/s"


def clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


_WORDS = {
    "survivors": "{:,} survivors",
    "level": "level {}",
    "backbone": "|B| {:,}",
    "gap": "gap {:.2%}",
    "reduced gap": "gap on the backbone {:.2%}",
    "global gap": "gap over all columns {:.2%}",
    "objective": "objective {:.6g}",
    "bound": "bound {:.6g}",
    "global bound": "bound over all columns {:.6g}",
    "coverage": "coverage {:.0%}",
    "termination": "{}",
}


def fact_words(phase: Phase) -> Iterator[tuple[str, str]]:
    """What was found, by name and in words, the most important first."""
    for name, words in _WORDS.items():
        if name in phase.event.facts:
            yield name, words.format(phase.event.facts[name])
