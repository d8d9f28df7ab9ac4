"""Hyperplane splits against samples walked one by one, trees with one feature a split, and all lines in the plane."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hyperplane_cases import (
    TreeCase,
    draw_tree_case,
    fewest_mistakes_of_a_line,
    literal_objective,
    oblique,
    walked,
)

from backbone_dask.exact.trees.hyperplanes import HyperplaneSearch
from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.exact.trees.thresholds import centred
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Tree
from backbone_dask.values import Outcome, Termination

LONG = 1000.0
CASES = range(60)


def solve(case: TreeCase) -> Outcome[Tree]:
    return HyperplaneSearch(case.search, case.split_features)(case.table, case.labels, case.goal, seconds=LONG)


@cache
def drawn(seed: int) -> tuple[TreeCase, Outcome[Tree]]:
    case = draw_tree_case(seed)
    return case, solve(case)


def assert_same_tree(one: Tree, other: Tree) -> None:
    for name in ("features", "weights", "thresholds", "left", "right", "sums"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


class TestPlanted:
    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("direction", [[1.0, 0.7], [1.0, -0.6, 0.8]])
    def test_one_oblique_split_is_found_where_no_tree_with_one_feature_a_split_comes_near(self, direction, seed):
        case = oblique(seed, direction, n=250, p=20)
        outcome = solve(case)
        assert outcome.objective == pytest.approx(case.goal.complexity)
        assert outcome.termination is Termination.PROVEN
        np.testing.assert_array_equal(outcome.model.used, np.arange(len(direction)))
        axis = case.search(case.table, case.labels, case.goal, seconds=LONG)
        assert axis.objective > 5 * outcome.objective

    @pytest.mark.parametrize("seed", range(12))
    def test_the_threshold_is_in_the_middle_of_where_it_may_be(self, seed):
        case = oblique(seed, [1.0, 0.7], n=60, p=3)
        classes = np.where(np.random.default_rng(seed).random(60) < 0.2, 1 - case.labels.classes, case.labels.classes)
        case = replace(case, labels=Labels(classes, case.labels.weights, 2), goal=Goal(1, 1.0, 0.0))
        tree = solve(case).model
        np.testing.assert_array_equal(centred(tree, case.X, case.labels, case.goal).thresholds, tree.thresholds)

    def test_more_features_than_needed_are_not_used(self):
        case = replace(oblique(0, [1.0, 0.7], n=250, p=20), split_features=4)
        np.testing.assert_array_equal(solve(case).model.used, [0, 1])

    def test_a_tree_of_three_oblique_splits_is_found_from_several_starts(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(12, 400))
        classes = np.where(X[0] + X[1] > 0, X[2] - X[3] > 0.2, X[4] + 0.5 * X[5] > -0.2).astype(np.int64)
        case = TreeCase(X, Labels(classes, np.ones(400), 2), Goal(2, 1.0, 0.005), TreeSearch(tuple(range(12)), 3, 1), 2)
        assert solve(case).objective == pytest.approx(3 * case.goal.complexity)


class TestPromises:
    @pytest.mark.parametrize("seed", CASES)
    def test_the_objective_is_the_literal_one(self, seed):
        case, outcome = drawn(seed)
        assert outcome.objective == pytest.approx(literal_objective(outcome.model, case), abs=1e-12)
        np.testing.assert_array_equal(outcome.model.leaves(case.X), [walked(outcome.model, x) for x in case.X.T])

    @pytest.mark.parametrize("seed", CASES)
    def test_it_is_never_worse_than_one_feature_a_split(self, seed):
        case, outcome = drawn(seed)
        axis = case.search(case.table, case.labels, case.goal, seconds=LONG)
        assert axis.bound - 1e-12 <= outcome.objective <= axis.objective + 1e-12

    @pytest.mark.parametrize("seed", CASES)
    def test_depth_buckets_and_the_number_of_features_are_kept(self, seed):
        case, outcome = drawn(seed)
        tree = outcome.model
        assert case.goal.allows(tree)
        assert tree.features.shape == tree.weights.shape == (tree.n_nodes, case.split_features)
        there = tree.features >= 0
        np.testing.assert_array_equal(there.any(axis=1), tree.is_split)
        np.testing.assert_array_equal(tree.weights != 0, there)
        assert all(np.unique(row[row >= 0]).size == (row >= 0).sum() for row in tree.features)

    def test_hyperplanes_help_in_many_of_these_cases(self):
        better = 0
        for seed in CASES:
            case, outcome = drawn(seed)
            axis = case.search(case.table, case.labels, case.goal, seconds=LONG)
            better += outcome.objective < axis.objective - 1e-9
        assert better >= 12

    @pytest.mark.parametrize("seed", range(0, 60, 6))
    def test_the_same_search_gives_the_same_tree(self, seed):
        case, outcome = drawn(seed)
        assert_same_tree(solve(case).model, outcome.model)

    def test_parts_share_the_starts(self):
        search = HyperplaneSearch(TreeSearch((0, 1, 2, 3, 4), 3, 1), 2)
        parts = search.split(2)
        assert sorted(start for part in parts for start in part.search.starts) == [0, 1, 2, 3, 4]
        assert {part.split_features for part in parts} == {2}
        assert len(search.split(9)) == 5

    def test_it_stops_at_the_deadline_with_a_tree_that_is_as_good_as_the_first_start(self):
        rng = np.random.default_rng(0)
        X, classes = rng.normal(size=(60, 1500)), rng.integers(0, 3, 1500)
        table, labels, goal = TreeTable.of(X, 30), Labels(classes, np.ones(1500), 3), Goal(4, 1.0, 0.0)
        began = time.monotonic()
        outcome = HyperplaneSearch(TreeSearch(tuple(range(500)), 2, 1), 3)(table, labels, goal, seconds=1.0)
        assert time.monotonic() - began < 5.0
        assert outcome.termination is Termination.TIME_LIMIT
        first = TreeSearch((0,), 2, 1)(table, labels, goal, seconds=LONG)
        assert outcome.objective <= first.objective


class TestSplitsPay:
    """Thresholds that move send samples other ways: a node may then be pure, or a leaf empty."""

    @pytest.mark.parametrize("complexity", [0.0, 0.001])
    @pytest.mark.parametrize("seed", [*range(20), 39, 158])
    def test_every_split_takes_away_mistakes(self, seed, complexity):
        case = replace(draw_tree_case(seed), goal=Goal(3, 0.0, complexity))
        for solver in (case.search, HyperplaneSearch(case.search, case.split_features)):
            tree = solver(case.table, case.labels, case.goal, seconds=LONG).model
            assert (tree.sums[~tree.is_split].sum(axis=1) > 0).all()
            assert (tree.mistakes[tree.is_split] > 1e-12).all()


class TestUnitsAndWeights:
    @pytest.mark.parametrize("seed", range(1, 60, 4))
    def test_units_change_no_route(self, seed):
        case, outcome = drawn(seed)
        scales = 10.0 ** np.random.default_rng(seed).integers(-2, 7, (len(case.X), 1))
        moved = replace(case, X=scales * case.X + 1e5)
        np.testing.assert_array_equal(solve(moved).model.leaves(moved.X), outcome.model.leaves(case.X))

    @pytest.mark.parametrize("seed", range(4))
    def test_far_columns_of_small_spread_are_counted_as_they_are_routed(self, seed):
        near = oblique(seed, [1.0, 0.7], n=120, p=6)
        far = replace(near, X=1e-3 * near.X + 1e9)
        outcome = solve(far)
        assert outcome.objective == pytest.approx(literal_objective(outcome.model, far), abs=1e-12)

    @pytest.mark.parametrize("seed", range(0, 60, 5))
    def test_samples_without_weight_influence_nothing(self, seed):
        case, outcome = drawn(seed)
        rng = np.random.default_rng(seed)
        nothing = case.labels.weights == 0
        classes = np.where(nothing, rng.integers(0, case.labels.n_classes, nothing.size), case.labels.classes)
        other = replace(case, labels=Labels(classes, case.labels.weights, case.labels.n_classes))
        assert_same_tree(solve(other).model, outcome.model)

    def test_values_without_weight_influence_no_hyperplane(self):
        case = oblique(1, [1.0, 0.7], n=150, p=5)
        wild = np.where(np.arange(150) % 5 == 0, 1e4 * case.X, case.X)
        weights = (np.arange(150) % 5 != 0).astype(np.float64)
        labels = case.labels.weighted(weights)
        trees = [solve(replace(case, X=X, labels=labels)).model for X in (case.X, wild)]
        for tree in trees:
            assert tree.error == 0
            np.testing.assert_array_equal(tree.used, [0, 1])

    def test_integer_genotypes_with_many_ties(self):
        rng = np.random.default_rng(5)
        X = rng.integers(0, 3, (8, 200)).astype(np.int8)
        labels = Labels((X[0] + X[1] >= 2).astype(np.int64), np.ones(200), 2)
        case = TreeCase(X, labels, Goal(2, 1.0, 0.01), TreeSearch((0,), 2, 1), 2)
        outcome = solve(case)
        assert outcome.objective == pytest.approx(0.01)
        assert literal_objective(outcome.model, case) == pytest.approx(0.01)


class TestOneLine:
    def test_one_split_in_the_plane_is_nearly_always_the_best_of_all_lines(self):
        # Measured: 197 of 200 with two starts, 200 of 200 with six.
        reached, cases = 0, 60
        for seed in range(cases):
            rng = np.random.default_rng([14, seed])
            X = rng.normal(size=(2, int(rng.integers(6, 22))))
            classes = (rng.normal(size=2) @ X + 0.7 * rng.normal(size=X.shape[1]) > 0).astype(np.int64)
            labels = Labels(classes, rng.integers(1, 4, classes.size).astype(np.float64), 2)
            case = TreeCase(X, labels, Goal(1, 0.0, 0.0), TreeSearch((0, 1), 2, seed), 2)
            best = fewest_mistakes_of_a_line(X, labels)
            found = solve(case).model.error * labels.total
            assert found >= best - 1e-9
            reached += found <= best + 1e-9
        assert reached >= 0.9 * cases
