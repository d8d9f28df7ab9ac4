"""The scikit-learn contract of trees, every kind of table, and the solvers from end to end."""

from __future__ import annotations

import copy
import pickle

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from backbone_dask import BackboneTreeClassifier, open_store, write_store
from backbone_dask.errors import InvalidDataError, InvalidSettingError, UnknownNameError
from backbone_dask.store import MemoryStore, Recipe, VirtualStore

CHEAP = {"n_starts": 1, "search_width": 4, "n_subproblems": 2}
ONE_GOAL = {"min_bucket": 1, "complexity": 0.01}
RELEVANT = [3, 40]


@parametrize_with_checks([BackboneTreeClassifier(2, **CHEAP)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    """Three classes in three parts of a plane, among 80 columns."""
    rng = np.random.default_rng(5)
    X = rng.normal(2.0, 3.0, (150, 80))
    names = np.array(["blue", "green", "red"])
    return X, names[np.where(X[:, 3] <= 2, 0, np.where(X[:, 40] <= 1, 1, 2))]


@pytest.fixture(scope="module")
def fitted(data):
    return BackboneTreeClassifier(2, **CHEAP, **ONE_GOAL).fit(*data)


def test_a_planted_tree_is_found_in_the_units_of_the_data(data, fitted):
    X, y = data
    assert fitted.support_.tolist() == RELEVANT
    assert set(RELEVANT) <= set(fitted.backbone_)
    assert fitted.score(X, y) == 1.0
    root = fitted.tree_.nested()
    assert root["split"][0]["id"] == 3
    assert X[X[:, 3] <= 2, 3].max() < root["at_most"] < X[X[:, 3] > 2, 3].min()
    assert (fitted.get_depth(), fitted.get_n_leaves()) == (2, 3)
    assert (fitted.depth_, fitted.min_bucket_, fitted.complexity_) == (2, 1.0, 0.01)
    assert fitted.validation_curve_ == ()
    assert fitted.objective_ == pytest.approx(0.02)
    assert fitted.bound_ <= fitted.objective_


def test_shares_and_labels_agree(data, fitted):
    X, _ = data
    shares = fitted.predict_proba(X)
    assert shares.shape == (150, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.classes_[shares.argmax(axis=1)], fitted.predict(X))
    assert fitted.classes_.tolist() == ["blue", "green", "red"]


def test_shares_are_those_of_the_training_samples_in_the_leaf():
    X = np.array([0.0, 0, 0, 0, 1, 1, 1, 1])[:, None]
    y = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    model = BackboneTreeClassifier(1, **ONE_GOAL).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[0.2], [0.8]]), [[0.75, 0.25], [0, 1]])


def test_importances_and_words(fitted):
    importances = fitted.feature_importances_
    assert importances.shape == (80,)
    assert importances.sum() == pytest.approx(1)
    assert np.flatnonzero(importances).tolist() == RELEVANT
    words = fitted.export_text()
    assert words.count("class ") == 3
    for name in fitted.classes_:
        assert f"class {name} (100% of" in words


def test_every_kind_of_table_gives_the_same_tree(data, fitted, tmp_path):
    X, y = data
    names = [f"feature {j}" for j in range(X.shape[1])]
    write_store(MemoryStore(X, names=names), tmp_path / "s.zarr")
    tables = [
        np.asfortranarray(X),
        pd.DataFrame(X, columns=names),
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        da.from_array(X, chunks=(40, 33)),
        MemoryStore(X),
        tmp_path / "s.zarr",
        str(tmp_path / "s.zarr"),
        open_store(tmp_path / "s.zarr"),
    ]
    for table in tables:
        model = clone(fitted).fit(table, y)
        assert model.support_.tolist() == RELEVANT
        np.testing.assert_array_equal(model.tree_.tree.thresholds, fitted.tree_.tree.thresholds)
        np.testing.assert_array_equal(model.predict(table), fitted.predict(X))
        np.testing.assert_array_equal(model.predict_proba(table), fitted.predict_proba(X))


def test_float32_is_compared_as_it_is():
    low = np.float32(0.1)
    X = np.array([[low], [np.nextafter(low, np.float32(1))]] * 10)
    y = np.arange(20) % 2
    assert BackboneTreeClassifier(1, **ONE_GOAL).fit(X, y).score(X, y) == 1.0


def test_a_store_brings_its_own_target():
    store = VirtualStore(Recipe(kind="tree", n_samples=400, n_features=300, n_relevant=2, depth=2, seed=3))
    model = BackboneTreeClassifier(2, **CHEAP).fit(store)
    assert set(model.support_) <= set(store.truth.ids)
    assert model.classes_.tolist() == [0.0, 1.0]
    with pytest.raises(InvalidDataError, match="no target 'z'; it has: y"):
        BackboneTreeClassifier(2).fit(store, "z")


