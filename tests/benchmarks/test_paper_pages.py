"""What the pages show is what is published: tables, figures, records."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.paper.catalogue import experiments
from benchmarks.paper.pages import HERE, MARK, PAGES, filled
from benchmarks.paper.results import Results
from benchmarks.paper.summary import rows
from benchmarks.paper.table import table

PUBLISHED = sorted(path.parent for path in (HERE / "results").glob("*/*/results.json"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_tables_of_a_page_are_the_published_ones(path: Path) -> None:
    page = path.read_text()
    assert MARK.search(page)
    assert filled(page) == page, "python -m benchmarks.paper.pages puts them in"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_pictures_and_links_of_a_page_are_there(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("folder", PUBLISHED, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_published_table_is_made_of_the_published_records(folder: Path) -> None:
    (experiment,) = experiments([folder.parent.name])
    records = Results(folder, experiment.settings).records(experiment.cases(folder.name))  # type: ignore[arg-type]
    assert table(experiment, rows(experiment, records)) == (folder / "table.md").read_text()
    for record in json.loads((folder / "results.json").read_text()):
        assert {"machine", "versions", "date", "settings"} <= record.keys()
