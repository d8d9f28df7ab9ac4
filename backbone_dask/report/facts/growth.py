"""How the backbone grew, and how many candidates had been examined, after each subproblem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Stop:
    """After one subproblem: its number in the run and its level, features found so far, share of candidates examined.

    `coverage` is None in runs that did not note it.
    """

    number: int
    level: int
    found: int
    coverage: float | None


def growth(levels: Sequence[dict[str, Any]]) -> tuple[Stop, ...]:
    """Levels in their order; a level that extends the backbone counts as one step to its new size."""
    stops = [stop for level in levels for stop in _stops(level)]
    return tuple(Stop(at, level, found, coverage) for at, (level, found, coverage) in enumerate(stops, start=1))


def _stops(level: dict[str, Any]) -> Iterator[tuple[int, int, float | None]]:
    sizes = _sizes(level)
    if not sizes or sizes[-1] != len(level["backbone"]):
        yield level["level"], len(level["backbone"]), level["coverage"]
        return
    examined = level.get("examined") or []
    for at, found in enumerate(sizes):
        coverage = examined[at] / max(level["n_candidates"], 1) if len(examined) == len(sizes) else None
        yield level["level"], found, coverage


def _sizes(level: dict[str, Any]) -> list[int]:
    seen: set[int] = set()
    sizes = []
    for answer in level["answers"]:
        seen.update(answer["relevant"])
        sizes.append(len(seen))
    return sizes
