"""The local search: against the greedy tree and against every tree there is; its thresholds."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from backbone_dask.exact.trees.moves import settle
from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.exact.trees.thresholds import centred
from backbone_dask.testing.contracts.tree import check_tree, literal_objective
from backbone_dask.testing.tree_cases import TreeCase, brute_force, draw_case, greedy, labels_of
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.growth import coded
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable
from backbone_dask.values import Termination

SEARCH = TreeSearch((0, 1, 2), width=5, seed=3)
ROUNDING = 1e-9


def cases(seeds, **settings):
    for seed in seeds:
        yield draw_case(seed, weights=("equal", "whole", "any")[seed % 3], **settings)


def searched(case, search=SEARCH, seconds=30.0):
    return search(case.table, case.labels, case.goal, seconds=seconds)


def draw_deep(seed):
    """Depth 3 to 5 on more samples, with buckets and prices that may be 0."""
    rng = np.random.default_rng([51, seed])
    n, rows, n_classes = int(rng.integers(20, 120)), int(rng.integers(1, 8)), int(rng.integers(2, 5))
    values = np.where(rng.random((rows, 1)) < 0.5, rng.integers(0, 4, (rows, n)), rng.standard_normal((rows, n)))
    classes = ((values[0] > 0.5) ^ (values[-1] > 0)).astype(int) * (n_classes - 1)
    classes = np.where(rng.random(n) < 0.3, rng.integers(0, n_classes, n), classes)
    weights = [np.ones(n), rng.integers(0, 3, n).astype(float), rng.exponential(size=n)][seed % 3]
    weights[0] = 1.0
    goal = Goal(int(rng.integers(3, 6)), float(rng.choice([0.0, 1.0, 6.0])), float(rng.choice([0.0, 1 / n, 0.02])))
    return TreeCase(TreeTable.of(values, int(rng.integers(3, 20))), Labels(classes, weights, n_classes), goal)


def exclusive_or(n=200, rows=8):
    """Each row by itself says nothing of the class, row 2 and row 5 together say all."""
    values = np.random.default_rng(6).standard_normal((rows, n))
    classes = ((values[2] > 0.2) ^ (values[5] > -0.1)).astype(int)
    return TreeCase(TreeTable.of(values, 31), labels_of(classes), Goal(2, 1.0, 0.001))


def test_trees_of_any_depth_keep_the_contract_and_are_not_worse_than_greedy_ones():
    for seed in range(150):
        case = draw_deep(seed)
        outcome = searched(case, TreeSearch((0, 1), width=3, seed=seed))
        check_tree(outcome.model, case)
        assert outcome.objective == pytest.approx(
            literal_objective(outcome.model, case.table, case.labels, case.goal), abs=1e-12
        )
        assert outcome.objective <= case.goal.objective(greedy(case)) + ROUNDING
        assert outcome.bound <= outcome.objective


@pytest.mark.parametrize("seed", [1442, 1, 2, 3])
def test_no_leaf_is_empty_even_where_buckets_may_be(seed):
    """A new split high up may leave one further down without samples on one of its sides."""
    case = replace(draw_deep(seed), goal=Goal(5, 0.0, 0.0))
    check_tree(searched(case, TreeSearch((0, 1, 2), width=3, seed=seed)).model, case)


def test_a_split_with_an_empty_side_is_pruned():
    data = coded(np.array([[0, 0, 1, 1]], np.uint8), labels_of([0, 0, 1, 1]), 3, 0.0)
    features, cuts = np.array([0, 0, -1, -1, -1, -1, -1]), np.array([1, 0, 0, 0, 0, 0, 0])
    cost, _ = settle(data, np.arange(4), 0.0, features, cuts)
    assert features[0] == -1
    assert cost == 2.0


def test_small_trees_are_not_worse_than_greedy_ones_either():
    better = 0
    for case in cases(range(300)):
        outcome, start = searched(case), case.goal.objective(greedy(case))
        assert outcome.objective <= start + ROUNDING
        better += outcome.objective < start - ROUNDING
    assert better >= 60, "a search that never finds anything"


def test_most_small_trees_are_optimal():
    hits = total = 0
    for case in cases(range(400, 480), n_samples=25):
        outcome, best = searched(case), brute_force(case)
        assert outcome.termination is not Termination.PROVEN or outcome.objective <= best + ROUNDING
        hits, total = hits + (outcome.objective <= best + ROUNDING), total + 1
    assert hits >= 0.95 * total


def test_starts_come_in_the_order_of_what_they_found_and_more_are_never_worse():
    different = 0
    for case in map(draw_deep, range(40)):
        one, more = (
            TreeSearch(starts, width=1, seed=7).trees(case.table, case.labels, case.goal, deadline=np.inf)[0]
            for starts in ((0,), (0, 1, 2, 3))
        )
        assert [found[:2] for found in more] == sorted(found[:2] for found in more)
        assert more[0].objective <= one[0].objective + ROUNDING
        assert all(found.objective == case.goal.objective(found.tree) for found in more)
        different += more[0].start > 0
    assert different >= 5, "random starts that never help"


def test_exclusive_or_is_found_where_the_greedy_tree_fails():
    case = exclusive_or()
    assert greedy(case).error > 0.25
    outcome = searched(case, TreeSearch((0,), width=8, seed=0))
    assert outcome.model.used.tolist() == [2, 5]
    assert outcome.model.n_splits == 3
    assert outcome.model.error < 0.01


def test_parts_together_find_what_the_whole_finds():
    search = TreeSearch(tuple(range(5)), width=3, seed=9)
    for case in cases(range(600, 615)):
        whole = searched(case, search)
        for n_parts in (1, 2, 3, 5, 9):
            parts = search.split(n_parts)
            assert len(parts) == min(n_parts, 5)
            assert sorted(start for part in parts for start in part.starts) == [0, 1, 2, 3, 4]
            trees = [part.trees(case.table, case.labels, case.goal, deadline=np.inf)[0][0] for part in parts]
            first = min(trees, key=lambda found: found[:2])
            expected = search.trees(case.table, case.labels, case.goal, deadline=np.inf)[0][0]
            assert first[:2] == expected[:2]
            np.testing.assert_array_equal(first.tree.features, expected.tree.features)
            assert min(searched(case, part).objective for part in parts) <= whole.objective + ROUNDING


def test_equal_seeds_give_equal_trees_whatever_else_is_searched():
    case = draw_deep(1)
    one, other = searched(case), searched(case)
    np.testing.assert_array_equal(one.model.thresholds, other.model.thresholds)
    np.testing.assert_array_equal(one.model.features, other.model.features)
    alone = replace(SEARCH, starts=(2,)).trees(case.table, case.labels, case.goal, deadline=np.inf)[0][0]
    among = SEARCH.trees(case.table, case.labels, case.goal, deadline=np.inf)[0]
    assert alone.objective == next(found.objective for found in among if found.start == 2)


@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_there_is_an_answer_when_time_is_up(seconds):
    rng = np.random.default_rng(1)
    values, classes = rng.standard_normal((60, 3000)), rng.integers(0, 2, 3000)
    case = TreeCase(TreeTable.of(values, 63), labels_of(classes), Goal(4, 1.0, 0.0001))
    searched(draw_case(1))
    began = time.monotonic()
    outcome = searched(case, TreeSearch(tuple(range(200)), width=8, seed=0), seconds)
    assert outcome.termination is Termination.TIME_LIMIT
    assert time.monotonic() - began < 20 + seconds
    assert outcome.objective <= case.goal.objective(greedy(case)) + ROUNDING


def test_without_time_a_proof_is_still_a_proof():
    case = TreeCase(TreeTable.of(np.array([[1.0, 2, 3, 4]]), 3), labels_of([0, 0, 1, 1]), Goal(2, 1.0, 0.01))
    outcome = searched(case, seconds=0.0)
    assert outcome.termination is Termination.PROVEN
    assert outcome.bound == outcome.objective == pytest.approx(0.01)


def test_centred_trees_are_never_worse_and_keep_depth_and_buckets():
    better = 0
    for case in [*cases(range(700, 760)), *map(draw_deep, range(40))]:
        tree = case.table.in_units(greedy(case))
        moved = centred(tree, case.table.values, case.labels, case.goal)
        before, after = case.goal.objective(tree), case.goal.objective(moved)
        assert after <= before + ROUNDING
        assert case.goal.allows(moved)
        assert after == pytest.approx(literal_objective(moved, case.table, case.labels, case.goal), abs=1e-12)
        better += after < before - ROUNDING
    assert better >= 5, "thresholds that never move"


def test_thresholds_lie_between_the_values_of_samples_that_pass():
    for case in [*cases(range(800, 830)), *map(draw_deep, range(20))]:
        tree, values = searched(case).model, case.table.values
        reached = {0: np.flatnonzero(case.labels.weights > 0)}
        for node in np.flatnonzero(tree.is_split):
            here = reached[int(node)]
            column, at_most = values[tree.features[node, 0], here], tree.thresholds[node]
            assert column.min() <= at_most < column.max()
            assert at_most not in column or not np.isin(np.nextafter(at_most, np.inf), column)
            reached[int(tree.left[node])], reached[int(tree.right[node])] = (
                here[column <= at_most],
                here[column > at_most],
            )


def test_a_threshold_stands_in_the_middle_of_the_gap():
    values = np.array([[0.0, 1, 2, 10, 11, 12]])
    outcome = searched(TreeCase(TreeTable.of(values, 5), labels_of([0, 0, 0, 1, 1, 1]), Goal(1, 1.0, 0.01)))
    assert outcome.model.thresholds[0] == 6.0


def test_of_equally_good_thresholds_the_middle_one_is_taken():
    values = np.arange(10.0)[None]
    labels = labels_of([0, 0, 0, 1, 0, 1, 0, 1, 1, 1])
    outcome = searched(TreeCase(TreeTable.of(values, 9), labels, Goal(1, 1.0, 0.01)))
    assert outcome.objective == pytest.approx(0.21)
    assert outcome.model.thresholds[0] == 4.5


def test_thresholds_leave_the_cuts_where_that_is_better():
    """Two cuts at quantiles are far from the value that parts the classes."""
    values = np.arange(100.0)[None]
    case = TreeCase(TreeTable.of(values, 2), labels_of(values[0] > 80), Goal(1, 1.0, 0.01))
    assert greedy(case).error > 0.1
    assert searched(case).objective == pytest.approx(0.01)
    assert searched(case).model.thresholds[0] == 80.5
