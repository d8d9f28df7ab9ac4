"""Coefficients without a ridge, against fits by other libraries and against what has none."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from backbone_dask.problems.extras import Extras
from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.settings import Settings
from backbone_dask.store import MemoryStore

N = 200


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    X = rng.normal(3, 1, (N, 30))
    X[:, 1] *= 50
    return X, X[:, 1] / 50 - X[:, 2] + rng.logistic(size=N), rng.normal(size=(N, 1)), rng.uniform(0.5, 2, N)


def fitted(X, y, task, k=2, **extras):
    ready = prepare(MemoryStore(X), y, Settings(k, n_subproblems=2), task=task, extras=Extras(**extras))
    return fit_sparse(ready, SerialExecutor())


def test_a_regression_has_the_coefficients_of_weighted_least_squares(table):
    X, y, age, weights = table
    found = fitted(X, y, "regression", covariates=age, sample_weight=weights)
    design = np.hstack([X[:, found.model.ids], age])
    expected = LinearRegression().fit(design, y, sample_weight=weights).coef_
    np.testing.assert_allclose(found.unpenalised, expected[:-1], rtol=1e-6)
    assert (np.abs(found.unpenalised) > np.abs(found.model.coefficients)).all()


def test_classes_have_the_coefficients_of_an_unpenalised_logistic_fit(table):
    X, score, age, weights = table
    y = (score > np.median(score)).astype(float)
    found = fitted(X, y, "classification", covariates=age, sample_weight=weights)
    design = np.hstack([X[:, found.model.ids] / [50, 1], age])
    free = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(design, y, sample_weight=weights)
    np.testing.assert_allclose(found.unpenalised * [50, 1], free.coef_[0][:-1], rtol=1e-4)
    assert (np.abs(found.unpenalised) > 1.2 * np.abs(found.model.coefficients)).all()


@pytest.mark.parametrize("apart", ["all", "some"])
def test_classes_that_a_feature_tells_apart_have_none(table, apart):
    X = table[0].copy()
    y = (np.arange(N) % 2).astype(float)
    X[:, 7] = y if apart == "all" else np.where(np.arange(N) < 9, y, 0)
    X[:, 7] += 0.0 if apart == "some" else table[2][:, 0] / 100
    assert fitted(X[:, [7, 8]], y, "classification").unpenalised is None


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_features_that_say_the_same_have_none(table, task):
    X, score, *_ = table
    twice = np.column_stack([X[:, 1], 2 * X[:, 1] + 5])
    y = score if task == "regression" else (score > np.median(score)).astype(float)
    found = fitted(twice, y, task)
    assert found.model.ids.size == 2
    assert found.unpenalised is None


def test_signs_that_were_asked_for_are_not_broken(table):
    X, y, *_ = table
    assert fitted(X, y, "regression", nonnegative=True).unpenalised is None
