"""The micro-benchmarks run to their end, and a kernel that is slower than allowed fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SLOW = """
import time
from functools import partial

from benchmarks.micro.pacing import Paced


def test_slow(benchmark):
    work, limit = partial(time.sleep, 0.006), partial(time.sleep, 0.002)
    Paced(benchmark)(work, limit, named="a third of it", at_most=1.5)
"""


def pytest_of(*asked: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which must not take itself for a worker of the pytest that runs this."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    settings = ["-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider", "-q"]
    command = [sys.executable, "-m", "pytest", *settings, *asked]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=250)


def test_every_kernel_runs_beside_its_limit() -> None:
    files = sorted((ROOT / "benchmarks" / "micro").glob("test_*.py"))
    done = pytest_of("benchmarks/micro", "--benchmark-disable")
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^(\d+) passed in", done.stdout, re.MULTILINE)
    assert passed, done.stdout
    assert int(passed[1]) >= sum(file.read_text().count("\ndef test_") for file in files) > 0


def test_a_kernel_slower_than_allowed_fails_when_it_is_timed(tmp_path: Path) -> None:
    (tmp_path / "test_slow.py").write_text(SLOW)
    timed = pytest_of(str(tmp_path), "--benchmark-max-time=0.02", "--benchmark-min-rounds=1")
    assert timed.returncode == 1, timed.stdout + timed.stderr
    assert "times a third of it, at most 1.5 are allowed" in timed.stdout
    untimed = pytest_of(str(tmp_path), "--benchmark-disable")
    assert untimed.returncode == 0, untimed.stdout + untimed.stderr
