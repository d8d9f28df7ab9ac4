"""Reduced problems to compare exact solvers on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Instance:
    """Columns scaled to X_j'X_j = n, shape (features, samples), a centred target, k and gamma."""

    name: str
    X: np.ndarray
    y: np.ndarray
    n_nonzero: int
    gamma: float


def chained(p: int, k: int, n: int, times: float, *, rho: float, seed: int = 0) -> Instance:
    """Columns with correlation rho^|i-j|, k of them relevant, SNR 2, gamma = times / sqrt(n)."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((p, n))
    for j in range(1, p):
        rows[j] = rho * rows[j - 1] + math.sqrt(1 - rho**2) * rows[j]
    truth = rng.choice(p, k, replace=False)
    signal = rng.choice([-1.0, 1.0], k) @ rows[truth]
    y = signal + rng.standard_normal(n) * signal.std() / math.sqrt(2)
    rows -= rows.mean(axis=1, keepdims=True)
    rows *= 1 / rows.std(axis=1, keepdims=True)
    name = f"{p} | {k} | {n:,} | {rho:g} | {times:g}"
    return Instance(name, rows.astype(np.float32), y - y.mean(), k, times / math.sqrt(n))


def backbone(file: Path, times: float) -> Instance:
    """A backbone saved by `benchmarks.exact.backbone`."""
    saved = np.load(file)
    X, y, k = saved["X"], saved["y"], int(saved["n_nonzero"])
    name = f"{len(X)} (backbone) | {k} | {y.size:,} | 0.9 | {times:g}"
    return Instance(name, X, y, k, times / math.sqrt(y.size))
