"""The pieces of the hyperplane search, each by itself: a line, a split, its place in a tree, changes of trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hyperplane_cases import TreeCase, draw_tree_case, oblique

from backbone_dask.exact.trees.hyperplane_descent import best_hyperplane
from backbone_dask.exact.trees.hyperplane_lines import Sides, best_weight
from backbone_dask.exact.trees.hyperplane_moves import Ground
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.surgery import replaced, widened
from backbone_dask.trees.tree import Tree


def ground_of(case: TreeCase) -> Ground:
    return Ground.of(case.X, case.labels, case.goal, case.split_features, np.inf)


def axis_tree(case: TreeCase) -> Tree:
    tree = case.search(case.table, case.labels, case.goal, seconds=100.0).model
    return widened(tree, case.split_features)


def counted(task: Sides, rest: np.ndarray, weight: float) -> float:
    left = rest + weight * task.columns[0] <= 0
    enough = min(left.sum(), (~left).sum()) >= task.least
    return float(task.rises[left].sum()) if enough else np.inf


class TestLineSearch:
    @pytest.mark.parametrize("seed", range(40))
    def test_no_weight_of_a_column_is_better(self, seed):
        rng = np.random.default_rng([13, seed])
        n = int(rng.integers(2, 30))
        columns = rng.integers(-3, 4, (2, n)).astype(np.float64)
        rises, least = rng.integers(-2, 3, n).astype(np.float64), float(rng.integers(1, 4))
        task, rest = Sides(columns, rises, np.ones(n), least, float(n)), rng.integers(-4, 5, n) + 0.5
        cost, weight = best_weight(task, rest, 0)
        assert cost == min(counted(task, rest, w) for w in np.linspace(-12, 12, 5003))
        assert np.isinf(cost) or counted(task, rest, weight) == cost

    def test_places_that_only_rounding_holds_apart_are_one(self):
        # The two in the middle round to different float32.
        places = np.array([-5.0, 1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-52, 5.0])
        task = Sides(np.ones((2, 4)), np.array([0.0, 1.0, -1.0, 0.0]), np.ones(4), 1.0, 4.0)
        assert best_weight(task, -places, 0)[0] == 0


class TestOneSplit:
    @pytest.mark.parametrize("sign", [1.0, -1.0])
    @pytest.mark.parametrize("direction", [[1.0, 0.7], [1.0, -0.6, 0.8]])
    def test_from_one_feature_to_the_planted_hyperplane(self, direction, sign):
        case = oblique(0, direction, n=250, p=20)
        rises = sign * (2.0 * case.labels.classes - 1)
        task = Sides(np.vstack([case.X, -np.ones(250)]), rises, np.ones(250), 1.0, 250.0)
        no_start = np.empty((0, len(direction) + 1))
        rows, weights, cost = best_hyperplane(task, no_start.astype(np.int64), no_start)
        assert cost == -(rises < 0).sum()
        np.testing.assert_array_equal(np.sort(rows[:-1]), np.arange(len(direction)))
        np.testing.assert_array_equal(weights @ task.columns[rows] <= 0, rises < 0)

    @pytest.mark.parametrize("seed", range(20))
    def test_of_one_column_both_directions_are_tried(self, seed):
        rng = np.random.default_rng([16, seed])
        column, rises = rng.normal(size=15), rng.integers(-3, 4, 15).astype(np.float64)
        task = Sides(np.vstack([column, -np.ones(15)]), rises, np.ones(15), 1.0, 15.0)
        cost = best_hyperplane(task, np.empty((0, 3), np.int64), np.empty((0, 3)))[2]
        costs = np.cumsum(rises[np.argsort(column)])[:-1]
        assert cost == min(costs.min(), (rises.sum() - costs).min())


class TestGround:
    @pytest.mark.parametrize("seed", range(30))
    def test_a_settled_tree_has_no_leaf_that_is_too_small(self, seed):
        free = replace(draw_tree_case(seed), goal=Goal(3, 0.0, 0.0))
        strict = replace(free, goal=Goal(3, 5.0, 0.0))
        settled = ground_of(strict).settled(axis_tree(free))
        assert strict.goal.allows(settled)
        assert settled.n_splits <= axis_tree(free).n_splits

    def test_samples_without_weight_do_not_move_the_scale(self):
        case = oblique(1, [1.0, 0.7], n=150, p=5)
        labels = case.labels.weighted((np.arange(150) % 5 != 0).astype(np.float64))
        wild = np.where(labels.weights == 0, 1e4 * case.X, case.X)
        grounds = [Ground.of(X, labels, case.goal, 2, np.inf) for X in (case.X, wild)]
        np.testing.assert_array_equal(grounds[0].centres, grounds[1].centres)
        np.testing.assert_array_equal(grounds[0].scales, grounds[1].scales)

    @pytest.mark.parametrize("seed", range(20))
    def test_a_placed_hyperplane_parts_the_samples_as_it_did_when_standardised(self, seed):
        rng = np.random.default_rng([15, seed])
        case = oblique(seed, [1.0, -0.7, 0.2], n=80, p=5)
        units = 10.0 ** rng.integers(-6, 7, (5, 1))
        ground = Ground.of(units * (case.X + rng.normal(size=(5, 1))), case.labels, case.goal, 3, np.inf)
        tree = axis_tree(case)
        rows, weights, here = rng.permutation(5)[:3], rng.normal(size=3), np.arange(80)
        sums = weights @ ground.standardised(here)[rows]
        goes_left = sums <= np.median(sums)
        new = ground.placed(tree, 0, here, goes_left, (rows, weights))
        assert new is not None
        chosen = np.where(new.projected(ground.values, 0, here) <= new.thresholds[0], new.left[0], new.right[0])
        np.testing.assert_array_equal(chosen, np.where(goes_left, tree.left[0], tree.right[0]))

    @pytest.mark.parametrize("seed", range(30))
    def test_every_neighbour_is_allowed_and_counted(self, seed):
        case = draw_tree_case(seed)
        ground, tree, rng = ground_of(case), axis_tree(case), np.random.default_rng(seed)
        for node in range(tree.n_nodes):
            for other in ground.neighbours(tree, node, True, rng):
                assert case.goal.allows(other)
                np.testing.assert_array_equal(other.sums, other.reached(case.X, case.labels))

    @pytest.mark.parametrize("seed", range(30))
    def test_a_child_in_the_place_of_its_parent(self, seed):
        case = draw_tree_case(seed)
        tree = axis_tree(case)
        for child in (tree.left[0], tree.right[0]) if tree.n_splits else ():
            new = replaced(tree, 0, int(child))
            expected = tree.sums[tree.leaves(case.X, int(child))]
            np.testing.assert_array_equal(new.sums[new.leaves(case.X)], expected)
