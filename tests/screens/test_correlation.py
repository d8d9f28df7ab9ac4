"""|cor(X_j, y)| against scipy, in float64, for every dtype."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import pearsonr
from threadpoolctl import threadpool_limits

from backbone_dask.columns import Columns, measured
from backbone_dask.screens.correlation import correlation
from backbone_dask.testing.planted import MISSING, Dtype, planted, with_constants
from backbone_dask.testing.strategies import columns as any_columns

SINGLE, DOUBLE = 1e-5, 1e-12
"""The stated accuracy: float64 columns are scored in float64, the others in float32."""


def accuracy(columns: Columns) -> float:
    return DOUBLE if columns.values.dtype == np.float64 else SINGLE


def literal(columns: Columns, y: np.ndarray) -> np.ndarray:
    """Missing values become the mean of the others; constants score 0."""
    scores = np.zeros(columns.n_features)
    for j, row in enumerate(columns.values):
        present = row != columns.missing if columns.missing is not None else np.ones(row.size, bool)
        values = row.astype(np.float64)
        if np.unique(row[present]).size > 1:
            values[~present] = values[present].mean()
            scores[j] = abs(pearsonr(values, y).statistic)
    return scores


def check(columns: Columns, y: np.ndarray) -> None:
    np.testing.assert_allclose(correlation(columns, y), literal(columns, y), rtol=0, atol=accuracy(columns))


@pytest.mark.parametrize("n_samples", [3, 8, 1000, 20_001])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8"])
def test_agrees_with_scipy(dtype: Dtype, n_samples: int) -> None:
    table = with_constants(planted(n_samples=n_samples, n_features=20, n_relevant=4, rho=0.5, dtype=dtype))
    check(table.columns, table.y)


@pytest.mark.parametrize("mean", [1e6, -1e6])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_far_from_zero(dtype: str, mean: float) -> None:
    table = planted(n_samples=2000, n_features=10, n_relevant=2, dtype="float64")
    check(measured((table.columns.values + mean).astype(dtype))[0], table.y)


@pytest.mark.parametrize("mean", [1e6, -1e9])
def test_a_target_far_from_zero(mean: float) -> None:
    table = planted(n_samples=2000, n_features=10, n_relevant=2)
    check(table.columns, table.y + mean)


@pytest.mark.parametrize("size", [1e-30, 1e-6, 1e6, 1e30])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_of_any_size(dtype: str, size: float) -> None:
    table = planted(n_samples=500, n_features=10, n_relevant=2, dtype="float64")
    check(measured((table.columns.values * size).astype(dtype))[0], table.y)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.95])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_missing_values_stand_for_the_mean(dtype: Dtype, share: float) -> None:
    table = planted(n_samples=400, n_features=20, n_relevant=4, dtype=dtype, missing=share)
    check(table.columns, table.y)


@pytest.mark.parametrize("share", [0.5, 0.01, 0.002])
def test_values_that_are_missing_where_the_target_is_large(share: float) -> None:
    """A mean far from 0 and a small spread: the rounding of the mean must not count."""
    rng = np.random.default_rng(0)
    y = rng.standard_normal(3000)
    values = np.where(rng.random((20, 3000)) < share, 253, 254).astype(np.uint8)
    values[:, y > 0.5] = MISSING["uint8"]
    check(measured(values, MISSING["uint8"])[0], y)


@given(any_columns(min_samples=2))
@settings(deadline=None)
def test_any_columns(columns: Columns) -> None:
    samples = columns.values.shape[1]
    y = np.random.default_rng(samples).standard_normal(samples)
    scores = correlation(columns, y)
    assert ((scores >= 0) & (scores <= 1)).all()
    np.testing.assert_array_equal(scores[columns.scale == 0], 0)
    expected = np.abs(columns.standardised() @ ((y - y.mean()) / y.std())) / samples
    np.testing.assert_allclose(scores, expected, atol=2 * SINGLE)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_column_that_is_the_target_scores_one_and_no_more(dtype: str, sign: int) -> None:
    """Without a limit, rounding takes about half of these above 1."""
    for samples in range(3, 80):
        y = np.random.default_rng(samples).standard_normal(samples)
        score = correlation(measured((sign * 3 * y + 5).astype(dtype)[None])[0], y)[0]
        assert 1 - 1e-5 <= score <= 1


def test_a_target_without_variance_scores_nothing() -> None:
    table = planted(n_samples=50, n_features=4, n_relevant=1)
    assert correlation(table.columns, np.full(50, 3.0)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 + 0.1, -3e-20])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_constants_score_exactly_zero(dtype: str, value: float) -> None:
    y = np.random.default_rng(2).standard_normal(1001)
    assert correlation(measured(np.full((2, 1001), value, dtype))[0], y).tolist() == [0, 0]


@pytest.mark.parametrize("scale", [1e-37, 1e-30, 1e30, 9e37])
def test_float32_columns_of_extreme_scale(scale):
    rng = np.random.default_rng(0)
    values = (rng.normal(size=(5, 300)) / 4 * scale).astype(np.float32)
    y = values[0].astype(float) / scale + rng.normal(size=300)
    expected = [abs(pearsonr(row.astype(float) / scale, y)[0]) for row in values]
    np.testing.assert_allclose(correlation(measured(values)[0], y), expected, atol=1e-5)


def test_bits_do_not_depend_on_blas_threads():
    """OpenBLAS splits inner products of more than 10,000 terms among its threads."""
    rng = np.random.default_rng(1)
    columns = measured(rng.normal(size=(3, 30_001)))[0]
    for _ in range(20):
        y = rng.normal(size=30_001)
        with threadpool_limits(1):
            one = correlation(columns, y)
        with threadpool_limits(2):
            np.testing.assert_array_equal(correlation(columns, y), one)


@pytest.mark.parametrize("scale", [1e160, 1e300, 1e-300])
def test_targets_of_any_size(scale):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 50)), rng.normal(size=50)
    columns = measured(X)[0]
    np.testing.assert_allclose(correlation(columns, y * scale), correlation(columns, y), atol=1e-12)


def test_values_that_do_not_go_with_their_mean_and_scale_have_no_score():
    """Another program wrote to the store after it was measured."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (4, 50)).astype(np.int8), rng.normal(size=50)
    columns = measured(X)[0]
    changed = X.copy()
    changed[2, y.argmax()] = -128
    scores = correlation(Columns(changed, columns.mean, columns.scale), y)
    assert np.isnan(scores[2])
    assert np.isfinite(scores[[0, 1, 3]]).all()
