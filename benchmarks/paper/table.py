"""The Markdown table of an experiment: ours, and the paper's values beside them where it gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.paper.experiment import AtMost, Experiment
from benchmarks.paper.summary import Mean, Row


def table(experiment: Experiment, rows: Sequence[Row]) -> str:
    """Rows by `by`; a column of the paper follows each metric that it has a value of in one of the rows."""
    known = {name for row in rows for name in experiment.paper.get(row.key, {})}
    heads = [*experiment.by, "runs"]
    for name in experiment.metrics:
        heads += [name, "paper"] if name in known else [name]
    lines = [_line(heads), "|" + " ---: |" * len(heads)]
    return "\n".join([*lines, *(_line(_cells(experiment, row, known)) for row in rows)]) + "\n"


def _cells(experiment: Experiment, row: Row, known: set[str]) -> list[str]:
    paper = experiment.paper.get(row.key, {})
    cells = [*map(value, row.key), str(row.runs)]
    for name in experiment.metrics:
        cells.append(mean(row.means[name]) if name in row.means else "")
        if name in known:
            cells.append(papers(paper[name]) if name in paper else "")
    return cells


def mean(found: Mean) -> str:
    """Both with the digits of the mean."""
    if found.deviation is None:
        return number(found.value)
    digits = _digits(found.value)
    return f"{found.value:,.{digits}f} ± {found.deviation:,.{digits}f}"


def papers(found: float) -> str:
    return f"< {number(found)}" if isinstance(found, AtMost) else number(found)


def number(found: float) -> str:
    return f"{found:,.{_digits(found)}f}"


def value(found: Any) -> str:
    """Whole numbers with commas, words as they are."""
    return "" if found is None else f"{found:,}" if isinstance(found, int) else str(found)


def _digits(found: float) -> int:
    """Shares with three, tens with one, hundreds with none."""
    return 3 if abs(found) < 10 else 1 if abs(found) < 100 else 0


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
