"""The published tables inside the pages that speak of them: `python -m benchmarks.paper.pages` puts in those of now.

A line `<!-- ID/SIZE -->` stands above the table of results/ID/SIZE.
"""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGES = (HERE / "RESULTS.md", HERE / "RESULTS-tables.md")
MARK = re.compile(r"<!-- (\S+/(?:small|paper)) -->\n(?:\|.*\n)*")


def filled(page: str) -> str:
    """The page with every table that it names as it is published."""
    return MARK.sub(lambda found: f"<!-- {found[1]} -->\n{_published(found[1])}", page)


def _published(place: str) -> str:
    return (HERE / "results" / place / "table.md").read_text()


def main() -> None:
    for path in PAGES:
        path.write_text(filled(path.read_text()))


if __name__ == "__main__":
    main()
