"""Prices of columns against exact rationals: never below |X_j'a| of the prepared columns, and hardly above."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backbone_dask.adjustment import Adjustment, adjustment
from backbone_dask.columns import Columns, measured
from backbone_dask.problems.linear import LinearTask
from backbone_dask.problems.logistic import LogisticTask
from backbone_dask.runtime.sources import weighted_source
from backbone_dask.screens.prices import PricePanel
from backbone_dask.settings import Settings
from backbone_dask.store.excerpt import Excerpt
from backbone_dask.testing.planted import MISSING
from backbone_dask.testing.strategies import columns as any_columns

P, N = 7, 45
SHARE = 3e-6
"""Of sqrt(n) |a|: what a price may be too large by; the rounding of columns to float32 alone takes up to 6e-8."""
SITUATIONS = ["plain", "weights", "zero weights", "covariates", "weighted covariates", "no intercept", "bare weights"]
TASKS = ["regression", "classification"]


@dataclass(frozen=True)
class Priced:
    """What a panel says of the columns of a table, next to the columns as a solver takes them."""

    prices: np.ndarray
    X: np.ndarray
    a: np.ndarray

    @property
    def excess(self) -> np.ndarray:
        """Price - |X_j'a| over sqrt(n) |a| without any rounding before the last, where the column is not all zero."""
        a = [Fraction(float(value)) for value in self.a]
        unit = Fraction(float(np.abs(self.a).max())) * Fraction(
            float(np.linalg.norm(self.a / np.abs(self.a).max()) * self.a.size**0.5)
        )
        exact = [abs(sum((Fraction(float(x)) * v for x, v in zip(row, a, strict=True)), Fraction(0))) for row in self.X]
        over = [(Fraction(float(price)) - true) / unit for price, true in zip(self.prices, exact, strict=True)]
        return np.array([float(each) for each in over])

    def check(self, share: float = SHARE) -> None:
        excess = self.excess
        assert (excess >= 0).all()
        assert (excess[self.X.any(axis=1)] <= share).all()


def table(dtype: str, *, scale: float = 1.0, mean: float = 0.0, seed: int = 0) -> np.ndarray:
    """Columns (P, N): one of them constant, one equal to another; integers lack some of their values."""
    rng = np.random.default_rng(seed)
    if dtype == "int8":
        values = rng.integers(-2, 3, (P, N)).astype(np.int8)
        values[rng.random((P, N)) < 0.2] = MISSING["int8"]
    else:
        values = ((rng.standard_normal((P, N)) + mean) * scale).astype(dtype)
    values[2], values[4] = values[2, 0], values[1]
    return values


def adjusted(situation: str, seed: int = 0) -> Adjustment:
    rng = np.random.default_rng([1, seed])
    asked = {}
    if "weight" in situation:
        asked["sample_weight"] = rng.uniform(0.2, 3.0, N)
    if situation == "zero weights":
        asked["sample_weight"] = np.where(rng.random(N) < 0.4, 0.0, asked["sample_weight"])
    if "covariates" in situation:
        asked["covariates"] = rng.standard_normal((N, 2)) * [1.0, 1e3]
    return adjustment(N, fit_intercept=situation not in ("no intercept", "bare weights"), **asked)


def task_of(name: str, shared: Adjustment) -> LinearTask | LogisticTask:
    y = np.random.default_rng(5).standard_normal(shared.n_samples)
    return LinearTask(y, shared) if name == "regression" else LogisticTask(np.where(y > 0, 1.0, -1.0), shared)


def columns_of(values: np.ndarray, shared: Adjustment) -> Columns:
    missing = MISSING["int8"] if values.dtype == np.int8 else None
    ids = np.arange(len(values))
    return weighted_source(Excerpt(ids, measured(values, missing)[0]), shared.weights).gather(ids)


def price(values: np.ndarray, name: str, shared: Adjustment, a: np.ndarray) -> Priced:
    task, columns = task_of(name, shared), columns_of(values, shared)
    prepare = task.problem(Settings(n_nonzero=2).resolve(n_samples=N, n_features=P)).prepare
    return Priced(task.pricing(a)(columns)[0], prepare(columns), a)


def vectors(size: float = 1.0) -> np.ndarray:
    """Any, one far from 0, one of a single sample."""
    a = np.random.default_rng(9).standard_normal((3, N)) * size
    a[1] += 3 * size
    a[2, 1:] = 0
    return a


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_a_price_is_never_below_the_product_and_hardly_above(dtype: str, situation: str, name: str) -> None:
    for a in vectors():
        price(table(dtype), name, adjusted(situation), a).check()


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
def test_columns_of_extreme_scale(scale: float, situation: str, name: str) -> None:
    price(table("float64", scale=scale), name, adjusted(situation), vectors()[0]).check()


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("situation", [each for each in SITUATIONS if each not in ("no intercept", "bare weights")])
@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e140])
def test_columns_far_from_zero(scale: float, situation: str, name: str) -> None:
    """A mean of a million scales: the sums lose what the columns themselves lost."""
    price(table("float64", scale=scale, mean=1e6), name, adjusted(situation), vectors()[0]).check()
    price(table("float32", scale=1.0, mean=1e3), name, adjusted(situation), vectors()[0]).check()


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("situation", ["no intercept", "bare weights"])
@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e140])
def test_columns_far_from_zero_that_keep_their_mean(scale: float, situation: str, name: str) -> None:
    price(table("float64", scale=scale, mean=1e6), name, adjusted(situation), vectors()[0]).check()