def test_names_of_a_frame_are_kept_and_checked(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(80)])
    model = BackboneTreeClassifier(2, **CHEAP, **ONE_GOAL).fit(frame, y)
    assert model.tree_.names == ("gene 3", "gene 40")
    assert "if gene 3 <= " in model.export_text()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def test_clone_pickle_and_copy(data, fitted):
    for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        np.testing.assert_array_equal(twin.predict_proba(data[0]), fitted.predict_proba(data[0]))
        assert twin.export_text() == fitted.export_text()
    assert not hasattr(clone(fitted), "tree_")
    assert clone(fitted).get_params() == fitted.get_params()


def test_grid_search_and_pipeline(data):
    X, y = data
    search = GridSearchCV(BackboneTreeClassifier(**CHEAP, **ONE_GOAL), {"depth": [1, 2]}, cv=3).fit(X, y)
    assert search.best_params_ == {"depth": 2}
    pipeline = make_pipeline(StandardScaler(), BackboneTreeClassifier(2, **CHEAP, **ONE_GOAL)).fit(X, y)
    assert pipeline.score(X, y) == 1.0


@pytest.mark.parametrize(
    "settings",
    [
        {"exact": "dynamic-programming"},
        {"exact": "dynamic-programming", "depth": 3},
        {"exact": "mio", "time_limit": 10, "n_thresholds": 3},
        {"split_features": 2},
    ],
    ids=str,
)
def test_every_solver_from_end_to_end(settings):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, (40, 6)).astype(float)
    y = np.where(X[:, 1] > 1, X[:, 4] > 2, X[:, 4] > 0).astype(int)
    model = BackboneTreeClassifier(**{"depth": 2, **CHEAP, **ONE_GOAL, **settings}).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.bound_ <= model.objective_ + 1e-9
    if "exact" in settings:
        assert model.termination_ == "proven"
        assert model.gap_ == 0


def test_hyperplanes_split_on_sums():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((200, 10))
    y = (X[:, 2] + X[:, 7] > 0.3).astype(int)
    model = BackboneTreeClassifier(1, split_features=2, screen="none", **CHEAP, **ONE_GOAL).fit(X, y)
    assert model.support_.tolist() == [2, 7]
    assert model.score(X, y) > 0.98
    assert np.flatnonzero(model.feature_importances_).tolist() == [2, 7]
    single = BackboneTreeClassifier(1, **CHEAP, **ONE_GOAL).fit(X, y)
    assert single.score(X, y) < 0.85


def test_class_weights_multiply_sample_weights(data):
    X, y = data
    rng = np.random.default_rng(1)
    y = np.where(rng.random(150) < 0.3, rng.permutation(y), y)
    own = rng.integers(1, 4, 150).astype(float)
    per_class = {"blue": 1.0, "green": 3.0, "red": 2.0}
    together = own * np.array([per_class[each] for each in y])
    one = BackboneTreeClassifier(3, class_weight=per_class, **CHEAP, **ONE_GOAL).fit(X, y, sample_weight=own)
    other = BackboneTreeClassifier(3, **CHEAP, **ONE_GOAL).fit(X, y, sample_weight=together)
    np.testing.assert_array_equal(one.tree_.tree.sums, other.tree_.tree.sums)
    balanced = BackboneTreeClassifier(3, class_weight="balanced", **CHEAP, **ONE_GOAL).fit(X, y)
    np.testing.assert_allclose(balanced.tree_.tree.sums[0], 50)


def test_second_fit_forgets_the_first(data):
    X, y = data
    model = BackboneTreeClassifier(2, **CHEAP).fit(X, y)
    model.set_params(**ONE_GOAL).fit(X[:, :30], y == "red")
    again = BackboneTreeClassifier(2, **CHEAP, **ONE_GOAL).fit(X[:, :30], y == "red")
    assert model.validation_curve_ == ()
    np.testing.assert_array_equal(model.support_, again.support_)
    assert model.feature_importances_.shape == (30,)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"depth": 13}, "depth is 13; use 0 to 12"),
        ({"screen": "correlation"}, "screen is 'correlation'"),
        ({"executor": "cloud"}, "executor"),
        ({"exact": "magic"}, "exact is 'magic'"),
        ({"random_state": -1}, "seed|random_state"),
    ],
)
def test_bad_settings_are_refused_with_a_sentence(data, settings, words):
    with pytest.raises(InvalidSettingError, match=words):
        BackboneTreeClassifier(**settings).fit(*data)


def test_unknown_sampling_lists_what_there_is(data):
    with pytest.raises(UnknownNameError, match=r"did you mean 'uniform'.*covering, exponential"):
        BackboneTreeClassifier(sampling="unifrom").fit(*data)


@pytest.mark.parametrize("method", ["export_text", "get_depth", "get_n_leaves"])
def test_nothing_is_said_before_a_fit(method):
    with pytest.raises(NotFittedError):
        getattr(BackboneTreeClassifier(), method)()


@pytest.mark.parametrize("random_state", [None, 7, np.random.RandomState(0)])
def test_every_kind_of_random_state(data, random_state):
    model = BackboneTreeClassifier(2, **CHEAP, **ONE_GOAL, random_state=random_state).fit(*data)
    assert model.support_.tolist() == RELEVANT
