"""Methods in processes of their own, one thread each: what came of every one is a row, whatever it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks.machine import today
from benchmarks.peers.methods import METHODS
from benchmarks.peers.problems import Problem

ROOT = Path(__file__).parents[2]
POOLS = ("OMP", "OPENBLAS", "MKL", "NUMBA", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")
ONE_THREAD = {f"{pool}_NUM_THREADS": "1" for pool in POOLS}
DONE = "done"


@dataclass(frozen=True)
class Limits:
    """Of one process: seconds by the clock for all that it does, and memory."""

    seconds: float
    gib: float


@dataclass(frozen=True)
class Row:
    """One method on one problem: `outcome` is DONE, or says why there are no figures.

    `version` is that of the method's library, `python` and `numpy` are those of the interpreter that ran it.
    """

    problem: str
    seed: int
    method: str
    outcome: str
    version: str = ""
    seconds: float = np.nan
    cpu: float = np.nan
    first_seconds: float = np.nan
    peak_bytes: float = np.nan
    size: int = 0
    hits: int = 0
    score: float = np.nan
    python: str = ""
    numpy: str = ""
    date: str = ""


def run(problem: Problem, method: str, pythons: Sequence[str], folder: Path, limits: Limits) -> Row:
    """The row of a method on a problem whose files are in the folder."""

    def row(outcome: str) -> Row:
        return Row(problem.name, problem.recipe.seed, method, outcome, date=today())

    python = interpreter_with(METHODS[method].module, tuple(pythons))
    if python is None:
        return row("not installed")
    answer = folder / "answer.json"
    answer.unlink(missing_ok=True)
    asked = [method, str(folder), str(limits.seconds), str(limits.gib), str(os.getpid())]
    try:
        done = subprocess.run(
            [python, "-W", "ignore", "-m", "benchmarks.peers.child", *asked],
            timeout=limits.seconds,
            capture_output=True,
            text=True,
            env=environment(),
        )
    except subprocess.TimeoutExpired:
        return row(f"out of time ({limits.seconds:g} s)")
    if done.returncode or not answer.exists():
        return row(f"failed: {last_line(done.stderr) or f'exit code {done.returncode}'}")
    return measured(problem, method, json.loads(answer.read_text()))


def measured(problem: Problem, method: str, answer: dict[str, object]) -> Row:
    """What a child wrote, beside the truth, which it did not have."""
    support, predictions = answer.pop("support"), np.array(answer.pop("predictions"))
    score = r2_score if problem.metric == "R2" else roc_auc_score
    return Row(
        problem.name,
        problem.recipe.seed,
        method,
        DONE,
        size=len(support),  # type: ignore[arg-type]
        hits=int(np.isin(problem.relevant, support).sum()),
        score=float(score(problem.test_target, predictions)),
        date=today(),
        **answer,  # type: ignore[arg-type]
    )


def environment() -> dict[str, str]:
    return {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT)}


@lru_cache
def interpreter_with(module: str, pythons: tuple[str, ...]) -> str | None:
    """The first interpreter that has a module; our own package is fitted by the interpreter that runs this."""
    if module == "backbone_dask":
        return sys.executable
    probe = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return next((python for python in pythons if not subprocess.run([python, "-c", probe]).returncode), None)


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""
