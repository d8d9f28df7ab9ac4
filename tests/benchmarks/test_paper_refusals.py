"""What cannot be kept, drawn or trusted is said before anything runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.machine import versions
from benchmarks.paper import __main__ as command
from benchmarks.paper.data import other_content
from benchmarks.paper.fetch import FILES
from benchmarks.paper.real import settings

ROOT = Path(__file__).resolve().parents[2]
CASE = {"table": "ionosphere", "method": "CART", "split": 0, "seed": 0, "copies": 100}


def called(*words: str) -> subprocess.CompletedProcess[str]:
    asked = [sys.executable, "-m", "benchmarks.paper", *words]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("where", ["/proc/none", "file"])
def test_a_folder_that_cannot_be_written_is_refused(where: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    out = tmp_path / where
    found = called("F6", "--out", str(out))
    assert found.returncode == 1
    assert found.stderr.startswith(f"{out}/F6/small cannot be written (")
    assert found.stderr.endswith("name another --out\n")


@pytest.mark.parametrize("workers", ["0", "-1"])
def test_numbers_of_workers_that_cannot_be_are_refused(workers: str, tmp_path: Path) -> None:
    found = called("F6", "--out", str(tmp_path), "--workers", workers)
    assert found.returncode == 1
    assert found.stderr == f"workers is {workers}; it must be at least 1, or None for the default of local\n"


def test_without_matplotlib_nothing_runs(tmp_path: Path) -> None:
    code = f"""
import sys
sys.modules["matplotlib.ticker"] = None
sys.argv = ["paper", "F6", "--out", {str(tmp_path)!r}]
from benchmarks.paper.__main__ import main
main()
"""
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert found.returncode == 1
    assert found.stderr.startswith("figures: import of matplotlib.ticker halted")
    assert "pip install -e '.[dev]'" in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_results_of_another_file_are_none_of_the_known_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKBONE_PAPER_DATA", str(tmp_path))
    known = settings(CASE)
    assert other_content("uci/ionosphere.data") is None
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "ionosphere.data").write_text("1,0,g\n")
    assert settings(CASE) == known | {"data": other_content("uci/ionosphere.data")} != known


def test_the_known_file_is_known_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKBONE_PAPER_DATA", str(tmp_path))
    monkeypatch.setattr("benchmarks.paper.data.is_right", lambda file, content: content == file.name.encode())
    (tmp_path / "uci").mkdir()
    for file in FILES:
        (tmp_path / file.name).write_text(file.name)
        assert other_content(file.name) is None
        (tmp_path / file.name).write_text("other")
        assert other_content(file.name) is not None


def test_another_file_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setenv("BACKBONE_PAPER_DATA", str(tmp_path))
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "ionosphere.data").write_text("1,0,g\n")
    asked = command.argparse.Namespace(only=["method=CART"], size="small", out=tmp_path / "out")
    command.planned(command.experiments(["T4"]), asked)
    said = "uci/ionosphere.data is not the file that the paper's table is made from; its results are kept apart\n"
    assert capsys.readouterr().err == said


def test_a_record_names_the_libraries_that_nets_come_from() -> None:
    pytest.importorskip("glmnet")
    assert versions()["python-glmnet"]
    assert versions().keys() >= {"python", "numpy", "scikit-learn", "backbone-dask", "pandas"}
