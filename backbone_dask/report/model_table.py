"""A linear model as a table of Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backbone_dask.report.facts.ridge import WITHOUT, ridge_words
from backbone_dask.report.facts.terms import free_terms, terms, with_short_names
from backbone_dask.report.html import short

LETTERS_OF_A_TERMINAL = 30
"""Of a name, so that the table fits 80 columns."""


def model_table(result: dict[str, Any], letters: int | None) -> str:
    """The strongest effects of a standard deviation first; names are cut to so many letters, if any, and differ."""
    found = terms(result)
    found = with_short_names(found, letters) if letters else found
    free = [(short(name, letters) if letters else name, value) for name, value in free_terms(result)]
    names = [_cell(each) for each in ("feature", *(term.name for term in found), *(name for name, _ in free))]
    columns = [
        ["coefficient", *(_number(term.coefficient) for term in found), *(_number(value) for _, value in free)],
        _beside("per SD", [term.effect for term in found], len(free)),
        _beside(WITHOUT, [term.unpenalised for term in found], len(free)),
    ]
    said = "SD: standard deviation. " if any(columns[1][1:]) else ""
    lines = _lines([names, *(column for column in columns if any(column[1:]))])
    return "\n".join(["## Model", "", *lines, "", said + ridge_words(result), *_classes(result)])


def _beside(head: str, values: Sequence[float | None], n_free: int) -> list[str]:
    return [head, *("" if value is None else _number(value) for value in values), *[""] * n_free]


def _lines(columns: Sequence[Sequence[str]]) -> list[str]:
    """The first column stands on the left, numbers on the right."""
    widths = [max(map(len, column)) for column in columns]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    head, *rows = zip(*columns, strict=True)
    return [_line(row, widths) for row in (head, rule, *rows)]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        f"{cell:{'<' if at == 0 else '>'}{width}}" for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return f"| {' | '.join(padded)} |"


def _number(value: float) -> str:
    return f"{value:.4g}"


def _cell(name: str) -> str:
    # A bar in a name would end its cell.
    return name.replace("|", "\\|")


def _classes(result: dict[str, Any]) -> list[str]:
    labels = result.get("labels", ())
    return ["", f"The sum is the log odds of {labels[1]} against {labels[0]}."] if len(labels) == 2 else []
