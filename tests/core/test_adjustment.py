"""Weights, intercept and covariates, taken out before a squared loss sees the data: against the whole problem."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from backbone_dask.adjustment import adjustment, orthonormal
from backbone_dask.columns import Columns, measured
from backbone_dask.errors import InvalidDataError

N, P, GAMMA = 60, 12, 0.3


def data(seed=0, dtype="float32"):
    rng = np.random.default_rng(seed)
    X = rng.normal(3, 2, (P, N)) if dtype.startswith("f") else rng.integers(0, 3, (P, N))
    return X.astype(dtype), rng.normal(size=N) + 5, rng.exponential(size=N), rng.normal(size=(N, 2))


def whole_problem(X, y, weights, free, scale, gamma):
    """Weighted ridge with free rows, solved at once: the objective, the coefficients of X and of the free rows."""
    design = np.vstack([X / scale[:, None], free])
    penalty = np.diag([1 / gamma] * len(X) + [0.0] * len(free))
    solved = np.linalg.solve(design * weights @ design.T + penalty, design * weights @ y)
    error = y - solved @ design
    objective = 0.5 * (weights * error**2).sum() + (solved[: len(X)] ** 2).sum() / (2 * gamma)
    return objective, solved[: len(X)] / scale, solved[len(X) :]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_covariates", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_ridge_fit_of_the_projected_data_is_that_of_the_whole_problem(dtype, weighted, with_covariates, intercept):
    X, y, weights, C = data(dtype=dtype)
    adjusted = adjustment(
        N,
        sample_weight=weights if weighted else None,
        covariates=C if with_covariates else None,
        fit_intercept=intercept,
    )
    columns = measured(X)[0]
    Z, t = adjusted.projected(columns).astype(np.float64), adjusted.target(y)
    np.testing.assert_allclose((Z**2).sum(axis=1), N, rtol=1e-5)
    np.testing.assert_allclose(Z @ adjusted.basis.T, 0, atol=1e-3)
    w = np.linalg.solve(Z @ Z.T + np.eye(P) / GAMMA, Z @ t)
    objective = 0.5 * ((t - w @ Z) ** 2).sum() + (w @ w) / (2 * GAMMA)
    scale = adjusted.projected_scale(columns)
    free = np.array([*([np.ones(N)] if intercept else []), *(C.T if with_covariates else [])]).reshape(-1, N)
    wanted, coefficients, free_part = whole_problem(X, y, weights if weighted else np.ones(N), free, scale, GAMMA)
    assert objective == pytest.approx(wanted, rel=1e-5)
    np.testing.assert_allclose(w / scale, coefficients, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(adjusted.free_part(y - coefficients @ X), free_part, rtol=1e-6, atol=1e-8)


def test_with_an_intercept_alone_nothing_but_standardising_is_left():
    X, y, *_ = data()
    adjusted = adjustment(N)
    assert adjusted.is_plain
    assert not adjustment(N, fit_intercept=False).is_plain
    np.testing.assert_array_equal(adjusted.projected(measured(X)[0]), measured(X)[0].standardised())
    np.testing.assert_allclose(adjusted.target(y), y - y.mean(), atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_weight_of_two_is_two_samples(intercept):
    X, _, _, C = data()
    weights = np.random.default_rng(1).integers(0, 4, N).astype(float)
    often = np.repeat(np.arange(N), weights.astype(int))
    whole = adjustment(N, sample_weight=weights, covariates=C, fit_intercept=intercept)
    repeated = adjustment(often.size, covariates=C[often], fit_intercept=intercept)
    assert whole.total == repeated.total == often.size
    Z, R = (a.projected(measured(x)[0]).astype(float) for a, x in ((whole, X), (repeated, X[:, often])))
    products = Z @ Z.T * whole.gamma(GAMMA), R @ R.T * repeated.gamma(GAMMA)
    np.testing.assert_allclose(*products, rtol=1e-3, atol=1e-3)


def test_a_column_in_the_span_of_the_covariates_vanishes():
    X, _, weights, C = data(dtype="float64")
    X[3], X[4], X[5] = C @ [1.0, -2.0] + 7, 5.0, 1e6 * C[:, 0]
    adjusted = adjustment(N, sample_weight=weights, covariates=C)
    columns = measured(X)[0]
    assert np.flatnonzero((adjusted.projected(columns) == 0).all(axis=1)).tolist() == [3, 4, 5]
    assert np.flatnonzero(adjusted.projected_scale(columns) == 0).tolist() == [3, 4, 5]


def test_covariates_that_depend_on_each_other_count_once():
    *_, C = data()
    adjusted = adjustment(N, covariates=np.column_stack([C, C @ [1.0, 1.0], np.ones(N)]))
    assert adjusted.basis.shape == (3, N)
    np.testing.assert_allclose(adjusted.basis @ adjusted.basis.T, np.eye(3), atol=1e-12)
    assert orthonormal(np.zeros((2, 5))).shape == (0, 5)


def test_cutting_the_columns_changes_no_bit_and_pickling_neither():
    X = np.random.default_rng(0).normal(size=(700, N)).astype(np.float32)
    columns = measured(X)[0]
    *_, weights, C = data()
    adjusted = adjustment(N, sample_weight=weights, covariates=C)
    whole = adjusted.projected(columns)
    copy = pickle.loads(pickle.dumps(adjusted))
    np.testing.assert_array_equal(copy.projected(columns), whole)
    assert whole.shape == (700, N)
    assert adjusted.projected(columns[:0]).shape == (0, N)


def test_a_missing_value_stands_for_the_mean():
    X = np.random.default_rng(0).integers(0, 3, (P, N)).astype(np.int8)
    X[2, :5] = -128
    *_, weights, C = data()
    adjusted = adjustment(N, sample_weight=weights, covariates=C)
    columns = measured(X, -128)[0]
    filled = np.where(X == -128, columns.mean[:, None], X)
    expected = adjusted.projected(Columns(filled, columns.mean, columns.scale))
    np.testing.assert_allclose(adjusted.projected(columns), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"sample_weight": np.ones(3)}, r"sample_weight has shape \(3,\), the table has 60 samples"),
        ({"sample_weight": [-1.0] + [1.0] * 59}, "sample_weight is -1 at sample 0; it must be 0 or more"),
        ({"sample_weight": [1.0] * 59 + [np.nan]}, "sample_weight is nan at sample 59"),
        ({"sample_weight": np.zeros(N)}, "every sample_weight is zero"),
        ({"covariates": np.ones((3, 2))}, r"covariates have shape \(3, 2\), the table has 60 samples"),
        ({"covariates": np.where(np.arange(N) == 7, np.nan, 1.0)}, "covariates contain NaN or infinity at sample 7"),
    ],
)
def test_bad_input_is_named(given, complaint):
    with pytest.raises(InvalidDataError, match=complaint):
        adjustment(N, **given)
