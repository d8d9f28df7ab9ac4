"""R^2 of a marginal B-spline regression against scipy's basis and a least-squares solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.interpolate import BSpline
from scipy.stats import norm
from screen_cases import DTYPES, standard_rows
from sklearn.linear_model import LinearRegression

from backbone_dask.columns import Columns, measured
from backbone_dask.errors import InvalidSettingError
from backbone_dask.screens.correlation import correlation
from backbone_dask.screens.splines import BOUND, RIDGE, Splines
from backbone_dask.testing.planted import MISSING, Dtype, planted, with_constants
from backbone_dask.testing.strategies import columns as any_columns


def basis(z: np.ndarray, n_knots: int = 5) -> np.ndarray:
    inner = norm.ppf(np.arange(1, n_knots + 1) / (n_knots + 1))
    knots = np.r_[[-BOUND] * 4, inner, [BOUND] * 4]
    return BSpline.design_matrix(np.clip(z, -BOUND, BOUND), knots, 3).toarray()


def explained(z: np.ndarray, y: np.ndarray, n_knots: int = 5) -> float:
    """1 - min (mean (y - f)^2 + RIDGE |coefficients|^2) / var(y), as a least-squares problem with extra rows."""
    design, y = basis(z, n_knots), (y - y.mean()) / y.std()
    size = design.shape[1]
    rows = np.vstack([design / np.sqrt(y.size), np.sqrt(RIDGE) * np.eye(size)])
    right = np.r_[y / np.sqrt(y.size), np.zeros(size)]
    solution = np.linalg.lstsq(rows, right)[0]
    return float(1 - ((right - rows @ solution) ** 2).sum())


def check(columns: Columns, y: np.ndarray, n_knots: int = 5) -> None:
    expected = [explained(z, y, n_knots) if z.any() else 0.0 for z in standard_rows(columns)]
    single = 1e-5 if y.size >= 10 * (n_knots + 4) else 1e-3
    allowed = single if columns.values.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(Splines(n_knots)(columns, y), expected, rtol=0, atol=allowed)


@pytest.mark.parametrize("n_samples", [10, 100, 5000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_agrees_with_least_squares(dtype: Dtype, n_samples: int) -> None:
    table = with_constants(planted(n_samples=n_samples, n_features=10, n_relevant=2, snr=1, dtype=dtype))
    check(table.columns, table.y)


@pytest.mark.parametrize("n_knots", [1, 2, 8, 32])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_any_number_of_knots(dtype: Dtype, n_knots: int) -> None:
    table = planted(n_samples=1000, n_features=5, n_relevant=1, dtype=dtype)
    check(table.columns, table.y, n_knots)


@pytest.mark.parametrize("n_knots", [0, 33])
def test_too_few_or_too_many_knots_are_refused(n_knots: int) -> None:
    with pytest.raises(InvalidSettingError, match="use 1 to 32"):
        Splines(n_knots)


def test_agrees_with_scikit_learn_without_ridge() -> None:
    table = planted(n_samples=5000, n_features=5, n_relevant=1)
    for z, found in zip(standard_rows(table.columns), Splines()(table.columns, table.y), strict=True):
        free = LinearRegression(fit_intercept=False).fit(basis(z), table.y - table.y.mean())
        assert found == pytest.approx(free.score(basis(z), table.y - table.y.mean()), abs=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
def test_genotypes_are_fitted_by_their_means(dtype: Dtype) -> None:
    """Three values, nine functions: the curve passes through the mean of y at each value."""
    rng = np.random.default_rng(5)
    codes = rng.choice(3, (6, 800), p=[0.8, 0.18, 0.02])
    y = rng.standard_normal(800) + (codes[0] == 1)
    expected = [1 - sum(y[row == v].var() * (row == v).mean() for v in range(3)) / y.var() for row in codes]
    np.testing.assert_allclose(Splines()(measured(codes.astype(dtype))[0], y), expected, atol=1e-4)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_missing_values_stand_for_the_mean(dtype: Dtype, share: float) -> None:
    table = planted(n_samples=400, n_features=10, n_relevant=2, dtype=dtype, missing=share)
    check(table.columns, table.y)


def test_wide_integers_with_missing_values() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 256, (4, 700)).astype(np.uint8)
    y = np.cos(values[0] / 40) + rng.standard_normal(700)
    check(measured(values, MISSING["uint8"])[0], y)


@given(any_columns(min_samples=3))
@settings(max_examples=60)
def test_any_columns(columns: Columns) -> None:
    samples = columns.values.shape[1]
    check(columns, np.random.default_rng(samples).standard_normal(samples))


@pytest.mark.parametrize("curve", [np.square, np.abs, lambda x: np.cos(2 * x)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_finds_a_curve_that_correlation_misses(dtype: str, curve: np.ufunc) -> None:
    rng = np.random.default_rng(2)
    values = rng.standard_normal((200, 1500)).astype(dtype)
    y = curve(values[17]) + 0.5 * rng.standard_normal(1500)
    columns = measured(values)[0]
    assert Splines()(columns, y).argmax() == 17
    assert correlation(columns, y).argmax() != 17


def test_a_target_without_variance_scores_nothing() -> None:
    table = planted(n_samples=50, n_features=4, n_relevant=1)
    assert Splines()(table.columns, np.full(50, 3.0)).tolist() == [0, 0, 0, 0]
