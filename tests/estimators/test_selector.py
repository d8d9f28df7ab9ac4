"""The selector: in front of any estimator, for every kind of table."""

from __future__ import annotations

import pickle

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks
from tables import EAGER, LAZY, NAMED, SPARSE, named, stored

from backbone_dask import (
    Backbone,
    BackboneClassifier,
    BackboneRegressor,
    BackboneSelector,
    BackboneTreeClassifier,
    open_store,
)
from backbone_dask.errors import InvalidSettingError
from backbone_dask.store import Recipe, VirtualStore

N, P, RELEVANT = 90, 40, [3, 20]


@parametrize_with_checks([BackboneSelector(n_nonzero=1), BackboneSelector(BackboneRegressor(1), which="backbone")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = np.where(rng.random((N, P)) < 0.6, 0.0, rng.normal(1.0, 3.0, (N, P)))
    return X, 2 * X[:, 3] - 1.5 * X[:, 20] + rng.normal(0, 0.5, N)


@pytest.fixture(scope="module")
def path(data, tmp_path_factory):
    return stored(*data, tmp_path_factory.mktemp("selector") / "s.zarr")


@pytest.fixture(scope="module")
def fitted(data):
    return BackboneSelector(n_nonzero=2).fit(*data)


def test_mask_ids_and_names(fitted):
    mask = fitted.get_support()
    assert np.flatnonzero(mask).tolist() == fitted.get_support(indices=True).tolist() == RELEVANT
    assert mask.shape == (P,)
    assert fitted.get_feature_names_out().tolist() == ["x3", "x20"]
    assert fitted.get_feature_names_out([f"c{j}" for j in range(P)]).tolist() == ["c3", "c20"]
    with pytest.raises(ValueError, match="length equal to number of features"):
        fitted.get_feature_names_out(["a"])


@pytest.mark.parametrize("kind", [*EAGER, *LAZY, "csr array", "csc matrix", "coo array"])
def test_every_kind_of_table_is_reduced_to_the_same_columns(data, kind):
    X, y = data
    table = {**EAGER, **LAZY, **SPARSE}[kind](X)
    selector = BackboneSelector(n_nonzero=2).fit(table, y)
    selected = selector.transform(table)
    if kind in LAZY:
        assert isinstance(selected, da.Array)
    elif kind in SPARSE:
        assert sparse.issparse(selected)
    else:
        assert isinstance(selected, np.ndarray)
    dense = selected.toarray() if sparse.issparse(selected) else np.asarray(selected)
    np.testing.assert_array_equal(dense, X[:, RELEVANT])
    if kind in NAMED:
        assert selector.get_feature_names_out().tolist() == ["gene 3", "gene 20"]
        with pytest.raises(ValueError, match="not equal to feature_names_in_"):
            selector.get_feature_names_out(named(X)[::-1])


def test_stores_and_paths_become_numpy(data, path):
    X, y = data
    for table in (path, str(path), open_store(path)):
        selector = BackboneSelector(n_nonzero=2).fit(table)
        np.testing.assert_array_equal(selector.transform(table), X[:, RELEVANT])
        assert selector.get_feature_names_out().tolist() == ["gene 3", "gene 20"]
        assert not hasattr(selector, "feature_names_in_")
    frame = pd.DataFrame(X, columns=named(X))
    np.testing.assert_array_equal(selector.transform(frame[frame.columns[::-1]]), X[:, RELEVANT])
    model = make_pipeline(BackboneSelector(n_nonzero=2), LinearRegression()).fit(path, y)
    assert model.score(path, y) > 0.9


def test_nothing_as_long_as_the_table_is_kept():
    store = VirtualStore(Recipe(kind="linear", n_samples=60, n_features=50_000, n_relevant=2, rho=0.0, snr=20.0))
    selector = BackboneSelector(BackboneRegressor(2, screen_size=100)).fit(store)
    assert len(pickle.dumps(selector)) < 50_000
    assert selector.get_support().shape == (50_000,)
    assert selector.transform(store).shape == (60, 2)


def test_frames_on_request(data):
    X, y = data
    frame = pd.DataFrame(X, columns=named(X), index=[f"person {i}" for i in range(N)]).astype({"gene 3": np.float32})
    selector = BackboneSelector(n_nonzero=2).fit(frame, y).set_output(transform="pandas")
    selected = selector.transform(frame)
    pd.testing.assert_frame_equal(selected, frame[["gene 3", "gene 20"]])
    polars = selector.set_output(transform="polars").transform(pl.DataFrame(X, schema=named(X)))
    assert isinstance(polars, pl.DataFrame)
    assert polars.columns == ["gene 3", "gene 20"]
    np.testing.assert_array_equal(polars.to_numpy(), X[:, RELEVANT])


@pytest.mark.parametrize("kind", [*LAZY, "xarray", "store"])
def test_frames_of_what_is_no_frame(data, path, kind):
    X, y = data
    table = path if kind == "store" else {**EAGER, **LAZY}[kind](X)
    selected = BackboneSelector(n_nonzero=2).set_output(transform="pandas").fit(table, y).transform(table)
    assert isinstance(selected, pd.DataFrame)
    assert selected.columns.tolist() == (["x3", "x20"] if kind == "dask" else ["gene 3", "gene 20"])
    np.testing.assert_array_equal(selected.to_numpy(), X[:, RELEVANT])


def test_in_front_of_any_estimator_with_frames(data):
    X, y = data
    frame = pd.DataFrame(X, columns=named(X))
    for final in (LinearRegression(), DecisionTreeRegressor(random_state=0), BackboneRegressor(1)):
        steps = make_pipeline(StandardScaler(), BackboneSelector(n_nonzero=2), final).set_output(transform="pandas")
        steps.fit(frame, y)
        assert steps[-1].feature_names_in_.tolist() == ["gene 3", "gene 20"]
        assert steps[:-1].get_feature_names_out().tolist() == ["gene 3", "gene 20"]
        assert steps.score(frame, y) > 0.3


def test_the_way_back_fills_with_zeros(data, fitted):
    X, _ = data
    back = fitted.inverse_transform(fitted.transform(X))
    np.testing.assert_array_equal(back[:, RELEVANT], X[:, RELEVANT])
    assert np.count_nonzero(np.delete(back, RELEVANT, axis=1)) == 0


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda y: y, BackboneRegressor),
        (lambda y: np.round(y), BackboneRegressor),
        (lambda y: (y > 1).astype(int), BackboneClassifier),
        (lambda y: y > 1, BackboneClassifier),
        (lambda y: np.array(["low", "middle", "tall"])[np.digitize(y, [-2, 4])], BackboneClassifier),
    ],
)
def test_the_estimator_is_chosen_from_the_target(data, make, kind):
    X, y = data
    assert type(BackboneSelector(n_nonzero=2).fit(X, make(y)).estimator_) is kind


