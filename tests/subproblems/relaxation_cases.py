"""Tables with a planted model, and literal oracles: c(S) by a dense solve, all swaps one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from backbone_dask.subproblems.relaxation import fit_relaxation
from backbone_dask.values import SparseFit


def standardised(raw: np.ndarray) -> np.ndarray:
    centred = raw - raw.mean(axis=1, keepdims=True)
    scale = centred.std(axis=1, keepdims=True)
    return np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 1e-9).astype(np.float32)


def planted(seed: int, n: int, p: int, k: int, rho: float, snr: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((p, n))
    for j in range(1, p):
        X[j] = rho * X[j - 1] + math.sqrt(1 - rho**2) * X[j]
    truth = np.sort(rng.choice(p, k, replace=False))
    signal = rng.choice([-1.0, 1.0], k) @ X[truth]
    y = signal + rng.standard_normal(n) * signal.std() / math.sqrt(snr)
    return standardised(X), y - y.mean(), truth


def literal_objective(X: np.ndarray, y: np.ndarray, support: np.ndarray, gamma: float) -> float:
    """1/2 |y - X_S w|^2 + 1/(2 gamma) |w|^2 at its minimum, as a least-squares problem with extra rows."""
    rows = X[support].astype(float)
    design = np.vstack([rows.T, np.eye(len(support)) / math.sqrt(gamma)])
    target = np.concatenate([y, np.zeros(len(support))])
    weights = np.linalg.lstsq(design, target, rcond=None)[0]
    return 0.5 * float(np.sum((target - design @ weights) ** 2))


def value_at(X: np.ndarray, y: np.ndarray, found: SparseFit, gamma: float) -> float:
    """The objective as it is written down, at the weights of a fit."""
    residual = y - found.weights @ X[found.support].astype(float)
    return float(0.5 * np.sum(residual**2) + np.sum(found.weights**2) / (2 * gamma))


def fit(X: np.ndarray, y: np.ndarray, k: int, gamma: float | None = None) -> SparseFit:
    return fit_relaxation(X, y, n_nonzero=k, gamma=gamma, seed=0)


def check_promises(X: np.ndarray, y: np.ndarray, k: int, gamma: float, found: SparseFit) -> None:
    assert found.n_columns == X.shape[0]
    assert found.support.size == found.weights.size <= k
    assert np.all(np.diff(found.support) > 0)
    assert np.isfinite(found.weights).all()
    assert np.all(found.weights != 0)
    assert np.abs(X[found.support]).max(axis=1, initial=0).all()
    assert found.objective == pytest.approx(value_at(X, y, found, gamma), rel=1e-9, abs=1e-24 * float(np.sum(y**2)))
    literal = literal_objective(X, y, found.support, gamma)
    assert found.objective == pytest.approx(literal, rel=1e-6, abs=1e-9 * float(np.sum(y**2)))


def best_after_one_swap(X: np.ndarray, y: np.ndarray, support: np.ndarray, gamma: float) -> float:
    outside = np.setdiff1d(np.arange(X.shape[0]), support)
    swapped = (np.append(np.delete(support, i), j) for i in range(support.size) for j in outside)
    return min(literal_objective(X, y, s, gamma) for s in swapped)
