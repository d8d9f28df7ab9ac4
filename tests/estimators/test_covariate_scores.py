"""Covariates beside the table, from fit to score, and through scikit-learn's metadata routing."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from backbone_dask import BackboneClassifier, BackboneRegressor
from backbone_dask.errors import InvalidDataError
from backbone_dask.store import MemoryStore

N, P = 160, 30


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X, age = rng.normal(size=(N, P)), rng.normal(50, 10, N)
    return X, 2 * X[:, 3] - X[:, 7] + 0.5 * (age - 50) + rng.normal(size=N), age


def case(kind, table):
    _, y, _ = table
    return (BackboneRegressor, r2_score, y) if kind == "regressor" else (BackboneClassifier, accuracy_score, y > 0)


@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_a_score_is_that_of_predictions_with_covariates(kind, table):
    X, _, age = table
    estimator, metric, y = case(kind, table)
    weights = np.random.default_rng(1).random(N)
    model = estimator(2).fit(X, y, covariates=age)
    expected = metric(y, model.predict(X, covariates=age), sample_weight=weights)
    assert model.score(X, y, sample_weight=weights, covariates=age) == expected
    with pytest.raises(InvalidDataError, match="covariates beside its table"):
        model.score(X, y)


@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_a_store_brings_the_truth_of_a_score(kind, table):
    X, _, age = table
    estimator, _, y = case(kind, table)
    store = MemoryStore(X, targets={"y": y, "age": age})
    model = estimator(2).fit(store, "y", covariates=age)
    assert model.score(store, "y", covariates=age) == model.score(X, y, covariates=age)
    with pytest.raises(InvalidDataError, match="y is None"):
        model.score(X)


@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_searches_and_scores_of_folds_pass_covariates_on(kind, table):
    """The literal version: cut covariates with the samples, fold by fold."""
    X, _, age = table
    estimator, _, y = case(kind, table)
    folds = [(np.arange(N) % 2 == 0, np.arange(N) % 2 == 1), (np.arange(N) % 2 == 1, np.arange(N) % 2 == 0)]
    folds = [(np.flatnonzero(a), np.flatnonzero(b)) for a, b in folds]
    expected = [estimator(2).fit(X[a], y[a], covariates=age[a]).score(X[b], y[b], covariates=age[b]) for a, b in folds]
    with sklearn.config_context(enable_metadata_routing=True):
        asks = estimator(2).set_fit_request(covariates=True).set_score_request(covariates=True)
        search = GridSearchCV(asks, {"n_nonzero": [1, 2]}, cv=folds).fit(X, y, covariates=age)
        scores = cross_val_score(asks, X, y, cv=folds, params={"covariates": age})
    np.testing.assert_array_equal(scores, expected)
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(expected))
    assert search.best_params_ == {"n_nonzero": 2}
