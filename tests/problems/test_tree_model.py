"""The model on disk and in words: round trips, damage, shares, importances, golden text."""

from __future__ import annotations

import json

import numpy as np
import pytest

from backbone_dask.columns import measured
from backbone_dask.errors import FormatVersionError, RunDirectoryError
from backbone_dask.problems.prediction import tree_shares
from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.problems.tree_text import export_text
from backbone_dask.store import MemoryStore
from backbone_dask.trees.tree import LEAF, Tree

NONE = [LEAF, LEAF]


def small_model():
    """age <= 40.5, and on its left income <= 1234.5678; three classes."""
    return TreeModel(
        Tree(
            np.array([[1], [0], [LEAF], [LEAF], [LEAF]]),
            np.array([[1.0], [1.0], [0], [0], [0]]),
            np.array([40.5, 1234.5678, 0, 0, 0]),
            np.array([1, 3, LEAF, LEAF, LEAF]),
            np.array([2, 4, LEAF, LEAF, LEAF]),
            np.array([[5.0, 5, 2], [5, 1, 2], [0, 4, 0], [5, 1, 0], [0, 0, 2]]),
        ),
        np.array([7, 300]),
        ("income", "age"),
        np.array([1000.0, 38.0]),
        (-1.0, 0.0, 2.5),
    )


def hyperplane_model():
    """0.5 x - 2 z <= 1.5, then y <= 0 on its right."""
    return TreeModel(
        Tree(
            np.array([[0, 2], NONE, [1, LEAF], NONE, NONE]),
            np.array([[0.5, -2.0], [0, 0], [1.0, 0], [0, 0], [0, 0]]),
            np.array([1.5, 0, 0.0, 0, 0]),
            np.array([1, LEAF, 3, LEAF, LEAF]),
            np.array([2, LEAF, 4, LEAF, LEAF]),
            np.array([[6.5, 4], [4, 0], [2.5, 4], [2.5, 0], [0, 4]]),
        ),
        np.array([0, 1, 10**9]),
        ("x", "y", "z"),
        np.zeros(3),
        (0.0, 1.0),
    )


def bare_model():
    child = np.full(1, LEAF)
    tree = Tree(np.full((1, 1), LEAF), np.zeros((1, 1)), np.zeros(1), child, child, np.array([[3.0, 1.0]]))
    return TreeModel(tree, np.empty(0, np.int64), (), np.empty(0), (0.0, 1.0))


MODELS = [small_model, hyperplane_model, bare_model]


@pytest.mark.parametrize("make", MODELS)
def test_json_brings_back_the_same_model(make):
    model = make()
    again = TreeModel.from_json(json.loads(json.dumps(model.to_json())))
    for name in ("thresholds", "sums"):
        assert sorted(map(str, getattr(again.tree, name).tolist())) == sorted(
            map(str, getattr(model.tree, name).tolist())
        )
    assert again.to_json() == model.to_json()
    assert (again.names, again.classes) == (model.names, model.classes)
    np.testing.assert_array_equal(again.ids, model.ids)
    np.testing.assert_array_equal(again.means, model.means)
    X = np.random.default_rng(0).standard_normal((model.ids.size, 40)) * 50
    np.testing.assert_array_equal(again.tree.sums[again.tree.leaves(X)], model.tree.sums[model.tree.leaves(X)])


def test_the_nested_tree_is_plain_data():
    nested = small_model().nested()
    assert nested["split"] == [{"id": 300, "feature": "age", "weight": 1.0}]
    assert nested["at_most"] == 40.5
    assert nested["samples"] == {"-1.0": 5.0, "0.0": 5.0, "2.5": 2.0}
    assert nested["right"] == {"class": 0.0, "samples": {"-1.0": 0.0, "0.0": 4.0, "2.5": 0.0}}
    assert nested["left"]["split"][0]["feature"] == "income"
    assert [nested["left"][side]["class"] for side in ("left", "right")] == [-1.0, 2.5]


@pytest.mark.parametrize("content", [{}, [], None, "tree", {"format": "backbone-dask-tree-model", "version": 2}])
def test_other_formats_are_refused(content):
    with pytest.raises(FormatVersionError, match="this version reads"):
        TreeModel.from_json(content)


