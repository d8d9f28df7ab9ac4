"""Effects left and right of nothing: a stem and a dot for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backbone_dask.report.charts.frame import RIGHT, WIDTH, Drawing, breadth, line, mark, words
from backbone_dask.report.charts.scale import Linear
from backbone_dask.report.numbers import ticks

_ROW, _FOOT = 20.0, 42.0


@dataclass(frozen=True, slots=True)
class Dot:
    """What has the effect, in NAME_LETTERS at most, and how much."""

    name: str
    value: float


def effect_dots(dots: Sequence[Dot], axis: str, called: str, title: str, description: str) -> Drawing:
    """One row for each, in the order given."""
    left = max([breadth(dot.name) for dot in dots], default=0.0) + 16
    scale = Linear.over([0.0, *(dot.value for dot in dots)], left, WIDTH - RIGHT - 8)
    foot = len(dots) * _ROW + 6
    grid = [line(scale(each), 2.0, scale(each), foot, "zero" if each == 0 else "grid") for each in scale.ticks()]
    said = ticks(scale.ticks())
    drawn = [words(said[each], scale(each), foot + 15, "tick", anchor="middle") for each in scale.ticks()]
    rows = [part for at, dot in enumerate(dots) for part in _row(dot, scale, left, 4 + _ROW * (at + 0.5))]
    named = words(axis, (left + WIDTH - RIGHT) / 2, foot + 33, "axis-title", anchor="middle")
    return Drawing(called, title, description, foot + _FOOT, (*grid, *drawn, *rows, named))


def _row(dot: Dot, scale: Linear, left: float, middle: float) -> tuple[str, ...]:
    kind = "rise" if dot.value >= 0 else "fall"
    return (
        words(dot.name, left - 12, middle + 4, "name", anchor="end"),
        line(scale(0.0), middle, scale(dot.value), middle, f"stem {kind}"),
        mark("circle", f"dot {kind}", cx=scale(dot.value), cy=middle, r=4.5),
    )
