"""A falling curve over ranks, with those that matter marked on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backbone_dask.report.charts.frame import (
    BOTTOM,
    LEFT,
    RIGHT,
    TITLE_ROW,
    TOP,
    WIDTH,
    Drawing,
    mark,
    path,
    x_axis,
    y_axis,
    y_title,
)
from backbone_dask.report.charts.legend import HEIGHT, legend
from backbone_dask.report.charts.scale import Linear, Log

_PLOT = 190.0

Points = Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Marks:
    """Ranks and values that are marked in one way."""

    name: str
    kind: str
    points: Points
    radius: float


def ranked(
    curve: Points, marked: Sequence[Marks], *, axes: tuple[str, str], called: str, title: str, description: str
) -> Drawing:
    """Ranks on a scale of powers of ten, so that the first ones have room; `axes` are the titles of x and y."""
    top = TOP + HEIGHT + TITLE_ROW
    foot = top + _PLOT
    x = Log.over((float(rank) for rank, _ in curve), LEFT + 6, WIDTH - RIGHT)
    y = Linear.over([0.0, *(value for _, value in curve)], foot, top)
    drawn = [path([(x(rank), y(value)) for rank, value in curve], "survivors")]
    drawn += [dot for each in marked for dot in _dots(each, x, y)]
    named = [("circle", each.kind, each.name) for each in marked]
    key = legend([("line", "survivors", "survivors"), *named])
    frame = (*y_axis(y), y_title(axes[1], top), *x_axis(x, foot, axes[0]))
    return Drawing(called, title, description, foot + BOTTOM, (*frame, *drawn, *key))


def _dots(marks: Marks, x: Log, y: Linear) -> Iterable[str]:
    """One for every place: what would lie on another adds nothing to the picture."""
    places = dict.fromkeys((round(x(rank)), round(y(value))) for rank, value in marks.points)
    return [mark("circle", marks.kind, cx=across, cy=down, r=marks.radius) for across, down in places]