@pytest.mark.parametrize("key", ["ids", "names", "means", "classes", "tree"])
def test_a_damaged_model_says_what_it_lacks(key):
    content = small_model().to_json()
    del content[key]
    with pytest.raises(RunDirectoryError, match=f"the model is damaged: it has no '{key}'"):
        TreeModel.from_json(content)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["ids"], [7]),
        (["ids"], "7"),
        (["ids"], None),
        (["means"], ["a", "b"]),
        (["names"], None),
        (["names"], ["income"]),
        (["means"], [1.0]),
        (["classes"], [0.0, 1.0]),
        (["classes"], 3),
        (["tree"], []),
        (["tree"], None),
        (["tree", "left"], None),
        (["tree", "left"], 5),
        (["tree", "at_most"], "x"),
        (["tree", "samples"], {}),
        (["tree", "samples"], [1, 2, 3]),
        (["tree", "split"], [{"id": 300}]),
        (["tree", "split"], 4),
    ],
)
def test_damage_of_any_kind_is_one_sentence(path, value):
    content = json.loads(json.dumps(small_model().to_json()))
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(RunDirectoryError, match="the model is damaged"):
        TreeModel.from_json(content)


def test_shares_are_those_of_the_leaf():
    model = small_model()
    columns, _ = measured(np.array([[1000.0, 2000, 0, 1234.5678], [40.5, 40, 41, -3]]))
    expected = [[5 / 6, 1 / 6, 0], [0, 0, 1], [0, 1, 0], [5 / 6, 1 / 6, 0]]
    np.testing.assert_allclose(model.shares(columns), expected)


def test_a_missing_value_stands_for_the_mean_of_training():
    model = small_model()
    columns, _ = measured(np.array([[100, 100, -128], [-128, 127, 30]], np.int8), -128)
    # 38 years are at most 40.5, and an income of 1000 is at most 1234.
    np.testing.assert_allclose(model.shares(columns), [[5 / 6, 1 / 6, 0], [0, 1, 0], [5 / 6, 1 / 6, 0]])


def test_a_bare_tree_predicts_the_same_for_everyone():
    np.testing.assert_allclose(tree_shares(bare_model(), MemoryStore(np.zeros((3, 2)))), [[0.75, 0.25]] * 3)


def gini(counts):
    counts = np.array(counts, float)
    return counts.sum() - (counts**2).sum() / counts.sum()


def test_importances_are_shares_of_the_fall_of_the_impurity():
    age = gini([5, 5, 2]) - gini([5, 1, 2]) - gini([0, 4, 0])
    income = gini([5, 1, 2]) - gini([5, 1, 0]) - gini([0, 0, 2])
    np.testing.assert_allclose(small_model().importances(), np.array([income, age]) / (income + age))


def test_the_features_of_a_hyperplane_share_its_importance():
    first, second = gini([6.5, 4]) - gini([2.5, 4]), gini([2.5, 4])
    expected = np.array([first / 2, second, first / 2]) / (first + second)
    np.testing.assert_allclose(hyperplane_model().importances(), expected)
    assert expected.sum() == pytest.approx(1)
    assert bare_model().importances().size == 0


def test_the_tree_in_words():
    assert export_text(small_model()) == (
        "if age <= 40.5\n"
        "|   if income <= 1.23e+03\n"
        "|   |   class -1 (83% of 6)\n"
        "|   else (income > 1.23e+03)\n"
        "|   |   class 2.5 (100% of 2)\n"
        "else (age > 40.5)\n"
        "|   class 0 (100% of 4)\n"
    )


def test_names_of_classes_and_decimals():
    words = export_text(small_model(), ["no", "maybe", "yes"], decimals=6)
    assert "if income <= 1234.57\n" in words
    assert "class maybe (100% of 4)" in words


def test_hyperplanes_in_words():
    assert export_text(hyperplane_model()) == (
        "if 0.5 x - 2 z <= 1.5\n"
        "|   class 0 (100% of 4)\n"
        "else (0.5 x - 2 z > 1.5)\n"
        "|   if y <= 0\n"
        "|   |   class 0 (100% of 2.5)\n"
        "|   else (y > 0)\n"
        "|   |   class 1 (100% of 4)\n"
    )


def test_a_bare_tree_in_words():
    assert export_text(bare_model()) == "class 0 (75% of 4)\n"


def test_a_name_that_holds_the_sign_itself():
    model = small_model()
    odd = TreeModel(model.tree, model.ids, ("income", "x <= y"), model.means, model.classes)
    assert "else (x <= y > 40.5)\n" in export_text(odd)