@pytest.mark.parametrize("name", TASKS)
def test_a_column_whose_squares_are_no_numbers_may_be_the_dearest(name: str) -> None:
    priced = price(table("float64", scale=1e150, mean=1e6), name, adjusted("no intercept"), vectors()[0])
    assert np.isfinite(priced.X).all()
    assert set(priced.prices[[0, 1, 3, 4, 5, 6]]) == {np.finfo(float).max}


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("situation", ["plain", "weighted covariates", "no intercept"])
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-8, 1e8, 1e160, 1e300])
def test_vectors_of_any_length(size: float, situation: str, name: str) -> None:
    price(table("float32"), name, adjusted(situation), vectors(size)[1]).check()


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_vector_zero_makes_every_price_zero(situation: str, name: str) -> None:
    assert price(table("float64"), name, adjusted(situation), np.zeros(N)).prices.tolist() == [0.0] * P


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_column_is_dearest_against_itself(situation: str, name: str) -> None:
    """|X_j'X_j| = |X_j|^2: a panel that forgot a part of the preparation would be off by that part."""
    values, shared = table("float64"), adjusted(situation)
    row = price(values, name, shared, np.ones(N)).X[0].astype(np.float64)
    found = price(values, name, shared, row)
    found.check()
    assert found.prices[0] == pytest.approx(row @ row, rel=1e-5)


@pytest.mark.parametrize("left", [1e-1, 1e-2, 1e-3, 2e-4, 5e-5, 3e-6])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_that_covariates_almost_explain(left: float, weighted: bool) -> None:
    """Little of a column is left, and that is scaled up, its rounding with it."""
    values, rng = table("float64"), np.random.default_rng(3)
    cause = (values[0] - values[0].mean()) / values[0].std() + left * rng.standard_normal(N)
    weights = rng.uniform(0.5, 2.0, N) if weighted else None
    shared = adjustment(N, sample_weight=weights, covariates=cause[:, None])
    priced = price(values, "regression", shared, shared.target(rng.standard_normal(N)))
    assert priced.X[0].any()
    # Squares do not tell so little from nothing: the price is then one that no column has.
    priced.check(share=SHARE + 1e-11 / left**2)


@pytest.mark.parametrize("name", TASKS)
def test_columns_in_the_span_of_covariates_cost_no_less_than_nothing(name: str) -> None:
    values = table("float64")
    shared = adjustment(N, covariates=np.array([values[0], values[1] - 3 * values[0]]).T)
    priced = price(values, name, shared, vectors()[0])
    assert priced.X[[0, 1]].any() == (name == "classification")
    assert (priced.excess >= 0).all()


def test_a_vector_that_lies_in_the_span_of_the_covariates_is_priced_whole() -> None:
    shared = adjusted("covariates")
    a = 1e4 * shared.basis[1] + vectors()[0] / N
    assert (price(table("float64"), "regression", shared, a).excess >= 0).all()


def test_a_vector_that_is_mostly_the_sample_weights_is_priced_whole() -> None:
    shared = adjusted("weights")
    a = 1e4 * shared.weights + vectors()[0]
    assert (price(table("float64"), "classification", shared, a).excess >= 0).all()


@given(any_columns(min_samples=2), st.integers(0, 10**6))
@settings(max_examples=60)
def test_any_columns(columns: Columns, seed: int) -> None:
    a = np.random.default_rng(seed).standard_normal(columns.values.shape[1])
    Priced(PricePanel.along(a)(columns)[0], columns.standardised(), a).check()


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_blocks_change_no_bits(dtype: str, situation: str, name: str) -> None:
    shared = adjusted(situation)
    panel, columns = task_of(name, shared).pricing(vectors()[0]), columns_of(table(dtype), shared)
    for cut in (1, 3, P - 1):
        parts = [panel(columns[:cut])[0], panel(columns[cut:])[0]]
        np.testing.assert_array_equal(np.concatenate(parts), panel(columns)[0])


def test_values_that_do_not_go_with_their_mean_are_priced_as_they_are() -> None:
    """A price is of the numbers that are there: a wrong mean moves the prepared column and its price alike."""
    columns = measured(table("float64"))[0]
    moved = Columns(columns.values, columns.mean + 0.5 * columns.scale, columns.scale)
    a = vectors()[1]
    Priced(PricePanel.along(a)(moved)[0], moved.standardised(), a).check()
