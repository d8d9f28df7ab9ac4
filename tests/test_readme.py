"""What README.md and notebooks/REFERENCE.md say is what happens: their commands and their code are run."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
REFERENCE = (ROOT / "notebooks" / "REFERENCE.md").read_text()


def fenced(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[list[str]]:
    lines = "".join(fenced(page, "console")).splitlines()
    return [shlex.split(line.removeprefix("$ ")) for line in lines if line.startswith("$ ")]


def run_commands(page: str, folder: Path) -> None:
    """Each in a process of its own, in the order of the page."""
    for name, *arguments in commands(page):
        assert name == "backbone-dask"
        done = subprocess.run(
            [sys.executable, "-m", "backbone_dask.cli", *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == 0, done.stderr


def run_python(page: str, folder: Path) -> str:
    """As one script whose workers are processes, so the code stands under a main guard; what it prints."""
    body = "\n".join(fenced(page, "python"))
    script = "if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in body.splitlines())
    (folder / "page.py").write_text(script)
    done = subprocess.run([sys.executable, "page.py"], cwd=folder, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


def write_table(path: Path) -> None:
    """The table that the README has: samples in rows, features and `response` in columns."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 400))
    y = 2 * X[:, 5] - X[:, 100] + X[:, 399] + 0.1 * rng.normal(size=120)
    header = ",".join([*(f"f{at}" for at in range(400)), "response"])
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=header, comments="", fmt="%.6g")


def test_from_a_csv_file_to_the_report_in_two_commands(tmp_path):
    write_table(tmp_path / "table.csv")
    assert [command[1] for command in commands(README)[:2]] == ["ingest", "fit"]
    run_commands(README, tmp_path)
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["support"]["names"] == ["f5", "f100", "f399"]
    assert "<html" in (tmp_path / "run" / "report.html").read_text()
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 121


def test_the_python_of_the_readme(tmp_path):
    assert run_python(README, tmp_path).count("[  10 2000]") == 2


def test_commands_of_the_reference_run_in_order(tmp_path):
    assert len(commands(REFERENCE)) >= 9
    run_commands(REFERENCE, tmp_path)
    assert "5 of 5 relevant features found" in (tmp_path / "run" / "report.md").read_text()
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 201


def test_the_python_of_the_reference(tmp_path):
    assert run_python(REFERENCE, tmp_path).count("[  10 2000]") == 4


def test_a_newcomer_finishes_the_readme_in_five_minutes():
    """At 250 words a minute, tables and code included."""
    assert len(README.splitlines()) < 200
    assert len(README.split()) < 1800


@pytest.mark.parametrize(("target", "first"), [("run", "install"), ("test", "setup")])
def test_the_two_commands_exist(target, first):
    assert f"make {target} " in "".join(fenced(README, "bash"))
    assert re.search(rf"^{target}: {first}$", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_every_command_and_file_named_is_there():
    from backbone_dask.cli.main import COMMANDS

    assert all(f"`{name} " in REFERENCE for name in COMMANDS)
    for page, folder in ((README, ROOT), (REFERENCE, ROOT / "notebooks")):
        for link in re.findall(r"\]\(([^)h][^)]*)\)", page):
            assert (folder / link).exists(), link


def test_ci_runs_the_readmes_test_command():
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_top_level_is_what_was_agreed():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    if not tracked:
        pytest.skip("not a git checkout")
    folders = {path.split("/")[0] for path in tracked if "/" in path}
    assert folders == {".ci", "backbone_dask", "tests", "deploy", "benchmarks", "notebooks"}
