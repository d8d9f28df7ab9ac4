"""The display as text: one line per phase that fits the terminal, from pure values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from backbone_dask.runtime.phases import Phase, amount, clock, fact_words, rate

GAP = "  "
TITLE = 8
LEAST_BAR, MOST_BAR = 8, 24


class Cell(NamedTuple):
    """A piece of a line; of those that do not fit, the one with the largest rank goes first."""

    text: str
    rank: int


class Line(NamedTuple):
    """A phase in so many characters: title, bar and the rest. Only the bar has a colour."""

    title: str
    done: int
    bar: int
    text: str

    def characters(self, full: str, empty: str) -> str:
        drawn = full * self.done + empty * (self.bar - self.done)
        return f"{self.title} {drawn}{GAP if drawn else ''}{self.text}"


BAR_RANK = 5
"""What has a larger rank is worth less than a bar."""
_RANKS = {
    "gap": 1,
    "global gap": 1,
    "survivors": 1,
    "backbone": 1,
    "level": 2,
    "objective": 6,
    "bound": 7,
    "global bound": 7,
    "coverage": 8,
}


def cells(phase: Phase, now: float) -> Iterator[Cell]:
    """In the order in which they are shown."""
    limit, left = phase.facts.get("limit"), phase.seconds_left(now)
    if not limit:
        yield Cell(amount(phase), 0)
    for name, words in fact_words(phase):
        yield Cell(words, _RANKS.get(name, 9))
    yield Cell(rate(phase, now), 4)
    yield Cell(phase.event.note, 8)
    elapsed = clock(phase.elapsed(now))
    yield Cell(f"{elapsed} of {clock(float(limit))}" if limit and not phase.over else elapsed, 3)
    if left is not None and not limit:
        yield Cell(f"{clock(left)} left", 5)


def line(phase: Phase, now: float, width: int) -> Line:
    """The phase in at most `width` characters."""
    kept = [cell for cell in cells(phase, now) if cell.text]
    room = width - TITLE - 1
    beside_bar = room - LEAST_BAR - len(GAP)
    while len(kept) > 1:
        last = max(kept, key=lambda cell: cell.rank)
        if len(_joined(kept)) <= (beside_bar if last.rank > BAR_RANK else room):
            break
        kept.remove(last)
    text = _joined(kept)[: max(room, 0)]
    spare = min(room - len(text) - len(GAP), MOST_BAR)
    bar = spare if spare >= LEAST_BAR else 0
    return Line(f"{phase.event.phase:{TITLE}.{TITLE}}"[: max(width, 0)], round(bar * phase.share(now)), bar, text)


def _joined(kept: list[Cell]) -> str:
    return GAP.join(cell.text for cell in kept)


def lines(phases: Mapping[str, Phase], now: float, width: int) -> list[Line]:
    return [line(phase, now, width) for phase in phases.values()]
