"""The contract of solvers of the reduced tree problem."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest

from backbone_dask.testing.contracts.trace import MOST_POINTS, check_trace
from backbone_dask.testing.tree_cases import TreeCase, Weights, brute_force, draw_case, greedy, labels_of
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Tree
from backbone_dask.values import Outcome, Termination, TracePoint
from backbone_dask.watching import watched_by

Solve: TypeAlias = Callable[..., Outcome[Tree]]
SECONDS = 30.0
ROUNDING = 1e-9


class TreeSolverContract:
    """Inherit and provide the fixture ``solver``: (table, labels, goal, *, seconds) -> Outcome[Tree], with `split`.

    A tree may leave the cuts if that makes it better; the bound holds for the trees that do not.
    """

    weights: tuple[Weights, ...] = ("equal", "whole", "any")
    """Sample weights that the solver takes."""
    overtime: float = 2.0
    """Seconds that a solve may take beyond its limit."""

    @pytest.fixture
    def solver(self) -> Any:
        raise NotImplementedError("provide the fixture `solver`: a callable (table, labels, goal, *, seconds)")

    @pytest.fixture
    def solve(self, solver: Any) -> Solve:
        def checked(case: TreeCase, seconds: float = SECONDS) -> Outcome[Tree]:
            outcome: Outcome[Tree] = solver(case.table, case.labels, case.goal, seconds=seconds)
            check_tree(outcome.model, case)
            check_numbers(outcome, case)
            return outcome

        return checked

    def cases(self, seeds: range, **settings: Any) -> list[TreeCase]:
        return [draw_case(seed, weights=self.weights[seed % len(self.weights)], **settings) for seed in seeds]

    def test_brute_force_is_not_below_the_bound(self, solve: Solve) -> None:
        for case in self.cases(range(20)):
            outcome, best = solve(case), brute_force(case)
            assert outcome.bound <= best + ROUNDING
            assert outcome.termination is not Termination.PROVEN or outcome.objective <= best + ROUNDING

    @pytest.mark.parametrize("seconds", [0.0, 0.02])
    def test_nor_is_it_without_time(self, solve: Solve, seconds: float) -> None:
        for case in self.cases(range(30, 45)):
            assert solve(case, seconds).bound <= brute_force(case) + ROUNDING

    @pytest.mark.parametrize("seconds", [0.0, SECONDS])
    def test_never_worse_than_the_greedy_tree(self, solve: Solve, seconds: float) -> None:
        for case in self.cases(range(45, 60)):
            assert solve(case, seconds).objective <= case.goal.objective(greedy(case)) + ROUNDING

    def test_the_best_part_is_the_whole(self, solver: Any, solve: Solve) -> None:
        case = self.cases(range(61, 62))[0]
        for n_parts in (1, 2, 5):
            parts = solver.split(n_parts)
            assert 1 <= len(parts) <= n_parts
            found = [part(case.table, case.labels, case.goal, seconds=SECONDS).objective for part in parts]
            assert min(found) == solve(case).objective

    def test_equal_input_gives_equal_bits(self, solve: Solve) -> None:
        for case in self.cases(range(63, 66)):
            first, second = solve(case), solve(case)
            for name in ("features", "weights", "thresholds", "left", "right", "sums"):
                np.testing.assert_array_equal(getattr(first.model, name), getattr(second.model, name))
            assert (first.objective, first.bound) == (second.objective, second.bound)
            assert (first.rounds, first.termination) == (second.rounds, second.termination)

    def test_the_trace_begins_with_a_first_tree(self, solve: Solve) -> None:
        for case in self.cases(range(70, 73)):
            told: list[TracePoint] = []
            with watched_by(told.append):
                outcome = solve(case)
            assert 2 <= len(outcome.trace) <= MOST_POINTS
            assert len(told) >= len(outcome.trace) - 1

    def test_nothing_is_written_to_the_input(self, solve: Solve) -> None:
        case = self.cases(range(66, 67))[0]
        for array in (case.table.values, case.table.cuts, case.table.codes, case.labels.classes, case.labels.weights):
            array.flags.writeable = False
        solve(case)

    @pytest.mark.parametrize("seconds", [0.0, 0.3])
    def test_the_time_limit_is_kept(self, solve: Solve, seconds: float) -> None:
        solve(self.cases(range(67, 68))[0])  # imports and compilation are not the search's time
        rng = np.random.default_rng(3)
        values, classes = rng.standard_normal((6, 80)), rng.integers(0, 2, 80)
        case = TreeCase(TreeTable.of(values, 5), labels_of(classes), Goal(3, 2.0, 0.001))
        began = time.monotonic()
        outcome = solve(case, seconds)
        assert time.monotonic() - began <= seconds + self.overtime
        assert outcome.seconds <= seconds + self.overtime

    def test_a_sample_without_weight_counts_for_nothing(self, solve: Solve) -> None:
        case = draw_case(69, weights="whole")
        there = case.labels.weights > 0
        assert not there.all()
        values = case.table.values[:, there]
        # The cuts stay: they were found with all samples.
        table = TreeTable(values, case.table.cuts, case.table.codes[:, there])
        assert solve(replace(case, table=table, labels=case.labels.take(there))).bound == pytest.approx(
            solve(case).bound, abs=ROUNDING
        )

    def test_one_class_needs_no_split(self, solve: Solve) -> None:
        outcome = solve(_case([[1.0, 2, 3, 4]], [0, 0, 0, 0]))
        assert (outcome.model.n_splits, outcome.objective, outcome.termination) == (0, 0.0, Termination.PROVEN)

    def test_a_class_that_no_sample_has(self, solve: Solve) -> None:
        case = _case([[1.0, 2, 3, 4]], [0, 0, 2, 2])
        assert solve(case).objective == pytest.approx(0.01)

    def test_a_class_of_one_sample(self, solve: Solve) -> None:
        assert solve(_case([[1.0, 2, 3, 4], [0, 1, 0, 1]], [0, 0, 0, 1])).objective == pytest.approx(0.01)

    def test_constant_features_give_a_leaf(self, solve: Solve) -> None:
        outcome = solve(_case([[2.0, 2, 2], [5, 5, 5]], [0, 1, 1]))
        assert outcome.model.n_splits == 0
        assert outcome.objective == pytest.approx(1 / 3)
        assert outcome.termination is Termination.PROVEN

    def test_more_classes_than_leaves(self, solve: Solve) -> None:
        outcome = solve(_case([[1.0, 2, 3, 4, 5]], [0, 1, 2, 3, 4], depth=1))
        assert outcome.objective == pytest.approx(0.6 + 0.01)
        assert outcome.termination is Termination.PROVEN

    def test_depth_zero_is_a_leaf(self, solve: Solve) -> None:
        outcome = solve(_case([[1.0, 2, 3, 4]], [0, 0, 1, 1], depth=0))
        assert (outcome.model.n_splits, outcome.termination) == (0, Termination.PROVEN)

    def test_equal_samples_of_different_classes_are_not_told_apart(self, solve: Solve) -> None:
        outcome = solve(_case([[1.0, 1, 1, 2, 2, 2]], [0, 0, 1, 1, 1, 0]))
        assert outcome.objective == pytest.approx(1 / 3 + 0.01)
        assert outcome.termination is Termination.PROVEN

    def test_a_bucket_larger_than_the_data_gives_a_leaf(self, solve: Solve) -> None:
        assert solve(_case([[1.0, 2, 3, 4]], [0, 0, 1, 1], min_bucket=9.0)).model.n_splits == 0

    def test_a_bucket_of_half_the_data_allows_one_split(self, solve: Solve) -> None:
        assert solve(_case([[1.0, 2, 3, 4]], [0, 0, 1, 1], min_bucket=2.0)).objective == pytest.approx(0.01)

    def test_a_split_that_costs_more_than_it_brings_is_not_made(self, solve: Solve) -> None:
        outcome = solve(_case([[1.0, 2, 3, 4]], [0, 0, 0, 1], complexity=0.3))
        assert outcome.model.n_splits == 0

    def test_a_feature_that_helps_only_with_another(self, solve: Solve) -> None:
        """Exclusive or: bounds must not take the greedy view."""
        grid = np.array([[0.0, 0, 1, 1] * 5, [0, 1, 0, 1] * 5])
        case = _case(grid, (grid[0] != grid[1]).astype(int))
        assert solve(case).bound <= 0.03 + ROUNDING


def _case(values: Any, classes: Any, *, depth: int = 2, min_bucket: float = 1.0, complexity: float = 0.01) -> TreeCase:
    return TreeCase(TreeTable.of(np.array(values), 8), labels_of(classes), Goal(depth, min_bucket, complexity))


def check_tree(tree: Tree, case: TreeCase) -> None:
    """Its shape, its sums, and that every split parts samples that have a weight."""
    assert case.goal.allows(tree)
    assert tree.sums.shape == (tree.n_nodes, case.labels.n_classes)
    np.testing.assert_allclose(tree.sums, tree.reached(case.table.values, case.labels), atol=ROUNDING)
    split = np.flatnonzero(tree.is_split)
    assert (tree.left[split] > split).all()
    assert (tree.right[split] > split).all()
    assert ((tree.used >= 0) & (tree.used < case.table.values.shape[0])).all()
    assert np.isfinite(tree.thresholds).all()
    assert (tree.sums[1:].sum(axis=1) > 0).all(), "a split sends nothing to one of its sides"


def check_numbers(outcome: Outcome[Tree], case: TreeCase) -> None:
    assert outcome.objective == pytest.approx(literal_objective(outcome.model, case.table, case.labels, case.goal))
    assert np.isfinite(outcome.bound)
    assert 0 <= outcome.bound <= outcome.objective
    assert outcome.rounds >= 0
    assert outcome.seconds >= 0
    assert (outcome.termination is Termination.PROVEN) == (outcome.bound == outcome.objective)
    check_trace(outcome)


def literal_objective(tree: Tree, table: TreeTable, labels: Labels, goal: Goal) -> float:
    """From the samples, each sent down the tree."""
    predicted = tree.choices[tree.leaves(table.values)]
    wrong = labels.weights[predicted != labels.classes].sum()
    return float(wrong / labels.weights.sum() + goal.complexity * tree.n_splits)
