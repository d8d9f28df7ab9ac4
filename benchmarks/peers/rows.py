"""Rows in a file, a line of JSON each: what was measured is added, and what was measured before is not again."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from benchmarks.machine import stamp
from benchmarks.peers.harness import DONE, Row

FIGURES = {each.name for each in fields(Row)}
LIMIT = re.compile(r"out of time \((\S+) s\)")


def known(results: Path) -> list[Row]:
    """Rows of a file in its order; a line that is none is passed over, and said."""
    lines = results.read_text(errors="replace").split("\n") if results.exists() else []
    found = [_parsed(line, f"{results}, line {i}") for i, line in enumerate(lines, 1) if line.strip()]
    return [row for row in found if row is not None]


def _parsed(line: str, place: str) -> Row | None:
    """Machines, commits and the starting interpreter's versions, which the page does not show, are passed over."""
    try:
        return Row(**{name: value for name, value in json.loads(line).items() if name in FIGURES})
    except (ValueError, TypeError, AttributeError) as problem:
        print(f"{place} is no row ({problem}); it does not count", file=sys.stderr, flush=True)
        return None


def keep(results: Path, row: Row) -> None:
    """On a line of its own, also after one that was cut off."""
    ended = not results.exists() or results.read_bytes()[-1:] in (b"", b"\n")
    with results.open("a") as file:
        file.write(("" if ended else "\n") + json.dumps(record(row), allow_nan=False) + "\n")


def record(row: Row) -> dict[str, Any]:
    """The figures that there are, with their date, and on what they were measured.

    `versions` are those of the interpreter that started the method's, which may be another.
    """
    there = {name: value for name, value in asdict(row).items() if not (isinstance(value, float) and math.isnan(value))}
    return there | stamp()


def is_measured(row: Row, seconds: float) -> bool:
    """Whether a run with this limit would say nothing new: what failed or was not installed is tried again."""
    spent = LIMIT.fullmatch(row.outcome)
    return row.outcome == DONE or (spent is not None and float(spent[1]) >= seconds)


def latest(rows: Iterable[Row]) -> list[Row]:
    """A row for each method, problem and seed: a later one replaces those before."""
    return list({(row.problem, row.seed, row.method): row for row in rows}.values())
