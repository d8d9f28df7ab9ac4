"""The notebooks run as they stand, without a warning, and still come to what they show; 05 in cluster/test_slurm.py."""

from __future__ import annotations

import re

import nbformat
import pytest
from notebook_runs import assert_same, facts, run, warnings_of

ON_ONE_MACHINE = [path for path in run.paths() if path.name not in run.NEEDS_SLURM]
SECONDS = re.compile(r"\b\d[\d.,]* ?(s|ms|seconds|MiB|GiB|MB|GB)\b")


@pytest.mark.parametrize("path", ON_ONE_MACHINE, ids=lambda path: path.stem)
def test_a_notebook_comes_to_what_it_shows(path, tmp_path):
    assert_same(path, tmp_path)


@pytest.mark.parametrize("path", run.paths(), ids=lambda path: path.stem)
def test_committed_notebooks_are_whole(path):
    """Every cell was run, in order, without an error or a warning; pictures are there, and nothing is large."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert warnings_of(notebook) == []
    assert all(output.output_type != "error" for cell in code for output in cell.outputs)
    assert path.stat().st_size < 400_000
    # Seconds and bytes are others on the next machine: what states a fact does not name them.
    assert not [text for text in facts(notebook).values() if SECONDS.search(text)]


@pytest.mark.parametrize("path", run.paths(), ids=lambda path: path.stem)
def test_notebooks_teach_in_short_cells(path):
    notebook = nbformat.read(path, as_version=4)
    kinds = [cell.cell_type for cell in notebook.cells]
    assert kinds[0] == "markdown"
    assert 2 * kinds.count("markdown") >= kinds.count("code")
    assert max(cell.source.count("\n") for cell in notebook.cells if cell.cell_type == "code") < 30


def test_a_warning_or_another_answer_would_be_seen(tmp_path):
    """The check itself: a notebook that warns, and one whose committed answer is another."""
    cell = nbformat.v4.new_code_cell("import warnings\nwarnings.warn('look')\nprint(2)", metadata={"tags": ["check"]})
    notebook = nbformat.v4.new_notebook(cells=[cell])
    path = tmp_path / "warns.ipynb"
    nbformat.write(notebook, path)
    now = run.executed(path, tmp_path)
    assert "look" in warnings_of(now)[0]
    assert facts(now) != facts(notebook)
