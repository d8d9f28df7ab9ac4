"""Classes that have names in a store keep them in every estimator, and are never taken for numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression

from backbone_dask import (
    Backbone,
    BackboneClassifier,
    BackboneRegressor,
    BackboneSelector,
    BackboneTreeClassifier,
    ingest,
    open_store,
    tree_svg,
)
from backbone_dask.errors import InvalidDataError

CHEAP = {"n_subproblems": 2, "backbone_max": 20}
TREE = {"min_bucket": 1, "complexity": 0.01, "n_starts": 1, "search_width": 4}
N, P = 90, 30


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(8).normal(size=(N, P))


@pytest.fixture(scope="module")
def words(table):
    """Two classes, and three."""
    return {
        "two": np.where(table[:, 3] + 0.3 * table[:, 9] > 0.2, "ill", "well"),
        "three": np.array(["low", "mid", "top"])[np.digitize(table[:, 5], [-0.5, 0.5])],
    }


@pytest.fixture(scope="module")
def path(table, words, tmp_path_factory):
    place = tmp_path_factory.mktemp("labels") / "s.zarr"
    ingest(table, place, target={**words, "number": table[:, 3]})
    assert open_store(place).labels == {"two": ["ill", "well"], "three": ["low", "mid", "top"]}
    return place


MODELS = {
    "classifier": BackboneClassifier(2, **CHEAP),
    "tree": BackboneTreeClassifier(2, **TREE, **CHEAP),
    "backbone": Backbone(LogisticRegression(), LogisticRegression(), max_features=3, **CHEAP),
}


@pytest.mark.parametrize("target", ["two", "three"])
@pytest.mark.parametrize("name", MODELS)
def test_classes_of_a_store_are_called_what_they_are_called_in_memory(table, words, path, name, target):
    X, y, codes = table, words[target], open_store(path).target(target)
    expected = MODELS[name].fit(X, y).predict(X)
    model = MODELS[name].fit(path, target)
    assert model.classes_.tolist() == sorted(set(y))
    np.testing.assert_array_equal(model.predict(path), expected)
    assert (expected == y).mean() > 0.8
    right = [model.score(path, target), model.score(path, y), model.score(X, y), model.score(path, codes)]
    assert right == [np.mean(expected == y)] * 4


def test_codes_that_are_no_class_are_refused(path):
    model = BackboneClassifier(2, **CHEAP).fit(path, "two")
    with pytest.raises(InvalidDataError, match="y holds 2, which is no class of the model; give the names ill, well"):
        model.score(path, np.arange(N) % 3)


def test_a_tree_names_its_leaves(path):
    model = BackboneTreeClassifier(2, **TREE, **CHEAP).fit(path, "three")
    assert model.tree_.labels == ("low", "mid", "top")
    for text in (model.export_text(), tree_svg(model), tree_svg(model.tree_)):
        assert all(word in text for word in ("low", "mid", "top"))


@pytest.mark.parametrize("target", ["two", "three"])
def test_the_selector_chooses_a_classifier(path, target):
    assert isinstance(BackboneSelector(n_nonzero=2).fit(path, target).estimator_, BackboneClassifier)


@pytest.mark.parametrize("model", [BackboneRegressor(2, **CHEAP), Backbone(Lasso(0.1), n_nonzero=2, **CHEAP)])
def test_a_regression_on_words_is_refused(table, words, path, model):
    y = words["three"]
    for X, answers in ((path, "three"), (path, y), (table, y), (table.tolist(), y.tolist())):
        with pytest.raises(InvalidDataError, match=r"3 classes by name \(low, mid, top\), and a regression needs num"):
            model.fit(X, answers)
    with pytest.raises(InvalidDataError, match=r"2 classes by name \(ill, well\), and a regression needs numbers"):
        model.fit(path, "number").score(path, "two")


@pytest.mark.parametrize("name", MODELS)
def test_one_class_is_refused_by_its_name(table, name):
    with pytest.raises(InvalidDataError, match=r"y holds one class only \(ill\); give samples of two classes or more"):
        MODELS[name].fit(table, ["ill"] * N)
