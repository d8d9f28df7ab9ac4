"""Non-negative least squares against scipy's solver on the samples themselves, and its optimality conditions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from backbone_dask.losses.nonnegative import _by_lawson_hanson, nonnegative_weights
from backbone_dask.losses.structured import ActiveFit, fit_weights
from backbone_dask.structure import Structure


def reference(rows: np.ndarray, y: np.ndarray, gamma: float) -> np.ndarray:
    design = np.vstack([rows.T, np.eye(len(rows)) / math.sqrt(gamma)])
    return nnls(design, np.concatenate([y, np.zeros(len(rows))]))[0]


def draw(seed: int, q: int, n: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((q, n))
    if kind == "alike":
        rows = rows + 5 * rng.standard_normal(n)
    elif kind == "opposed":
        rows[q // 2 :] = -rows[: q - q // 2]
    return rows, rng.standard_normal(n) + rows[0]


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 25),
    st.integers(2, 40),
    st.sampled_from(["free", "alike", "opposed"]),
    st.floats(-3, 3),
)
@settings(max_examples=200, deadline=None)
def test_scipy_agrees(seed: int, q: int, n: int, kind: str, log_gamma: float) -> None:
    rows, y = draw(seed, q, n, kind)
    gamma = 10**log_gamma
    found = nonnegative_weights(rows @ rows.T + np.eye(q) / gamma, rows @ y)
    expected = reference(rows, y, gamma)
    assert (found >= 0).all()
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * max(expected.max(), 1e-3))


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.floats(-12, 12))
@settings(max_examples=100, deadline=None)
def test_the_optimality_conditions_hold(seed: int, q: int, log_scale: float) -> None:
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((q, q + 1))
    system, b = factor @ factor.T + 1e-6 * np.eye(q), 10**log_scale * rng.standard_normal(q)
    weights = nonnegative_weights(system, b)
    slopes, size = system @ weights - b, np.abs(system) @ weights + np.abs(b)
    assert (weights >= 0).all()
    assert (slopes >= -1e-10 * size).all()
    assert (np.abs(slopes[weights > 0]) <= 1e-9 * size[weights > 0]).all()


def test_the_fallback_is_the_same_minimiser() -> None:
    for seed in range(20):
        rows, y = draw(seed, 12, 30, "alike")
        system, b = rows @ rows.T + np.eye(12), rows @ y
        np.testing.assert_allclose(_by_lawson_hanson(system, b), nonnegative_weights(system, b), atol=1e-9)


def test_correlations_that_are_all_negative_leave_nothing() -> None:
    rows, _ = draw(1, 5, 20, "alike")
    assert not nonnegative_weights(rows @ rows.T + np.eye(5), -np.ones(5)).any()


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("gamma", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_duplicate_columns_have_weights_at_every_gamma(nonnegative: bool, gamma: float) -> None:
    rows, y = draw(2, 4, 30, "free")
    rows = np.concatenate([rows, rows, np.zeros((1, 30))])
    weights = fit_weights(rows @ rows.T, rows @ y, gamma, Structure.single(9, nonnegative=nonnegative))
    assert np.isfinite(weights).all()
    assert weights[8] == 0
    if gamma == 1e12:
        # The least squares on four columns; each of two equal ones takes half of the weight.
        expected = nnls(rows[:4].T, y)[0] if nonnegative else np.linalg.lstsq(rows[:4].T, y)[0]
        np.testing.assert_allclose(weights[:4] + weights[4:8], expected, atol=1e-5)


def test_no_columns_have_no_weights() -> None:
    for nonnegative in (False, True):
        structure = Structure.single(0, nonnegative=nonnegative)
        assert fit_weights(np.empty((0, 0)), np.empty(0), 1.0, structure).size == 0


@given(st.integers(0, 2**32 - 1), st.floats(-3, 3))
@settings(max_examples=50, deadline=None)
def test_removal_costs_are_those_of_the_refits(seed: int, log_gamma: float) -> None:
    rows, y = draw(seed, 7, 30, "alike")
    groups, gamma = np.array([2, 0, 2, 1, 1, 2, 3]), 10**log_gamma
    gram, b = rows @ rows.T, rows @ y

    def explained(kept: np.ndarray) -> float:
        return 0.5 * float(b[kept] @ np.linalg.solve(gram[np.ix_(kept, kept)] + np.eye(kept.size) / gamma, b[kept]))

    everything = np.arange(7)
    weights = np.linalg.solve(gram + np.eye(7) / gamma, b)
    costs = ActiveFit.of(gram, weights, gamma, groups).costs
    for group in range(4):
        rise = explained(everything) - explained(np.flatnonzero(groups != group))
        assert costs[group] == pytest.approx(rise, rel=1e-6, abs=1e-9 * float(y @ y))
