"""Curves over a few settings, one of them emphasised, each with its name at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backbone_dask.report.charts.frame import (
    BOTTOM,
    LEFT,
    RIGHT,
    TITLE_ROW,
    TOP,
    WIDTH,
    Drawing,
    breadth,
    mark,
    path,
    words,
    x_axis,
    y_axis,
    y_title,
)
from backbone_dask.report.charts.scale import Evenly, Linear

_PLOT, _LINE, _TOP = 190.0, 13.0, TOP + TITLE_ROW


@dataclass(frozen=True, slots=True)
class Curve:
    """Values at positions on the x axis; None where nothing was tried."""

    name: str
    values: tuple[float | None, ...]
    emphasised: bool = False


def curves(
    lines: Sequence[Curve],
    labels: tuple[str, ...],
    chosen: int,
    *,
    axes: tuple[str, str],
    called: str,
    title: str,
    description: str,
) -> Drawing:
    """The emphasised curve carries a ring at position `chosen`; `axes` are the titles of x and y."""
    room = max(breadth(each.name) for each in lines) + 8 if len(lines) > 1 else 0.0
    foot = _TOP + _PLOT
    x = Evenly(len(labels), LEFT, WIDTH - RIGHT - room)
    y = Linear.over([value for each in lines for value in each.values if value is not None], foot, _TOP, most=4)
    drawn = [part for each in sorted(lines, key=lambda each: each.emphasised) for part in _curve(each, x, y)]
    ring = [_ring(each, x, y, chosen) for each in lines if each.emphasised]
    names = _names(lines, y, WIDTH - RIGHT - room + 8) if room else ()
    frame = (*y_axis(y, right=WIDTH - RIGHT - room), y_title(axes[1], _TOP), *x_axis(x, foot, axes[0], labels))
    return Drawing(called, title, description, foot + BOTTOM, (*frame, *drawn, *ring, *names))


def _curve(curve: Curve, x: Evenly, y: Linear) -> tuple[str, ...]:
    kind = "chosen" if curve.emphasised else "other"
    placed = [(x(at), y(value)) for at, value in enumerate(curve.values) if value is not None]
    return path(placed, f"curve {kind}"), *(mark("circle", f"point {kind}", cx=a, cy=b, r=2.5) for a, b in placed)


def _ring(curve: Curve, x: Evenly, y: Linear, chosen: int) -> str:
    value = curve.values[chosen]
    return "" if value is None else mark("circle", "ring", cx=x(chosen), cy=y(value), r=7.0, data_mark="chosen")


def _names(lines: Sequence[Curve], y: Linear, left: float) -> tuple[str, ...]:
    """Beside the last value of each, moved apart where they would stand on each other."""
    ends = [next(value for value in reversed(each.values) if value is not None) for each in lines]
    order = sorted(range(len(lines)), key=lambda at: y(ends[at]))
    places = apart([y(ends[at]) for at in order], _LINE, _TOP, _TOP + _PLOT)
    return tuple(
        words(lines[at].name, left, place + 4, "curve-name chosen" if lines[at].emphasised else "curve-name")
        for at, place in zip(order, places, strict=True)
    )


def apart(places: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Ascending places moved as little as needed to be `least` apart, within the bounds as long as they fit."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + least) if moved else max(place, low))
    limit = max(high, low + least * (len(moved) - 1))
    for at in range(len(moved) - 1, -1, -1):
        moved[at] = min(moved[at], limit)
        limit = moved[at] - least
    return moved
