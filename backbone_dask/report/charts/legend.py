"""What the marks of a drawing mean."""

from __future__ import annotations

from collections.abc import Sequence

from backbone_dask.report.charts.frame import LEFT, SMALLER, WIDTH, breadth, line, mark, words

HEIGHT = 20.0


def legend(entries: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    """(shape, kind, words) in one row above the drawing; a shape is `line` or `circle`."""
    widths = [20 + SMALLER * breadth(said) + 8 for _, _, said in entries]
    drawn, x = [], max(2.0, min(LEFT, WIDTH - sum(widths)))
    for (shape, kind, said), width in zip(entries, widths, strict=True):
        drawn += [_sample(shape, kind, x), words(said, x + 20, 12.0, "legend")]
        x += width
    return tuple(drawn)


def _sample(shape: str, kind: str, x: float) -> str:
    if shape == "line":
        return line(x, 8.0, x + 15, 8.0, kind)
    return mark("circle", kind, cx=x + 7.5, cy=8.0, r=4.0)
