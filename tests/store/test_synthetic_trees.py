"""The ground-truth tree: every promise of the generator, for many shapes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backbone_dask.store.synthetic import Recipe, columns, target, truth, truth_from_json
from backbone_dask.store.synthetic.trees import RANGE


@st.composite
def recipes(draw):
    depth = draw(st.integers(1, 6))
    splits = draw(st.integers(1, 2**depth - 1))
    k = draw(st.integers(1, (2**depth - 1) // splits))
    return Recipe(
        kind="tree",
        n_samples=draw(st.integers(1, 60)),
        n_features=draw(st.integers(k, 300)),
        n_relevant=k,
        rho=draw(st.sampled_from([0.0, 0.6, 0.9])),
        depth=depth,
        min_splits=splits,
        balance=draw(st.sampled_from([0.0, 0.5, 1.0])),
        n_classes=draw(st.integers(2, min(4, 2**depth))),
        seed=draw(st.integers(0, 10**6)),
    )


def walk(tree, sample):
    """The class of one sample, by the words of the definition."""
    node = 0
    while node < tree.features.size:
        node = 2 * node + 1 if sample[tree.features[node]] <= tree.thresholds[node] else 2 * node + 2
    return tree.classes[node - tree.features.size]


def boxes(tree):
    """The box of values that reach each split node, as a dict from feature to (low, high)."""
    found = {0: {}}
    for node in range(tree.features.size // 2):
        feature, cut = tree.features[node], tree.thresholds[node]
        low, high = found[node].get(feature, RANGE)
        found[2 * node + 1] = {**found[node], feature: (low, cut)}
        found[2 * node + 2] = {**found[node], feature: (cut, high)}
    return found


@settings(max_examples=60, deadline=None)
@given(recipe=recipes())
def test_every_relevant_feature_is_in_enough_splits_and_no_other_in_any(recipe):
    tree = truth(recipe)
    used, counts = np.unique(tree.features, return_counts=True)
    np.testing.assert_array_equal(used, tree.ids)
    assert used.size == recipe.n_relevant
    assert counts.min() >= recipe.min_splits
    assert tree.features.size == 2**recipe.depth - 1


@settings(max_examples=60, deadline=None)
@given(recipe=recipes())
def test_thresholds_are_balanced_within_what_the_path_leaves(recipe):
    tree = truth(recipe)
    for node, box in boxes(tree).items():
        low, high = box.get(tree.features[node], RANGE)
        margin = (high - low) / 2 * recipe.balance
        assert low < high
        assert low + margin - 1e-12 <= tree.thresholds[node] <= high - margin + 1e-12


@settings(max_examples=60, deadline=None)
@given(recipe=recipes())
def test_siblings_differ_and_classes_are_known(recipe):
    classes = truth(recipe).classes
    assert classes.size == 2**recipe.depth
    assert np.all(classes[::2] != classes[1::2])
    assert set(classes) <= set(range(recipe.n_classes))


@settings(max_examples=60, deadline=None)
@given(recipe=recipes())
def test_the_target_is_a_literal_walk(recipe):
    tree, X = truth(recipe), columns(recipe, 0, recipe.n_features)
    y = target(recipe)
    assert y.dtype == np.float64
    np.testing.assert_array_equal(y, [walk(tree, X[:, i]) for i in range(recipe.n_samples)])


@given(recipe=recipes())
def test_json_round_trip(recipe):
    tree = truth(recipe)
    back = truth_from_json(tree.to_json())
    assert back.to_json() == tree.to_json()
    assert back.features.dtype == np.int64
    assert back.depth == recipe.depth


@pytest.mark.parametrize("change", [{"draw": 5}, {"n_samples": 3}, {"rho": 0.0}])
def test_draws_share_the_tree(change):
    base = {"kind": "tree", "n_samples": 50, "n_features": 10**8, "n_relevant": 5, "rho": 0.9, "depth": 4}
    assert truth(Recipe(**{**base, **change})).to_json() == truth(Recipe(**base)).to_json()


def test_both_classes_are_common_at_the_papers_settings():
    shares = [
        target(Recipe(kind="tree", n_samples=2_000, n_features=10**8, n_relevant=7, rho=0.6, depth=3, seed=seed)).mean()
        for seed in range(20)
    ]
    assert min(shares) > 0.05
    assert max(shares) < 0.95
    assert np.mean(shares) == pytest.approx(0.5, abs=0.15)


def test_the_values_of_format_version_1_never_change():
    recipe = Recipe(kind="tree", n_samples=50, n_features=10**8, n_relevant=3, rho=0.9, depth=2)
    tree = truth(recipe)
    assert tree.features.tolist() == [90949044, 56513175, 1722457]
    np.testing.assert_allclose(tree.thresholds, [-0.7021683013071431, -0.8772734520364782, 0.659330785300372])
    assert tree.classes.tolist() == [0, 1, 1, 0]
    assert target(recipe)[:12].tolist() == [1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0]
