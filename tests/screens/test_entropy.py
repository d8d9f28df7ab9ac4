"""Information gain against scikit-learn's mutual information of literal bins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import norm
from screen_cases import DTYPES, classes
from sklearn.metrics import mutual_info_score

from backbone_dask.columns import Columns, measured
from backbone_dask.errors import InvalidSettingError
from backbone_dask.screens.correlation import correlation
from backbone_dask.screens.entropy import Entropy
from backbone_dask.testing.planted import MISSING, Dtype, planted, with_constants
from backbone_dask.testing.strategies import columns as any_columns


def literal(columns: Columns, y: np.ndarray, n_bins: int) -> list[float]:
    gains = []
    for j, row in enumerate(columns.values):
        values = row.astype(np.float64)
        if columns.missing is not None:
            values[row == columns.missing] = columns.mean[j]
        distinct, bins = np.unique(values, return_inverse=True)
        if distinct.size > min(n_bins, y.size // 2):
            ends = columns.mean[j] + columns.scale[j] * norm.ppf(np.arange(1, n_bins) / n_bins)
            bins = np.array([(ends < value).sum() for value in values])
        gains.append(mutual_info_score(y, bins) if columns.scale[j] > 0 else 0.0)
    return gains


def check(columns: Columns, y: np.ndarray, n_bins: int = 9) -> None:
    np.testing.assert_allclose(Entropy(n_bins)(columns, y), literal(columns, y, n_bins), rtol=0, atol=1e-12)


@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("n_samples", [10, 301, 5000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_agrees_with_scikit_learn(dtype: Dtype, n_samples: int, count: int) -> None:
    table = with_constants(planted(n_samples=n_samples, n_features=10, n_relevant=2, dtype=dtype))
    check(table.columns, classes(table.y, count, 1.5))


@pytest.mark.parametrize("n_bins", [2, 3, 10, 64])
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_number_of_bins(dtype: str, n_bins: int) -> None:
    rng = np.random.default_rng(n_bins)
    values = (40 * rng.standard_normal((5, 1000)) + 100).clip(0, 120).astype(dtype)
    check(measured(values)[0], classes(values[2] + 20 * rng.standard_normal(1000), 4), n_bins)


@pytest.mark.parametrize("n_bins", [1, 65])
def test_too_few_or_too_many_bins_are_refused(n_bins: int) -> None:
    with pytest.raises(InvalidSettingError, match="use 2 to 64"):
        Entropy(n_bins)


@pytest.mark.parametrize("count", [1, 2, 8, 9, 10, 40])
@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_of_few_values(dtype: str, count: int) -> None:
    """Up to nine values, wherever they lie and however rare, have a bin each."""
    rng = np.random.default_rng(count)
    values = rng.choice(100, count, replace=False)[rng.integers(0, count, (4, 600))]
    values[:, 0] = 99
    check(measured(values.astype(dtype))[0], classes(values[0] + 10 * rng.standard_normal(600), 3))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("share", [0.02, 0.5])
@pytest.mark.parametrize("high", [3, 50])
def test_missing_values_stand_for_the_mean(dtype: Dtype, share: float, high: int) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, high, (8, 400)).astype(dtype)
    values[rng.random((8, 400)) < share] = MISSING[dtype]
    values[0] = np.tile([0, 1, 2, MISSING[dtype]], 100)  # the mean is a value, too
    check(measured(values, MISSING[dtype])[0], classes(rng.standard_normal(400), 3))


@given(any_columns(min_samples=3))
@settings(max_examples=100)
def test_any_columns(columns: Columns) -> None:
    samples = columns.values.shape[1]
    check(columns, classes(np.random.default_rng(samples).standard_normal(samples), 2 + samples % 2))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_finds_a_feature_that_correlation_misses(dtype: str) -> None:
    rng = np.random.default_rng(2)
    values = rng.standard_normal((200, 1500)).astype(dtype)
    y = ((np.abs(values[17]) > 0.7) ^ (rng.random(1500) < 0.1)).astype(np.float64)
    columns = measured(values)[0]
    assert Entropy()(columns, y).argmax() == 17
    assert correlation(columns, y).argmax() != 17


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_column_that_is_the_class_gains_its_whole_entropy(dtype: str) -> None:
    y = classes(np.random.default_rng(0).standard_normal(600), 6)
    assert Entropy()(measured(y[None].astype(dtype))[0], y)[0] == pytest.approx(np.log(6), abs=1e-12)


def test_a_class_without_samples_is_no_class() -> None:
    table = planted(n_samples=90, n_features=5, n_relevant=1)
    y = classes(table.y, 3)
    np.testing.assert_array_equal(Entropy()(table.columns, 2 * y), Entropy()(table.columns, y))
