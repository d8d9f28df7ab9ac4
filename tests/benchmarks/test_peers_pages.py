"""The page beside other libraries shows the rows that are published."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.peers import pages
from benchmarks.peers.harness import DONE, Row
from benchmarks.peers.pages import PAGE, ROWS, filled
from benchmarks.peers.rows import keep, known

OLD, NEW = (Row("tiny", 1, "RFE", DONE, version, 1.0, 1.0, 2.0, 2**20, 4, 3, 0.5) for version in ("1.0", "2.0"))
OTHER = Row("linear-5k", 1, "abess", "not installed")


def test_the_tables_of_the_page_are_of_the_published_rows() -> None:
    text = PAGE.read_text()
    assert filled(text, known(ROWS)) == text, "python -m benchmarks.peers.pages puts them in"


def test_what_stands_after_the_mark_is_replaced_by_the_tables_of_the_latest_rows() -> None:
    text = filled("# Page\n\nNot `<!-- rows -->`.\n\n<!-- rows -->\n\n## gone\n", [OTHER, OLD, NEW])
    assert text.startswith("# Page\n\nNot `<!-- rows -->`.\n\n<!-- rows -->\n\n## tiny\n\nn = 100, p = 200")
    assert text.index("\n\n## tiny\n") < text.index("| RFE (2.0) |") < text.index("\n\n## linear-5k\n")
    assert text.endswith("| abess; not installed | yes |  |  |  |  |  |  |  |  |  |\n")
    assert "gone" not in text
    assert "RFE (1.0)" not in text
    assert filled(text, [OTHER, OLD, NEW]) == text


def test_a_mark_at_the_very_end_will_do_and_without_one_nothing_changes() -> None:
    assert filled("# Page\n<!-- rows -->", [NEW]) == filled("# Page\n<!-- rows -->\n", [NEW])
    assert filled("# Page\n", [NEW]) == "# Page\n"


def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, rows = tmp_path / "RESULTS.md", tmp_path / "rows.jsonl"
    monkeypatch.setattr(pages, "PAGE", page)
    monkeypatch.setattr(pages, "ROWS", rows)
    page.write_text("# Page\n\n")
    with pytest.raises(SystemExit, match="has no line <!-- rows -->"):
        pages.main()
    page.write_text("# Page\n\n<!-- rows -->\n")
    with pytest.raises(SystemExit, match=r"rows\.jsonl has no rows"):
        pages.main()
    assert page.read_text() == "# Page\n\n<!-- rows -->\n"
    keep(rows, NEW)
    pages.main()
    assert page.read_text() == filled("<!-- rows -->", [NEW]).join(["# Page\n\n", ""])
