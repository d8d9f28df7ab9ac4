"""Small classification problems with every kind of trouble in them, and a literal fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from backbone_dask.losses.logistic import Margin


@dataclass(frozen=True)
class Case:
    rows: np.ndarray
    margin: Margin
    gamma: float


def draw_case(seed: int) -> Case:
    """Rows of mean 0 and square n, two labels, weights and a basis with and without an intercept and a covariate."""
    rng = np.random.default_rng([7, seed])
    k, n = int(rng.integers(0, 6)), int(rng.integers(4, 60))
    rows = rng.standard_normal((k, n))
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt((rows**2).mean(axis=1, keepdims=True))
    noise = rng.choice([0.3, 3.0])
    y = np.where(rng.standard_normal(k) @ rows + noise * rng.standard_normal(n) + rng.choice([0, 1.5]) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weights = rng.exponential(size=n) if seed % 3 == 0 else np.ones(n)
    basis = np.concatenate([np.ones((1, n)), rng.standard_normal((2, n))])[: seed % 4 if n > 20 else seed % 2]
    return Case(rows, Margin.of(y, weights * n / weights.sum(), basis), 10 ** rng.uniform(-3, 2))


def literal(case: Case, weights: np.ndarray, free: np.ndarray) -> float:
    """The objective as it is written down."""
    u = weights @ case.rows + free @ case.margin.basis
    loss = (case.margin.weights * np.log1p(np.exp(-case.margin.y * u))).sum()
    return float(loss + (weights**2).sum() / (2 * case.gamma))


def least(case: Case) -> float:
    """The least objective, by BFGS on the literal one."""
    k, q = len(case.rows), len(case.margin.basis)
    if k + q == 0:
        return literal(case, np.empty(0), np.empty(0))
    found = minimize(lambda point: literal(case, point[:k], point[k:]), np.zeros(k + q), tol=1e-10)
    return float(found.fun)
