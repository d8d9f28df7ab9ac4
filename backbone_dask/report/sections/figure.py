"""A drawing with what is to be seen in it, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Sequence

from backbone_dask.report.charts.frame import Drawing
from backbone_dask.report.html import details, element, table, text

MOST_ROWS = 200


def figure(
    drawing: Drawing, caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], kind: str | None = None
) -> str:
    """The table below, details of that kind, is folded away, and thinned out where it is very long."""
    kept, left_out = thinned(rows)
    note = element("p", text(f"{left_out:,} rows between these are left out."), class_="note") if left_out else ""
    numbers = details("Numbers", table(head, kept, drawing.called), note, kind=kind)
    return element("figure", drawing.svg(), element("figcaption", text(caption)) if caption else "", numbers)


def thinned(rows: Sequence[Sequence[str]]) -> tuple[Sequence[Sequence[str]], int]:
    """At most so many rows, evenly from the first to the last, and how many are left out."""
    if len(rows) <= MOST_ROWS:
        return rows, 0
    step = (len(rows) - 1) / (MOST_ROWS - 1)
    return [rows[round(at * step)] for at in range(MOST_ROWS)], len(rows) - MOST_ROWS
