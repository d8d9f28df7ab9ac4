"""What every drawing has: a title and a description in words, axes, and a size that suits a phone and a column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from unicodedata import east_asian_width

from backbone_dask.report.charts.scale import Scale
from backbone_dask.report.html import attributes_of, element, text
from backbone_dask.report.numbers import ticks

WIDTH = 380.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 14.0, 10.0, 40.0
_LETTER, _WIDE_LETTER = 7.7, 12.0
NAME_LETTERS = 16
"""Of names beside marks: longer ones would leave too little room for the marks."""
SMALLER = 0.87
"""Letters of axes and legends beside those of names."""


def breadth(said: str) -> float:
    """How much room words need, rather too much than too little."""
    return sum(_WIDE_LETTER if each in "mwMW@%" or east_asian_width(each) in "WF" else _LETTER for each in said)


@dataclass(frozen=True, slots=True)
class Drawing:
    """`title` and `description` hold the facts for those who do not see the marks."""

    called: str
    title: str
    description: str
    height: float
    marks: tuple[str, ...]

    def svg(self) -> str:
        """The drawing as an element of a page."""
        names = f"{self.called}-drawing-title {self.called}-drawing-description"
        return element(
            "svg",
            element("title", text(self.title), id=names.split()[0]),
            element("desc", text(self.description), id=names.split()[1]),
            *self.marks,
            viewBox=f"0 0 {WIDTH:.0f} {self.height:.0f}",
            role="img",
            aria_labelledby=names,
            class_="chart",
            data_chart=self.called,
        )


def mark(tag: str, kind: str, **places: object) -> str:
    """A shape without content; numbers are places."""
    fixed = {name: f"{value:.1f}" if isinstance(value, float) else value for name, value in places.items()}
    return f'<{tag} class="{kind}"{attributes_of(fixed)}/>'


def words(content: object, x: float, y: float, kind: str = "", *, anchor: str = "start") -> str:
    """Letters at a place."""
    return element(
        "text",
        text(content),
        x=f"{x:.1f}",
        y=f"{y:.1f}",
        class_=kind or None,
        text_anchor=None if anchor == "start" else anchor,
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return mark("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)


def path(points: list[tuple[float, float]], kind: str) -> str:
    """A line through all points."""
    if not points:
        return ""
    return mark("path", kind, d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points))


def x_axis(scale: Scale, foot: float, title: str, labels: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Ticks below the drawing; `labels` by position in the place of numbers."""
    named = {each: labels[int(each)] for each in scale.ticks()} if labels else ticks(scale.ticks())
    places = {each: _inside(scale(each), SMALLER * breadth(named[each])) for each in named}
    shown = with_room(places)
    drawn = [words(named[each], places[each][0], foot + 16, "tick", anchor="middle") for each in shown]
    stubs = [line(scale(each), foot, scale(each), foot + 4, "axis") for each in shown]
    return (
        line(LEFT, foot, WIDTH - RIGHT, foot, "axis"),
        *stubs,
        *drawn,
        words(title, (LEFT + WIDTH - RIGHT) / 2, foot + 33, "axis-title", anchor="middle"),
    )


def _inside(middle: float, width: float) -> tuple[float, float]:
    """Where the middle of a name is, and its width: a long one at the right end moves left rather than out."""
    return min(middle, WIDTH - width / 2), width


def with_room(ticks: dict[float, tuple[float, float]]) -> list[float]:
    """Those ticks, given with the middle and the width of their names, whose names do not reach into the one before."""
    kept, end = [], -math.inf
    for each, (middle, width) in ticks.items():
        if middle - width / 2 > end:
            kept.append(each)
            end = middle + width / 2 + 4
    return kept


TITLE_ROW = 22.0
"""Room for what stands at the y axis, above it."""


def y_title(said: str, top: float) -> str:
    """What the numbers of the y axis are, in the row that ends at `top`."""
    return words(said, 2.0, top - 12, "axis-title")


def y_axis(scale: Scale, *, right: float = WIDTH - RIGHT) -> tuple[str, ...]:
    """Hairlines across the drawing with their numbers on the left."""
    hairs = [line(LEFT, scale(each), right, scale(each), "grid") for each in scale.ticks()]
    named = ticks(scale.ticks()).items()
    return (*hairs, *(words(said, LEFT - 6, scale(each) + 4, "tick", anchor="end") for each, said in named))
