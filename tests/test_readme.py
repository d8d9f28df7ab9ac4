"""What the README says is what happens: its commands and its code are run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def commands() -> list[list[str]]:
    lines = "".join(fenced("console")).splitlines()
    return [shlex.split(line.removeprefix("$ ")) for line in lines if line.startswith("$ ")]


def test_commands_run_in_order(tmp_path):
    assert len(commands()) >= 5
    for name, *arguments in commands():
        assert name == "backbone-dask"
        done = subprocess.run(
            [sys.executable, "-m", "backbone_dask.cli", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == 0, done.stderr
    assert "5 of 5 relevant features found" in (tmp_path / "run" / "report.md").read_text()
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 201


def test_python_runs_as_one_script(tmp_path):
    """As a script whose workers are processes, so the code stands under a main guard."""
    body = "\n".join(fenced("python"))
    script = "if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in body.splitlines())
    (tmp_path / "readme.py").write_text(script)
    done = subprocess.run([sys.executable, "readme.py"], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("[  10 2000]") == 4


@pytest.mark.parametrize("target", ["run", "test"])
def test_the_two_commands_exist(target):
    assert f"make {target} " in "".join(fenced("bash"))
    assert re.search(rf"^{target}: setup$", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_every_command_and_file_named_is_there():
    from backbone_dask.cli.main import COMMANDS

    assert all(f"`{name} " in README for name in COMMANDS)
    for link in re.findall(r"\]\(([^)h][^)]*)\)", README):
        assert (ROOT / link).exists(), link


def test_ci_runs_the_readmes_test_command():
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_top_level_is_what_was_agreed():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    if not tracked:
        pytest.skip("not a git checkout")
    folders = {path.split("/")[0] for path in tracked if "/" in path}
    assert folders == {".ci", "backbone_dask", "tests", "deploy", "benchmarks", "notebooks"}
