"""The micro-benchmarks run to their end, and a kernel that is slower than allowed fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.micro.pacing import ALLOWED, Paced
from benchmarks.micro.usual import USUAL

ROOT = Path(__file__).parents[2]
MICRO = ROOT / "benchmarks" / "micro"
# A kernel that takes so many tenths of the time of its limit.
TIMES = """
import numpy as np

from benchmarks.micro.pacing import Paced

NUMBERS = np.random.default_rng(0).random(1_000)


def test_times(benchmark):
    Paced(benchmark, usual=1.0)(lambda: sort({tenths}), lambda: sort(10), named="its limit")


def sort(times):
    for _ in range(times):
        np.sort(NUMBERS)
"""


def pytest_of(*asked: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which must not take itself for a worker of the pytest that runs this."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    settings = ["-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider", "-q"]
    command = [sys.executable, "-m", "pytest", *settings, *asked]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=250)


def test_every_kernel_runs_beside_its_limit() -> None:
    done = pytest_of("benchmarks/micro", "--benchmark-disable")
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^(\d+) passed in", done.stdout, re.MULTILINE)
    assert passed, done.stdout
    tests = sum(file.read_text().count("\ndef test_") for file in MICRO.glob("test_*.py"))
    assert int(passed[1]) == len(USUAL) >= tests > 0


@pytest.mark.parametrize(("tenths", "failures"), [(12, 0), (20, 1)])
def test_a_kernel_fails_where_it_is_slower_than_allowed(tmp_path: Path, tenths: int, failures: int) -> None:
    (tmp_path / "test_times.py").write_text(TIMES.format(tenths=tenths))
    timed = pytest_of(str(tmp_path), "--benchmark-max-time=0.02", "--benchmark-min-rounds=1")
    assert timed.returncode == failures, timed.stdout + timed.stderr
    assert ("times its limit, at most 1.50 are allowed" in timed.stdout) == bool(failures)


def test_nothing_is_judged_where_nothing_is_timed(tmp_path: Path) -> None:
    (tmp_path / "test_times.py").write_text(TIMES.format(tenths=20))
    untimed = pytest_of(str(tmp_path), "--benchmark-disable")
    assert untimed.returncode == 0, untimed.stdout + untimed.stderr


@pytest.mark.parametrize(("spoilt", "times"), [(0, 1.2), (39, 1.2), (40, 3.6)])
def test_one_quiet_round_is_enough(monkeypatch: pytest.MonkeyPatch, spoilt: int, times: float) -> None:
    """Other work that makes the kernel three times slower in all rounds but one does not change its ratio."""
    taken = {"work": [3.6] * spoilt + [1.2] * (40 - spoilt), "limit": [1.0] * 40}
    monkeypatch.setattr("benchmarks.micro.pacing.in_turns", lambda cases, rounds: taken)
    benchmark = Pretended(enabled=True, disabled=False, extra_info={})
    paced = Paced(benchmark, usual=1.0)
    if times > ALLOWED:
        with pytest.raises(AssertionError, match=r"3\.60 times"):
            paced(int, int, named="its limit")
    else:
        paced(int, int, named="its limit")
    assert benchmark.extra_info["times"] == times


class Pretended(SimpleNamespace):
    """What pytest-benchmark gives a test."""

    def __call__(self, work: object) -> None:
        pass


def test_the_printed_table_follows_the_rule() -> None:
    """Its usual ratios are those that the tests judge by, and what it measured was allowed."""
    printed, _ = (MICRO / "RESULTS.md").read_text().split("## What it sees")
    table = [line.strip("| ").split(" | ") for line in printed.splitlines() if line.startswith("|")]
    assert {kernel: float(usual) for kernel, *_, usual, _ in table[2:]} == USUAL
    for kernel, _, _, times, usual, allowed in table[2:]:
        assert float(allowed) == pytest.approx(ALLOWED * float(usual), abs=0.006), kernel
        assert float(times) <= float(allowed), kernel
