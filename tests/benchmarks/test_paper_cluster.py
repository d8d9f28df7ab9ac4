"""Cases on workers that are not this command's own: a scheduler and a worker as people start them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from dask_processes import scheduler, worker

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "benchmarks.paper", "T4", "--size", "small"]
ONE = ["--only", "method=chance + CART", "split=0", "seed=0"]


def test_cases_run_on_a_cluster_that_is_there_and_find_their_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = made_up_data(tmp_path / "data")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with scheduler(tmp_path) as there, worker(tmp_path, there.address):
        where = ["--cluster", there.address, "--data", str(data), "--out", str(tmp_path / "out")]
        subprocess.run([*COMMAND, *where, *ONE], cwd=ROOT, check=True, capture_output=True, timeout=120)
    (record,) = json.loads((tmp_path / "out" / "T4" / "small" / "results.json").read_text())
    assert record["case"]["method"] == "chance + CART"
    assert 0 <= record["metrics"]["AUC"] <= 1


def made_up_data(folder: Path) -> Path:
    """A table like that of radar returns, of which the first column decides."""
    rows = [f"{at % 7},{at % 3},{at % 5},{'g' if at % 7 > 2 else 'b'}" for at in range(120)]
    (folder / "uci").mkdir(parents=True)
    (folder / "uci" / "ionosphere.data").write_text(os.linesep.join(rows))
    return folder
