"""abess, best subsets by splicing, in a process of its own that the benchmark talks to by files."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.peers.harness import ONE_THREAD, last_line
from benchmarks.real.answers import Answer
from benchmarks.real.data import NUMBERS
from benchmarks.real.folds import Split
from benchmarks.real.lasso import scaled

SCRIPT = Path(__file__).with_name("abess_process.py")
NO_SCREEN = -1
RIDGES = (0.0, 0.01, 0.1, 1.0, 10.0)
"""What folds choose from beside the size; the extended BIC, which has no term for a ridge, goes without one."""
PATIENCE = 900.0
"""Seconds for one fit."""


class PeerFailedError(RuntimeError):
    """abess ended without an answer, or did not end."""


def best_subset(python: Path, sizes: Sequence[int], split: Split, cv: bool = True, screened: int = NO_SCREEN) -> Answer:
    """The size, and a ridge with it, chosen by five folds, or the size by the extended BIC.

    Covariates are always selected; `screened` columns are left by abess's own screen.
    """
    classes, codes = np.unique(split.y, return_inverse=True)
    offered = {"sizes": list(sizes), "ridges": list(RIDGES) if cv else [0.0], "cv": cv, "screened": screened}
    question = _question(split, codes, classes.size) | offered
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder, "question.npz"), Path(folder, "answer.npz")
        np.savez(asked, **question)
        _answered([python, SCRIPT, asked, told])
        with np.load(told) as found:
            return _answer(split, classes, {name: found[name] for name in found.files})


def _answered(command: list[Path]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | ONE_THREAD, timeout=PATIENCE)
    except subprocess.TimeoutExpired as late:
        raise PeerFailedError(f"no answer within {PATIENCE:g} s") from late
    if done.returncode:
        raise PeerFailedError(last_line(done.stderr) or f"exit code {done.returncode}")


def _question(split: Split, codes: Any, n_classes: int) -> dict[str, Any]:
    X, X_new = _varying(*scaled(split))
    n_always = 0 if split.covariates is None else split.covariates.shape[1]
    if split.covariates is not None:
        X, X_new = np.hstack([split.covariates, X]), np.hstack([split.covariates_new, X_new])
    tables = _parts("X", X) | _parts("X_new", X_new)
    kind = "numbers" if split.task == NUMBERS else "two" if n_classes == 2 else "several"
    y = split.y if kind == "numbers" else codes if kind == "two" else np.eye(n_classes)[codes]
    return {**tables, "y": y, "n_always": n_always, "kind": kind}


def _parts(name: str, X: Any) -> dict[str, Any]:
    """A sparse table as the arrays of its columns."""
    if not sparse.issparse(X):
        return {name: X}
    columns = X.tocsc()
    return {f"{name}_{part}": getattr(columns, part) for part in ("data", "indices", "indptr", "shape")}


def _varying(X: Any, X_new: Any) -> tuple[Any, Any]:
    """abess refuses columns that are constant."""
    varies = _spans(X) > 0
    return X[:, varies], X_new[:, varies]


def _spans(X: Any) -> Any:
    if sparse.issparse(X):
        return (X.max(axis=0) - X.min(axis=0)).toarray().ravel()
    return np.ptp(X, axis=0)


def _answer(split: Split, classes: Any, found: dict[str, Any]) -> Answer:
    n_features, seconds, odds = int(found["n_features"]), float(found["seconds"]), found["odds"]
    if split.task == NUMBERS:
        return Answer(odds, n_features, seconds=seconds)
    labels = classes[(odds > 0).astype(int) if odds.ndim == 1 else odds.argmax(axis=1)]
    return Answer(labels, n_features, odds if odds.ndim == 1 else None, seconds=seconds)
