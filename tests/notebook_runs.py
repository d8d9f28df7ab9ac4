"""Notebooks executed by this checkout, and what they claim."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import nbformat

FOLDER = Path(__file__).parents[1] / "notebooks"
_SPEC = importlib.util.spec_from_file_location("notebooks_run", FOLDER / "run.py")
run = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(run)


def text_of(cell):
    """What a cell printed or showed, without pictures."""
    parts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            parts.append(output.text)
        elif "text/plain" in output.get("data", {}) and "image/png" not in output.data:
            parts.append(output.data["text/plain"])
    return "".join(parts)


def warnings_of(notebook):
    """All that came by way of stderr."""
    return [
        output.text
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "stream" and output.name == "stderr"
    ]


def checked(notebook):
    return [cell for cell in notebook.cells if "check" in cell.metadata.get("tags", [])]


def facts(notebook):
    """The facts of a notebook: what its cells with the tag `check` say."""
    return {cell.id: text_of(cell) for cell in checked(notebook)}


def assert_same(path, folder):
    committed, now = nbformat.read(path, as_version=4), run.executed(path, folder)
    assert warnings_of(now) == []
    assert len(checked(committed)) >= 3
    assert facts(now) == facts(committed)
