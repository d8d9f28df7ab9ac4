"""The comparison with other libraries: a fit in a process of its own is measured, and whatever goes wrong is a row."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.machine import machine
from benchmarks.peers.harness import DONE, ROOT, Limits, Row, run
from benchmarks.peers.model import linear_model
from benchmarks.peers.problems import PROBLEMS, TEST_SAMPLES, Problem
from benchmarks.peers.rows import is_measured, keep, known, latest
from benchmarks.peers.table import page

TINY = PROBLEMS["tiny"].seeded(1)
ENOUGH = Limits(seconds=60, gib=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tiny")
    TINY.write(made)
    return made


def rfe(folder: Path, limits: Limits, pythons: tuple[str, ...] = (sys.executable,), problem: Problem = TINY) -> Row:
    return run(problem, "RFE", pythons, folder, limits)


def test_a_fit_in_a_process_of_its_own_is_measured(folder: Path) -> None:
    row = rfe(folder, ENOUGH)
    assert row.outcome == DONE, row.outcome
    assert (row.size, row.hits) == (3, 3)
    assert row.score > 0.8
    assert 0 < row.seconds < row.first_seconds < ENOUGH.seconds
    assert 20 * 2**20 < row.peak_bytes < ENOUGH.gib * 2**30
    assert row.version
    assert (row.python, row.numpy) == (platform.python_version(), np.__version__)
    assert row.date.startswith("20")


def test_a_row_has_the_versions_of_the_interpreter_that_ran_it(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "python"
    pretend = "import numpy, platform; numpy.__version__ = '2.99.0'; platform.python_version = lambda: '3.99.0'"
    (tmp_path / "sitecustomize.py").write_text(pretend)
    other.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    other.chmod(0o755)
    row = rfe(folder, ENOUGH, (str(other),))
    keep(tmp_path / "rows.jsonl", row)
    line = json.loads((tmp_path / "rows.jsonl").read_text())
    assert (line["python"], line["numpy"]) == ("3.99.0", "2.99.0")
    assert line["versions"]["numpy"] == np.__version__


def test_an_interpreter_that_says_nothing_is_a_failure(folder: Path) -> None:
    assert rfe(folder, ENOUGH, ("true",)).outcome == "failed: exit code 0"


def test_the_truth_is_not_among_the_files(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} - {"answer.json"} == {
        "X.npy",
        "X_test.npy",
        "y.npy",
        "problem.json",
    }
    assert (folder / "problem.json").read_text() == '{"kind": "linear", "size": 3}'


def test_the_test_table_is_another_draw_of_the_same_truth(folder: Path) -> None:
    table, y = np.load(folder / "X_test.npy"), TINY.test_target
    assert table.shape == (200, TEST_SAMPLES)
    rows = table[TINY.relevant]
    weights = np.linalg.lstsq(rows.T, y, rcond=None)[0]
    assert 1 - np.var(y - weights @ rows) / np.var(y) == pytest.approx(5 / 6, abs=0.02)


def test_running_out_of_time_is_a_row(folder: Path) -> None:
    row = rfe(folder, replace(ENOUGH, seconds=0.05))
    assert row.outcome == "out of time (0.05 s)"
    assert np.isnan(row.seconds)


def test_running_out_of_memory_is_a_row(folder: Path) -> None:
    assert rfe(folder, replace(ENOUGH, gib=0.2)).outcome.startswith("failed: ")


def test_a_failure_is_a_row_that_gives_the_reason(tmp_path: Path) -> None:
    assert rfe(tmp_path, ENOUGH).outcome.startswith("failed: FileNotFoundError")


def test_a_library_that_no_interpreter_has_is_a_row(folder: Path) -> None:
    assert rfe(folder, ENOUGH, pythons=()).outcome == "not installed"


def test_the_table_has_means_of_what_ended_and_names_the_rest() -> None:
    ended = [
        Row("tiny", seed, "RFE", DONE, "1.0", seconds, 1.0, 2.0, 2**20, 4, hits, 0.5)
        for seed, seconds, hits in ((1, 1.0, 3), (2, 2.0, 1))
    ]
    lines = page([TINY], [*ended, Row("tiny", 3, "RFE", "out of time (9 s)"), Row("tiny", 1, "abess", "not installed")])
    assert "| abess; not installed | yes |" in lines
    assert "| RFE (1.0); out of time (9 s) (seed 3) | yes | 2 | 1 | 1.5 | 2 | 1 | 2.0 | 4.0 | 50% | 0.5000 |" in lines


def row_of(method: str, seed: int, numpy: str, day: str, python: str = "3.11.7") -> Row:
    return Row(
        "tiny", seed, method, DONE, "1.0", 1.0, 1.0, 2.0, 2**20, 4, 3, 0.5, python, numpy, f"2026-11-{day}T05:27:36"
    )


def test_the_table_says_when_it_was_measured_and_which_rows_had_another_interpreter() -> None:
    rows = [row_of("RFE", 1, "2.4.6", "19"), row_of("abess", 1, "2.4.6", "19")]
    assert header(rows).endswith("MiB. Measured 2026-11-19; Python 3.11.7, numpy 2.4.6.")
    rows += [row_of("RFE", 2, "2.4.6", "18"), row_of("celer, lasso by CV", 1, "1.26.4", "20", "3.10.1")]
    rows += [Row("tiny", 3, "RFE", "not installed", date="2026-11-21")]
    told = 'Measured 2026-11-18 to 2026-11-21; Python 3.11.7, numpy 2.4.6; Python 3.10.1, numpy 1.26.4 for "celer, '
    assert header(rows).endswith(f'{told}lasso by CV".')
    assert header([Row("tiny", 1, "RFE", DONE, *[1.0] * 5, size=1)]).endswith("MiB.")


def header(rows: list[Row]) -> str:
    return page([TINY], rows).splitlines()[2]


def test_problems_without_rows_and_rows_of_unknown_methods_are_not_shown() -> None:
    strange = replace(row_of("RFE", 9, "1.0", "01"), method="no more")
    assert page([TINY, PROBLEMS["linear-5k"]], [strange]) == ""
    assert "seeds 1;" in header([strange, row_of("RFE", 1, "2.4.6", "19")])


def test_a_linear_model_reads_the_columns_in_the_model_only() -> None:
    model = linear_model([0.0, 2.0], [1.0], ids=[3, 5])
    assert model.support.tolist() == [5]
    table = np.full((1, 6), np.nan)
    table[0, 5] = 4.0
    assert model.predict(table).tolist() == [9.0]


def command(*words: str) -> subprocess.CompletedProcess[str]:
    asked = [sys.executable, "-m", "benchmarks.peers", "--problems", "tiny", "--methods", *words]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_what_is_not_installed_is_tried_again_and_its_row_replaced(tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    results.write_text(json.dumps({"problem": "tiny", "seed": 1, "method": "RFE", "outcome": "not installed"}))
    first = command("RFE", "--results", str(results))
    assert "| RFE (" in first.stdout, first.stderr
    assert "not installed" not in first.stdout
    assert [row.outcome for row in known(results)] == ["not installed", DONE]
    again = command("RFE", "--results", str(results))
    assert (again.stdout, again.stderr) == (first.stdout, "")


@pytest.mark.parametrize(
    ("outcome", "counts"),
    [
        (DONE, True),
        ("out of time (300 s)", True),
        ("out of time (1e+06 s)", True),
        ("out of time (299.5 s)", False),
        ("not installed", False),
        ("failed: MemoryError", False),
        ("failed: out of time (300 s)", False),
    ],
)
def test_only_what_more_time_would_not_change_counts_as_measured(outcome: str, counts: bool) -> None:
    assert is_measured(Row("tiny", 1, "RFE", outcome), 300.0) is counts


def test_a_later_row_replaces_those_of_its_method_problem_and_seed() -> None:
    old, other, new = Row("tiny", 1, "RFE", "failed: x"), Row("tiny", 2, "RFE", DONE), Row("tiny", 1, "RFE", DONE)
    assert latest([old, other, new]) == [new, other]


@pytest.mark.parametrize("cut", ['{"problem": "ti', "[1]", "null", '{"problem": "tiny"}', "\udcff"])
def test_a_line_that_is_no_row_is_passed_over_and_said(
    cut: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "rows.jsonl"
    results.write_bytes(cut.encode(errors="surrogateescape"))
    row = Row("tiny", 1, "RFE", DONE, "1.0", 1.0, 1.0, 2.0, 2**20, 4, 3, 0.5)
    keep(results, row)
    assert known(results) == [row]
    said = capsys.readouterr().err
    assert said.startswith(f"{results}, line 1 is no row (")
    assert said.count("\n") == 1


def test_a_line_is_strict_json_with_date_machine_and_versions(tmp_path: Path) -> None:
    keep(tmp_path / "rows.jsonl", run(TINY, "RFE", (), tmp_path, ENOUGH))
    line = json.loads((tmp_path / "rows.jsonl").read_text(), parse_constant=pytest.fail)
    assert line["machine"] == machine()
    assert line["versions"]["numpy"] == np.__version__
    assert line["date"].startswith("20")
    assert "seconds" not in line
