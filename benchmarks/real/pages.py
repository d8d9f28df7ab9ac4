"""The published tables inside the page that speaks of them: `python -m benchmarks.real.pages` puts in those of now.

A line `<!-- STUDY -->` stands above the table of results/STUDY.json.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.real.data import STUDIES
from benchmarks.real.finished import published
from benchmarks.real.tables import table

HERE = Path(__file__).parent
PAGE, RESULTS = HERE / "RESULTS.md", HERE / "results"
MARK = re.compile(rf"<!-- ({'|'.join(STUDIES)}) -->\n(?:\|.*\n)*")


def filled(page: str) -> str:
    """The page with every table that it names as the published results have it."""
    return MARK.sub(lambda found: f"<!-- {found[1]} -->\n{table(published(RESULTS, found[1]))}\n", page)


def main() -> None:
    PAGE.write_text(filled(PAGE.read_text()))


if __name__ == "__main__":
    main()
