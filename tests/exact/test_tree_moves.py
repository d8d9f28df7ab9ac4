"""What the moves of the local search leave: no single change of a node helps, tried by loops over all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from backbone_dask.exact.trees.moves import lifted, plant, reaching, settle, size_below, sweep
from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.testing.tree_cases import TreeCase, draw_case, labels_of
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.growth import coded, empty_heap, grow, grow_heap
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.pruning import pruned_at
from backbone_dask.trees.surgery import replaced
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import from_heap

ROUNDING = 1e-7


def draw_heap(rng, depth=3, rows=4):
    size = 2 ** (depth + 1) - 1
    features = np.where(rng.random(size) < 0.7, rng.integers(0, rows, size), -1)
    features[size // 2 :] = -1
    for node in range(1, size):
        features[node] = -1 if features[(node - 1) // 2] < 0 else features[node]
    return features, rng.integers(0, 4, size)


def draw_wide(seed):
    """More rows than a sweep regrows splits of, and three classes that two of them explain in part."""
    rng = np.random.default_rng([53, seed])
    values = rng.standard_normal((10, 70))
    signal = (values[2] > 0) ^ (values[7] > 0.4)
    classes = np.where(rng.random(70) < 0.35, rng.integers(0, 3, 70), signal)
    weights = [np.ones(70), rng.integers(0, 3, 70).astype(float), rng.exponential(size=70)][seed % 3]
    goal = Goal(2 + seed % 2, [0.0, 0.9, 2.9, 5.9][seed % 4], float(rng.choice([0.001, 0.01, 0.02])))
    return TreeCase(TreeTable.of(values, 6), Labels(classes.astype(np.int64), weights, 3), goal)


def come_to_rest(seed):
    """A case, and the tree that the search came to from one of its starts."""
    case = draw_wide(seed)
    found, done = TreeSearch((seed % 3,), 1, seed).trees(case.table, case.labels, case.goal, deadline=np.inf)
    assert done
    return case, found[0].tree


def through(tree, codes, node):
    """Samples that come through a node: those whose walk from it ends where their own walk does."""
    below = {node}
    for split in np.flatnonzero(tree.is_split):
        below |= {int(tree.left[split]), int(tree.right[split])} if int(split) in below else set()
    return np.flatnonzero(np.isin(tree.leaves(codes), list(below)))


def every_split(case, here):
    for row in case.table.codes:
        for cut in range(case.table.n_bins - 1):
            yield row[here] <= cut


def test_no_other_split_between_the_same_children_is_better():
    for seed in range(240):
        case, tree = come_to_rest(seed)
        codes, labels = case.table.codes, case.labels
        for node in np.flatnonzero(tree.is_split):
            here = through(tree, codes, int(node))
            ends = [tree.leaves(codes, int(child))[here] for child in (tree.left[node], tree.right[node])]
            wrong = [labels.weights[here] * (tree.choices[each] != labels.classes[here]) for each in ends]
            now = labels.weights[here] @ (tree.choices[tree.leaves(codes)[here]] != labels.classes[here])
            resplits = [
                (np.where(left, wrong[0], wrong[1]).sum(), np.where(left, ends[0], ends[1]))
                for left in every_split(case, here)
                if full([labels.weights[here[left]].sum(), labels.weights[here[~left]].sum()], case.goal)
            ]
            least, moved = min(resplits, key=lambda each: round(each[0], 7))
            # Another split at the top may leave too little for a leaf further down.
            if full([labels.weights[here[moved == leaf]].sum() for leaf in {*ends[0], *ends[1]}], case.goal):
                assert least >= now - ROUNDING


def full(weights, goal):
    """Whether all of some leaves have a weight, and enough of it, beyond doubt."""
    return min(weights) > max(goal.min_bucket + ROUNDING, 0)


def test_no_stump_is_better_than_the_subtree_in_its_place():
    for seed in range(60):
        case, tree = come_to_rest(seed)
        codes, labels, goal = case.table.codes, case.labels, case.goal
        for node in np.flatnonzero(tree.depths < goal.depth):
            here = through(tree, codes, int(node))
            inside = {int(each) for each in tree.leaves(codes)[here]}
            now = tree.mistakes[list(inside)].sum() / labels.total + goal.complexity * (len(inside) - 1)
            for left in every_split(case, here):
                sides = [labels.take(here[left]).counts, labels.take(here[~left]).counts]
                if full([side.sum() for side in sides], goal):
                    stump = sum(side.sum() - side.max() for side in sides) / labels.total + goal.complexity
                    assert stump >= now - ROUNDING


def test_no_child_is_better_in_its_parents_place():
    for seed in range(60):
        case, tree = come_to_rest(seed)
        for node in np.flatnonzero(tree.is_split):
            for child in (tree.left[node], tree.right[node]):
                other = replaced(tree, int(node), int(child)).filled(case.table.codes, case.labels)
                if case.goal.allows(other):
                    assert case.goal.objective(other) >= case.goal.objective(tree) - ROUNDING


def unvisited(features):
    """No node is calm, and none has been looked at."""
    return np.zeros(features.size, np.bool_), np.zeros(features.size, np.bool_)


def test_a_search_that_remembers_ends_where_one_that_looks_again_does():
    """What is known to help no more is left out, and nothing else: every sweep changes the same nodes."""
    for seed in range(30):
        case = draw_case(seed, depth=3, weights="whole")
        data = coded(case.table.codes, case.labels, case.table.n_bins, case.goal.min_bucket)
        price = case.goal.complexity * case.labels.total
        heaps = [empty_heap(4) for _ in range(2)]
        memory, rng = unvisited(heaps[0][0]), np.random.default_rng(seed)
        for _ in range(8):
            order = rng.permutation(heaps[0][0].size)
            said = [sweep(data, price, 3, order, *memory, *heaps[0])]
            said.append(sweep(data, price, 3, order, *unvisited(order), *heaps[1]))
            assert said[0] == said[1]
            np.testing.assert_array_equal(heaps[0][0], heaps[1][0])


@pytest.mark.parametrize("side", [1, 2])
def test_a_child_takes_the_place_of_a_split_that_is_not_needed(side):
    """The parity of three rows below a split that helps nobody: no greedy tree finds it again."""
    parity = np.array(list(product([0, 1], repeat=3)) * 4).T
    grid = np.vstack([parity, np.repeat([2 - side, side - 1], [8, 24])]).astype(np.uint8)
    data = coded(grid, labels_of(parity.sum(axis=0) % 2), 2, 1.0)
    features, cuts = empty_heap(4)
    features[0] = 3
    below = np.array([0, 1, 1, 2, 2, 2, 2] + [-1] * 8)
    plant(features, cuts, side, below.copy(), np.zeros(15, np.int64))
    assert sweep(data, 0.5, 1, np.array([0]), *unvisited(features), features, cuts)
    assert features.tolist() == [*below, *[-1] * 16]


def test_a_better_split_whose_bucket_is_too_small_does_not_hide_the_next_best():
    """Row 3 marks 5 samples for the left leaf, row 4 the right 3 and one more, row 5 the right 3 alone: too few."""
    parity = np.array(list(product([0, 1], repeat=3)) * 9).T
    even = np.flatnonzero(parity.sum(axis=0) % 2 == 0)
    marks = [~np.isin(np.arange(72), even[:size]) for size in (5, 4, 3)]
    classes = np.where(marks[2], parity.sum(axis=0) % 2, 1)
    data = coded(np.vstack([parity, *marks]).astype(np.uint8), labels_of(classes), 2, 4.0)
    features, cuts = empty_heap(4)
    features[0] = 3
    plant(features, cuts, 2, np.array([0, 1, 1, 2, 2, 2, 2] + [-1] * 8), np.zeros(15, np.int64))
    assert sweep(data, 0.1, 1, np.array([0]), *unvisited(features), features, cuts)
    assert features[:3].tolist() == [4, -1, 0]


@pytest.mark.parametrize("complexity", [0.0, 0.01, 0.05, 0.2])
def test_settling_is_pruning_for_the_price(complexity):
    for seed in range(40):
        case = draw_case(seed, depth=3, weights="whole")
        codes, labels = case.table.codes, case.labels
        grown = grow(codes, labels, n_bins=case.table.n_bins, depth=3, min_bucket=0.0)
        best = grown.pruned(pruned_at(grown, grown.is_split, complexity))
        data, (features, cuts) = coded(codes, labels, case.table.n_bins, 0.0), empty_heap(3)
        present = np.flatnonzero(labels.weights > 0)
        grow_heap(data, np.arange(len(codes)), present, features, cuts)
        cost, choices = settle(data, present, complexity * labels.total, features, cuts)
        tree = from_heap(features, cuts, codes, labels)
        assert cost / labels.total == pytest.approx(Goal(3, 0.0, complexity).objective(best), abs=1e-12)
        assert tree.n_splits == best.n_splits
        assert choices[0] == tree.choices[0]


def test_a_sweep_says_whether_it_improved_anything_and_never_makes_it_worse():
    improved = 0
    for seed in range(60):
        case = draw_case(seed, depth=3)
        data = coded(case.table.codes, case.labels, case.table.n_bins, case.goal.min_bucket)
        rng, here = np.random.default_rng(seed), np.flatnonzero(case.labels.weights > 0)
        features, cuts = draw_heap(rng, rows=len(case.table.codes))
        price = case.goal.complexity * case.labels.total
        before, _ = settle(data, here, price, features, cuts)
        said = sweep(data, price, 3, rng.permutation(features.size), *unvisited(features), features, cuts)
        after, _ = settle(data, here, price, features, cuts)
        assert said == (after < before - 1e-12)
        assert after <= before
        improved += said
    assert improved >= 20


def test_samples_reach_a_node_by_the_splits_above_it():
    rng = np.random.default_rng(1)
    for _ in range(20):
        features, cuts = draw_heap(rng)
        codes = rng.integers(0, 5, (4, 30)).astype(np.uint8)
        for node in range(features.size):
            if node and features[(node - 1) // 2] < 0:
                continue
            expected = []
            for i in range(30):
                at = 0
                while at < node and features[at] >= 0:
                    at = 2 * at + 1 + (codes[features[at], i] > cuts[at])
                    if at == node:
                        break
                expected += [i] if at == node else []
            assert reaching(codes, features, cuts, node).tolist() == expected


def test_a_subtree_that_is_lifted_and_planted_again_is_where_it_was():
    rng = np.random.default_rng(2)
    for _ in range(20):
        features, cuts = draw_heap(rng)
        for node in range(features.size):
            size = size_below(features.size, node)
            assert size == 2 ** (4 - int(np.log2(node + 1))) - 1
            own_f, own_c = lifted(features, cuts, node, size)
            after_f, after_c = features.copy(), cuts.copy()
            plant(after_f, after_c, node, own_f, own_c)
            np.testing.assert_array_equal(after_f, features)
            np.testing.assert_array_equal(after_c[features >= 0], cuts[features >= 0])