@pytest.mark.parametrize(
    "estimator",
    [
        BackboneRegressor(2),
        BackboneClassifier(2),
        BackboneTreeClassifier(2, min_bucket=1, complexity=0.01, n_starts=1),
        Backbone(Lasso(alpha=0.3), LinearRegression()),
    ],
)
def test_support_and_backbone_of_every_estimator(data, estimator):
    X, y = data[0], data[1] if estimator.__sklearn_tags__().estimator_type == "regressor" else data[1] > 1
    lean, generous = (BackboneSelector(estimator, which=which).fit(X, y) for which in ("support", "backbone"))
    alone = clone(estimator).fit(X, y)
    np.testing.assert_array_equal(lean.get_support(indices=True), alone.support_)
    np.testing.assert_array_equal(generous.get_support(indices=True), alone.backbone_)
    assert set(alone.support_) <= set(alone.backbone_)
    assert not hasattr(estimator, "support_")


def test_missing_values_stay_for_the_next_step(data):
    X, y = data
    holes = X.copy()
    holes[0, 3] = np.nan
    selector = BackboneSelector(BackboneRegressor(2, missing="mean")).fit(holes, y)
    np.testing.assert_array_equal(selector.transform(holes), holes[:, RELEVANT])
    with pytest.raises(ValueError, match="NaN"):
        BackboneSelector(n_nonzero=2).fit(holes, y)


def test_parameters_and_search(data):
    X, y = data
    model = make_pipeline(BackboneSelector(BackboneRegressor()), LinearRegression())
    search = GridSearchCV(model, {"backboneselector__estimator__n_nonzero": [1, 2]}, cv=2).fit(X, y)
    assert search.best_params_ == {"backboneselector__estimator__n_nonzero": 2}
    assert clone(BackboneSelector(n_nonzero=3, which="backbone")).get_params()["n_nonzero"] == 3


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (BackboneSelector(which="all"), "which is 'all'; use 'support' or 'backbone'"),
        (BackboneSelector(LogisticRegression()), r"Backbone\(subproblem=...\)"),
        (BackboneSelector(BackboneTreeClassifier(), n_nonzero=3), "BackboneTreeClassifier has no n_nonzero"),
    ],
)
def test_what_cannot_work_is_refused_with_a_sentence(data, selector, words):
    with pytest.raises(InvalidSettingError, match=words):
        selector.fit(data[0], data[1] > 1)


def test_covariates_go_to_the_estimator_or_are_refused(data):
    X, y = data
    age = np.linspace(0, 100, N)
    aware = BackboneSelector(n_nonzero=2).fit(X, y + age, covariates=age)
    assert aware.get_support(indices=True).tolist() == RELEVANT
    with pytest.raises(InvalidSettingError, match="BackboneTreeClassifier takes no covariates"):
        BackboneSelector(BackboneTreeClassifier(2)).fit(X, y > 1, covariates=age)


def test_an_empty_selection_is_said():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 2
    stump = BackboneTreeClassifier(1, min_bucket=1, complexity=0.9)
    selector = BackboneSelector(stump).fit(X, y)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(X).shape == (40, 0)
