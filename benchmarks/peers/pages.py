"""The tables of the page from the rows that are published: `python -m benchmarks.peers.pages` puts in those of now.

They stand after a line `<!-- rows -->`, to the end of the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.harness import Row
from benchmarks.peers.problems import PROBLEMS
from benchmarks.peers.rows import known, latest
from benchmarks.peers.table import page

HERE = Path(__file__).parent
PAGE = HERE / "RESULTS.md"
ROWS = HERE / "results" / "rows.jsonl"
MARK = re.compile(r"^<!-- rows -->$", re.MULTILINE)


def filled(text: str, rows: Sequence[Row]) -> str:
    """The page with the tables of all rows after its mark; as it is if it has none."""
    mark = MARK.search(text)
    return f"{text[: mark.end()]}\n\n{page([*PROBLEMS.values()], latest(rows))}\n" if mark else text


def main() -> None:
    text, rows = PAGE.read_text(), known(ROWS)
    if not MARK.search(text):
        raise SystemExit(f"{PAGE} has no line <!-- rows -->, after which tables would stand")
    if not rows:
        raise SystemExit(f"{ROWS} has no rows")
    PAGE.write_text(filled(text, rows))


if __name__ == "__main__":
    main()
