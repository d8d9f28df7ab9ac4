"""Room for every column: the one ridge fit, against exact rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exact_cases import NOWHERE, value

from backbone_dask.exact.branch_and_bound import fit_branch_and_bound
from backbone_dask.exact.everything import ridge_bound
from backbone_dask.exact.outer_approximation import fit_outer_approximation
from backbone_dask.values import Outcome, SparseFit, Termination

SOLVERS = [fit_branch_and_bound, fit_outer_approximation]


def solve(fit, X: np.ndarray, y: np.ndarray, gamma: float) -> Outcome[SparseFit]:
    return fit(X, y, n_nonzero=len(X), gamma=gamma, warm_start=NOWHERE, seconds=5, gap_tolerance=1e-4)


def almost_equal_columns(n: int, gap: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two columns, and a target that lives on their small difference."""
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal(n) + gap * rng.standard_normal((2, n))).astype(np.float32)
    difference = X[0].astype(np.float64) - X[1]
    return X, difference / max(difference.std(), 1e-30) + 0.5 * rng.standard_normal(n)


def exact_value(X: np.ndarray, y: np.ndarray, gamma: float) -> Fraction:
    """c of both columns without any rounding, by Cramer's rule."""
    first, second = ([Fraction(float(x)) for x in row] for row in X)
    target, ridge = [Fraction(float(v)) for v in y], 1 / Fraction(gamma)

    def dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
        return sum((x * z for x, z in zip(a, b, strict=True)), Fraction(0))

    a, b, c = dot(first, first) + ridge, dot(first, second), dot(second, second) + ridge
    p, q = dot(first, target), dot(second, target)
    return (dot(target, target) - (c * p * p - 2 * b * p * q + a * q * q) / (a * c - b * b)) / 2


@pytest.mark.parametrize("fit", SOLVERS)
def test_two_columns_that_differ_in_their_last_digits_are_proven_and_not_too_much(fit) -> None:
    X, y = almost_equal_columns(2000, 2e-7, 3)
    outcome = solve(fit, X, y, 1e11)
    assert outcome.bound <= value(X, y, (0, 1), 1e11)
    assert outcome.objective == pytest.approx(value(X, y, (0, 1), 1e11), rel=1e-6)
    assert outcome.termination is Termination.PROVEN


@pytest.mark.parametrize("seed", range(40))
def test_no_bound_exceeds_the_value_in_rationals(seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    X, y = almost_equal_columns(30, 10 ** rng.uniform(-7, -3), seed)
    gamma = float(10 ** rng.uniform(-4, 13))
    best = exact_value(X, y, gamma)
    outcome = solve(SOLVERS[seed % 2], X, y, gamma)
    assert Fraction(outcome.bound) <= best
    assert outcome.objective == pytest.approx(float(best), rel=1e-5)
    assert (outcome.termination is Termination.PROVEN) == (outcome.gap <= 1e-4)


def test_any_vector_gives_a_bound_and_one_against_the_target_gives_none() -> None:
    X, y = almost_equal_columns(30, 0.1, 1)
    rows, best = X.astype(np.float64), exact_value(X, y, 2.0)
    for a in np.random.default_rng(0).standard_normal((20, 30)):
        assert 0 <= ridge_bound(rows, y, 2.0, a) <= best
    assert ridge_bound(rows, y, 2.0, -y) == ridge_bound(rows, y, 2.0, 0 * y) == 0
    assert ridge_bound(0 * rows, y, 2.0, y) == pytest.approx(0.5 * y @ y)
