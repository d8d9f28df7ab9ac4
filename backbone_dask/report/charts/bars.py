"""Bars from the left, one below the other, with a name above and a number beside each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backbone_dask.report.charts.frame import RIGHT, WIDTH, Drawing, breadth, mark, words
from backbone_dask.report.charts.scale import Linear, Log, Scale

_ROW, _BAR = 24.0, 14.0


@dataclass(frozen=True, slots=True)
class Bar:
    """What a bar is called, in NAME_LETTERS at most, how long it is, and what is written at its end."""

    name: str
    value: float
    said: str
    kind: str = "bar"


def log_bars(bars: Sequence[Bar], called: str, title: str, description: str) -> Drawing:
    """On a scale of powers of ten, from 1 on."""
    start, stop = _room(bars)
    return _drawing(bars, Log.over((bar.value for bar in bars), start, stop), called, title, description)


def linear_bars(bars: Sequence[Bar], called: str, title: str, description: str) -> Drawing:
    """On a scale from 0 on."""
    start, stop = _room(bars)
    most = max([bar.value for bar in bars], default=0) or 1.0
    return _drawing(bars, Linear(0.0, most, start, stop, most), called, title, description)


def _room(bars: Sequence[Bar]) -> tuple[float, float]:
    """Where bars begin and where the longest ends: names stand before it, and its number after it."""
    names = max([breadth(bar.name) for bar in bars], default=0.0)
    said = max([breadth(bar.said) for bar in bars], default=0.0)
    return names + 10, WIDTH - RIGHT - said - 6


def _drawing(bars: Sequence[Bar], scale: Scale, called: str, title: str, description: str) -> Drawing:
    marks = [part for at, bar in enumerate(bars) for part in _bar(bar, scale, 4 + at * _ROW)]
    return Drawing(called, title, description, len(bars) * _ROW + 8, tuple(marks))


def _bar(bar: Bar, scale: Scale, top: float) -> tuple[str, ...]:
    start = scale(0.0)
    # The least that is there is seen.
    width = max(scale(bar.value) - start, 2.0 if bar.value > 0 else 0.0)
    middle = top + _ROW / 2
    return (
        words(bar.name, start - 8, middle + 4, "name", anchor="end"),
        mark(
            "rect", bar.kind, x=start, y=middle - _BAR / 2, width=width, height=_BAR, rx=2.0, data_value=repr(bar.value)
        ),
        words(bar.said, start + width + 6, middle + 4, "value"),
    )
