"""The goal: its objective, what it allows, and a floor that no tree is below."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask.testing.tree_cases import brute_force, draw_case, greedy, labels_of
from backbone_dask.trees.goal import Goal, unavoidable
from backbone_dask.trees.growth import grow
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import from_heap


def test_no_tree_is_below_the_floor():
    reached = 0
    for seed in range(150):
        case = draw_case(seed, n_samples=18, weights=("equal", "whole", "any")[seed % 3])
        # Codes are what the trees of brute force see.
        floor, best = case.goal.floor(case.table.codes, case.labels), brute_force(case)
        assert floor <= best + 1e-12
        assert case.goal.floor(case.table.values, case.labels) <= floor + 1e-12
        reached += floor >= best - 1e-12
    assert reached >= 15, "the floor says little"


@pytest.mark.parametrize(
    ("depth", "complexity", "expected"),
    [(0, 0.0, 0.8), (1, 0.01, 0.61), (2, 0.01, 0.23), (3, 0.01, 0.04), (3, 0.3, 0.8)],
)
def test_more_classes_than_leaves(depth, complexity, expected):
    """Five classes of equal weight: s splits name at most s + 1 of them."""
    assert Goal(depth, 1.0, complexity).floor(np.arange(5.0)[None], labels_of(range(5))) == pytest.approx(expected)


def test_the_floor_names_the_heaviest_classes():
    labels = Labels(np.array([0, 1, 2]), np.array([1.0, 5.0, 2.0]), 3)
    assert Goal(1, 0.0, 0.0).floor(np.arange(3.0)[None], labels) == pytest.approx(1 / 8)


def test_equal_samples_of_different_classes_are_told_apart_by_nothing():
    X = np.array([[1.0, 1, 1, 2, 2], [3, 3, 3, 3, 3]])
    labels = Labels(np.array([0, 0, 1, 1, 2]), np.array([1.0, 1, 1.5, 1, 4]), 3)
    assert unavoidable(X, labels) == pytest.approx((1.5 + 1) / 8.5)
    assert Goal(9, 0.0, 0.0).floor(X, labels) == pytest.approx(2.5 / 8.5)


def test_unavoidable_is_what_predicting_by_all_rows_gets_wrong():
    for seed in range(30):
        case = draw_case(seed)
        kinds: dict[tuple[int, ...], dict[int, float]] = {}
        for sample, of_class, weight in zip(case.table.codes.T, case.labels.classes, case.labels.weights, strict=True):
            kind = kinds.setdefault(tuple(sample.tolist()), {})
            kind[int(of_class)] = kind.get(int(of_class), 0.0) + weight
        wrong = sum(sum(kind.values()) - max(kind.values()) for kind in kinds.values())
        assert unavoidable(case.table.codes, case.labels) == pytest.approx(wrong / case.labels.total, abs=1e-12)


def test_objective_and_allowed_trees():
    case = draw_case(3, depth=2)
    tree = grow(case.table.codes, case.labels, n_bins=case.table.n_bins, depth=2, min_bucket=0.0)
    assert tree.depth == 2
    assert Goal(2, 0.0, 0.25).objective(tree) == pytest.approx(tree.error + 0.25 * tree.n_splits)
    smallest = float(tree.sums[~tree.is_split].sum(axis=1).min())
    assert Goal(2, smallest, 0.0).allows(tree)
    assert not Goal(2, np.nextafter(smallest, np.inf), 0.0).allows(tree)
    assert not Goal(1, 0.0, 0.0).allows(tree)


def test_the_only_leaf_may_have_any_weight():
    case = draw_case(3)
    tree = greedy(case)
    assert Goal(0, 1e9, 0.0).allows(tree.pruned(np.zeros(tree.n_nodes, np.bool_)))


def test_an_empty_leaf_is_not_allowed():
    labels = labels_of([0, 0, 1, 1])
    tree = from_heap(np.array([0, -1, -1]), np.array([9, 0, 0]), np.arange(4)[None], labels)
    assert tree.sums[2].tolist() == [0, 0]
    assert not Goal(2, 0.0, 0.0).allows(tree)
