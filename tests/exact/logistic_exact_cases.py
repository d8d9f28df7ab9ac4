"""Small classification problems with every kind of trouble in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from exact_cases import planted as planted_regression
from exact_cases import standardised

from backbone_dask.losses.logistic import Margin


@dataclass(frozen=True)
class Case:
    X: np.ndarray
    margin: Margin
    n_nonzero: int
    gamma: float


def draw_case(seed: int) -> Case:
    """Equal, constant and correlated columns, covariates, weights, and labels that some of the columns separate."""
    rng = np.random.default_rng([11, seed])
    p, n, n_nonzero = int(rng.integers(2, 9)), int(rng.integers(6, 50)), int(rng.integers(1, 4))
    common = rng.choice([0.0, 0.5, 0.95])
    rows = np.sqrt(1 - common**2) * rng.standard_normal((p, n)) + common * rng.standard_normal(n)
    if seed % 3 == 0:
        rows[-1] = -rows[0]
    if seed % 4 == 0:
        rows[p // 2] = 0.0
    signal = (rng.standard_normal(p) * (rng.random(p) < 0.5)) @ rows
    y = np.where(signal + rng.choice([0.1, 1.0]) * rng.standard_normal(n) > rng.choice([0.0, 1.0]), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    basis = np.concatenate([np.ones((1, n)), rng.standard_normal((1, n))])[: 1 + (n > 25 and seed % 5 == 0)]
    weights = rng.uniform(0.5, 1.5, n) if seed % 2 else np.ones(n)
    return Case(standardised(rows), Margin.of(y, weights, basis), n_nonzero, 10 ** rng.uniform(-4, 2))


def planted(p: int, k: int, n: int, *, seed: int) -> tuple[np.ndarray, Margin, np.ndarray]:
    X, response, truth = planted_regression(p, k, n, seed=seed)
    return X, Margin.of(np.where(response > 0, 1.0, -1.0)), truth
