"""Small regression problems with every kind of trouble in them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

NOWHERE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Case:
    X: np.ndarray
    y: np.ndarray
    n_nonzero: int
    gamma: float


def standardised(rows: np.ndarray) -> np.ndarray:
    centred = rows - rows.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    scale = np.sqrt(rows.shape[1]) / np.where(norms > 1e-9, norms, 1.0)
    return np.where(norms > 1e-9, centred * scale, 0.0).astype(np.float32)


def draw_case(seed: int) -> Case:
    rng = np.random.default_rng([2026, seed])
    p, n, n_nonzero = int(rng.integers(2, 13)), int(rng.integers(4, 60)), int(rng.integers(1, 4))
    common = rng.choice([0.0, 0.5, 0.95])
    rows = np.sqrt(1 - common**2) * rng.standard_normal((p, n)) + common * rng.standard_normal(n)
    if seed % 3 == 0:
        rows[-1] = -rows[0]
    if seed % 4 == 0:
        rows[p // 2] = 0.0
    signal = (rng.standard_normal(p) * (rng.random(p) < 0.3)) @ rows
    y = (signal + rng.choice([0.1, 1.0]) * rng.standard_normal(n)) * 10 ** rng.uniform(-6, 6) + rng.choice([0.0, 3.0])
    return Case(standardised(rows), y, n_nonzero, 10 ** rng.uniform(-8, 8))


def planted(p: int, k: int, n: int, *, rho: float = 0.9, snr: float = 2.0, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Rows of an AR(1) process, a target on k of them, and which."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((p, n))
    for j in range(1, p):
        rows[j] = rho * rows[j - 1] + np.sqrt(1 - rho**2) * rows[j]
    truth = np.sort(rng.choice(p, k, replace=False))
    signal = rng.choice([-1.0, 1.0], k) @ rows[truth]
    y = signal + rng.standard_normal(n) * np.sqrt(signal.var() / snr)
    return standardised(rows), y - y.mean(), truth


def objective(X: np.ndarray, y: np.ndarray, support: tuple[int, ...] | np.ndarray, gamma: float) -> float:
    """c(S), from the samples."""
    rows, target = X[list(support)].astype(np.float64), y - y.mean()
    weights = np.linalg.solve(rows @ rows.T + np.eye(len(rows)) / gamma, rows @ target)
    residual = target - weights @ rows
    return float(0.5 * residual @ residual + weights @ weights / (2 * gamma))


def brute_force(case: Case) -> float:
    size = min(case.n_nonzero, len(case.X))
    return min(objective(case.X, case.y, support, case.gamma) for support in combinations(range(len(case.X)), size))


def value(X: np.ndarray, y: np.ndarray, support: tuple[int, ...], gamma: float) -> float:
    """c(S) from the samples, by least squares on stacked rows: no product of columns is ever formed."""
    rows = X[list(support)].astype(np.float64)
    stacked = np.vstack([rows.T, np.eye(len(rows)) / np.sqrt(gamma)])
    weights = np.linalg.lstsq(stacked, np.append(y, np.zeros(len(rows))), rcond=None)[0]
    residual = y - weights @ rows
    return float(0.5 * residual @ residual + weights @ weights / (2 * gamma))


def least(case: Case) -> float:
    size = min(case.n_nonzero, len(case.X))
    return min(value(case.X, case.y, support, case.gamma) for support in combinations(range(len(case.X)), size))
