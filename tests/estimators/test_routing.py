"""Weights and covariates through scikit-learn's metadata routing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from backbone_dask import (
    Backbone,
    BackboneClassifier,
    BackboneRegressor,
    BackboneSelector,
    BackboneTreeClassifier,
)

N, P = 100, 30
MODELS = {
    "regressor": BackboneRegressor(2),
    "classifier": BackboneClassifier(2),
    "tree": BackboneTreeClassifier(2, min_bucket=1, complexity=0.01, n_starts=1),
    "backbone": Backbone(make_pipeline(StandardScaler(), Lasso(alpha=0.1)), Ridge()),
    "backbone of classes": Backbone(DecisionTreeClassifier(max_depth=2), DecisionTreeClassifier(max_depth=2)),
}
TAKE_COVARIATES = ("regressor", "classifier")


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    y = X[:, 3] - X[:, 9] + 0.3 * rng.normal(size=N)
    return X, y, rng.integers(1, 4, N).astype(float), rng.normal(size=N)


def target_of(name, y):
    return y if name in ("regressor", "backbone") else (y > 0).astype(int)


@pytest.mark.parametrize("name", MODELS)
def test_weights_reach_the_last_step_of_a_pipeline(data, name):
    X, y, weights, _ = data
    y, model = target_of(name, y), MODELS[name]
    asking = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asked(model, fit=True, score=True))
    asking.fit(X, y, sample_weight=weights)
    scaled = StandardScaler().fit_transform(X)
    alone = unasked(model).fit(scaled, y, sample_weight=weights)
    np.testing.assert_array_equal(asking.predict(X), alone.predict(scaled))
    assert asking.score(X, y, sample_weight=weights) == alone.score(scaled, y, sample_weight=weights)
    assert alone.score(scaled, y, sample_weight=weights) != alone.score(scaled, y) or name == "tree"


def asked(model, *, fit, score):
    return clone(model).set_fit_request(sample_weight=fit).set_score_request(sample_weight=score)


def unasked(model):
    return clone(model)


@pytest.mark.parametrize("name", TAKE_COVARIATES)
def test_covariates_reach_fits_and_predictions(data, name):
    X, y, _, age = data
    y = target_of(name, y + 2 * age)
    model = unasked(MODELS[name]).set_fit_request(covariates=True).set_predict_request(covariates=True)
    asking = make_pipeline(StandardScaler(), model.set_score_request(covariates=True)).fit(X, y, covariates=age)
    scaled = StandardScaler().fit_transform(X)
    alone = unasked(MODELS[name]).fit(scaled, y, covariates=age)
    np.testing.assert_array_equal(asking.predict(X, covariates=age), alone.predict(scaled, age))
    assert asking.score(X, y, covariates=age) == alone.score(scaled, y, covariates=age)


@pytest.mark.parametrize("name", MODELS)
def test_a_search_hands_weights_of_the_samples_of_each_fold(data, name):
    X, y, weights, _ = data
    y, model = target_of(name, y), asked(MODELS[name], fit=True, score=True)
    search = GridSearchCV(model, {"random_state": [0]}, cv=2).fit(X, y, sample_weight=weights)
    same = unasked(MODELS[name]).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(search.predict(X), same.predict(X))
    scored = cross_validate(model, X, y, cv=2, params={"sample_weight": weights})["test_score"]
    assert search.best_score_ == pytest.approx(np.mean(scored))


def test_the_selector_takes_weights_and_covariates_in_a_pipeline(data):
    X, y, weights, age = data
    selector = BackboneSelector(n_nonzero=2).set_fit_request(sample_weight=True, covariates=True)
    final = LinearRegression().set_fit_request(sample_weight=True)
    model = make_pipeline(selector, final).fit(X, y + 2 * age, sample_weight=weights, covariates=age)
    alone = BackboneRegressor(2).fit(X, y + 2 * age, sample_weight=weights, covariates=age)
    np.testing.assert_array_equal(model[0].get_support(indices=True), alone.support_)
    expected = LinearRegression().fit(X[:, alone.support_], y + 2 * age, sample_weight=weights)
    np.testing.assert_allclose(model[-1].coef_, expected.coef_)


@pytest.mark.parametrize("name", [*MODELS, "selector"])
def test_weights_that_nobody_asked_for_are_refused(data, name):
    X, y, weights, _ = data
    model = BackboneSelector() if name == "selector" else unasked(MODELS[name])
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        make_pipeline(StandardScaler(), model).fit(X, target_of(name, y), sample_weight=weights)
