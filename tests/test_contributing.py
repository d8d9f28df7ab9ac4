"""The parts that CONTRIBUTING.md adds are whole: they keep their contracts, and are used in fits."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()


@pytest.fixture(scope="module")
def source():
    return "\n\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))


def test_every_kind_of_part_is_shown(source):
    shown = {"register_screen(", "register_subproblem_solver(", "register_exact_solver("}
    contracts = {"(ScreenContract)", "(SubproblemSolverContract)", "(ExactSolverContract)"}
    assert all(part in source for part in shown | contracts)


def test_the_parts_keep_their_contracts_and_are_used(source, tmp_path):
    path = tmp_path / "test_my_parts.py"
    path.write_text(source)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 80
    assert "skipped" not in done.stdout


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)h][^)]*)\)", PAGE):
        assert (ROOT / link).exists(), link
