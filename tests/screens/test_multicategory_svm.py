"""The multi-category hinge loss against the linear programme that defines it, solved by HiGHS."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack
from screen_cases import DTYPES, classes, standard_rows

from backbone_dask.columns import Columns, measured
from backbone_dask.screens.multicategory_svm import multicategory_svm
from backbone_dask.testing.planted import Dtype, planted, with_constants
from backbone_dask.testing.strategies import columns as any_columns


def least_loss(z: np.ndarray, y: np.ndarray) -> float:
    """min mean_i sum_{c != y_i} [1 + b_c + w_c z_i]_+ with both sums 0: variables b, w and one hinge per (i, c)."""
    count = int(y.max()) + 1
    sample, own = np.nonzero(y[:, None] != np.arange(count))
    picks = csr_array((np.ones(own.size), (np.arange(own.size), own)), shape=(own.size, count))
    slopes = csr_array((z[sample], (np.arange(own.size), own)), shape=(own.size, count))
    sums = np.zeros((2, 2 * count + own.size))
    sums[0, :count] = sums[1, count : 2 * count] = 1
    solved = linprog(
        np.r_[np.zeros(2 * count), np.full(own.size, 1 / y.size)],
        A_ub=hstack([picks, slopes, -eye_array(own.size)]).tocsr(),
        b_ub=-np.ones(own.size),
        A_eq=vstack([csr_array(sums)]),
        b_eq=[0, 0],
        bounds=[(None, None)] * (2 * count) + [(0, None)] * own.size,
    )
    return float(solved.fun)


def check(columns: Columns, y: np.ndarray) -> None:
    null = (y.max() + 1) * (1 - np.bincount(y.astype(int)).max() / y.size)
    for z, found in zip(standard_rows(columns), multicategory_svm(columns, y), strict=True):
        assert found == pytest.approx(null - least_loss(z, y) if z.any() else 0.0, abs=1e-6)


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("snr", [0.2, np.inf])
@pytest.mark.parametrize("n_samples", [10, 150])
@pytest.mark.parametrize("count", [2, 3, 4, 6])
@pytest.mark.parametrize("dtype", DTYPES)
def test_agrees_with_the_linear_programme(dtype: Dtype, count: int, n_samples: int, snr: float, power: float) -> None:
    table = with_constants(planted(n_samples=n_samples, n_features=6, n_relevant=1, snr=snr, dtype=dtype, seed=3))
    check(table.columns, classes(table.y, count, power))


@pytest.mark.parametrize(("dtype", "n_samples"), [("float32", 5000), ("float64", 2000), ("int8", 2000)])
def test_agrees_on_many_samples(dtype: Dtype, n_samples: int) -> None:
    table = planted(n_samples=n_samples, n_features=1, n_relevant=1, snr=1, dtype=dtype)
    check(table.columns, classes(table.y, 3))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_missing_values_stand_for_the_mean(dtype: Dtype, share: float) -> None:
    table = planted(n_samples=150, n_features=6, n_relevant=2, dtype=dtype, missing=share)
    check(table.columns, classes(table.y, 3))


@given(any_columns(min_samples=4, max_features=4, max_samples=20))
@settings(max_examples=40)
def test_any_columns(columns: Columns) -> None:
    # HiGHS works to 1e-7: it cannot tell apart values so close that the slope would be a million.
    apart = [np.diff(np.unique(z)).min(initial=1) > 1e-4 for z in standard_rows(columns)]
    samples = columns.values.shape[1]
    check(
        columns[np.flatnonzero(apart)],
        classes(np.random.default_rng(samples).standard_normal(samples), 2 + samples % 3),
    )


def test_wide_integers() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(-127, 128, (3, 120)).astype(np.int8)
    check(measured(values)[0], classes(values[0] + 40 * rng.standard_normal(120), 4))


@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_column_that_tells_the_extreme_classes_takes_off_the_most(dtype: str, count: int) -> None:
    y = classes(np.arange(60.0), count)
    values = np.stack([y, np.roll(y, 7), np.roll(y, 30)]).astype(dtype)
    scores = multicategory_svm(measured(values)[0], y)
    assert scores.argmax() == 0
    if count == 2:
        assert scores[0] == pytest.approx(1.0, abs=1e-6)


def test_a_column_too_weak_to_outvote_the_largest_class_scores_zero() -> None:
    table = planted(n_samples=400, n_features=5, n_relevant=1, snr=1e-6)
    assert multicategory_svm(table.columns, classes(table.y, 2, 3.0)).max() < 1e-6


def test_values_that_nearly_coincide_are_told_apart() -> None:
    """One sample far away squeezes the others, which separate the classes, into a millionth of a scale."""
    y = np.repeat([0.0, 1.0], 50)
    values = np.concatenate([[-1e6], np.linspace(0, 1, 99)])
    for kind in ("float32", "float64"):
        assert multicategory_svm(measured(values[None].astype(kind))[0], y)[0] == pytest.approx(1.0, abs=1e-6)


def test_a_class_without_samples_is_no_class() -> None:
    """As in a training set that a fold left without a class."""
    table = planted(n_samples=90, n_features=5, n_relevant=1)
    y = classes(table.y, 3)
    np.testing.assert_array_equal(multicategory_svm(table.columns, 2 * y), multicategory_svm(table.columns, y))
