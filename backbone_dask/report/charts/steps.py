"""What changes from one moment to the next, and stays in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from backbone_dask.report.charts.frame import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Drawing, mark, path, x_axis, y_axis
from backbone_dask.report.charts.legend import HEIGHT, legend
from backbone_dask.report.charts.scale import Linear

_PLOT, _MOST_DOTS = 150.0, 60

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Steps:
    """One quantity: where it changed and to what, and until when the last value held."""

    name: str
    kind: str
    points: Points
    until: float


@dataclass(frozen=True, slots=True)
class Plot:
    """The axes that quantities share: what x is, what is on either axis in any case, how far ticks of x are apart."""

    axis: str
    on_axis: tuple[float, ...] = ()
    least_step: float = 0.0
    on_x: tuple[float, ...] = ()


def step_lines(lines: Sequence[Steps], plot: Plot, called: str, title: str, description: str) -> Drawing:
    """All quantities on one pair of axes; those of one name are one entry of the legend."""
    top, foot = TOP + HEIGHT, TOP + HEIGHT + _PLOT
    moments = [*plot.on_x, *(x for each in lines for x in (each.points[0][0], each.until))]
    heights = [y for each in lines for _, y in each.points]
    x = Linear.over(moments, LEFT, WIDTH - RIGHT, least=plot.least_step)
    y = Linear.over([*heights, *plot.on_axis], foot, top, most=4)
    drawn = [part for each in lines for part in _steps(each, x, y)]
    key = legend(list(dict.fromkeys(("line", each.kind, each.name) for each in lines)))
    return Drawing(called, title, description, foot + BOTTOM, (*y_axis(y), *x_axis(x, foot, plot.axis), *drawn, *key))


def _steps(lines: Steps, x: Linear, y: Linear) -> tuple[str, ...]:
    placed = [(x(moment), y(height)) for moment, height in lines.points]
    ends = [*placed, (x(lines.until), placed[-1][1])]
    corners = [corner for (here, level), (there, _) in pairwise(ends) for corner in ((here, level), (there, level))]
    dots = placed if len(placed) <= _MOST_DOTS else []
    return path(corners, lines.kind), *(mark("circle", f"{lines.kind} point", cx=a, cy=b, r=2.5) for a, b in dots)
