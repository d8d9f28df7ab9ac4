"""The tree as a value, against a walk of every sample by itself; and trees with a node changed."""

from __future__ import annotations

import numpy as np
import pytest
from tree_oracles import draw_labels, draw_tree, literal_error, literal_sums, walk

from backbone_dask.trees.labels import Labels
from backbone_dask.trees.surgery import cut, mirrored, opened, replaced, widened
from backbone_dask.trees.tree import LEAF, Tree, from_heap, leaf


def drawn(count=20):
    for seed in range(count):
        yield draw_tree(np.random.default_rng([31, seed]), weights=("ones", "whole", "any")[seed % 3])


def hyperplanes():
    """x0 - 2 x1 <= 0.5, then x1 <= 1 on its left."""
    features = np.array([[0, 1], [1, LEAF], [LEAF, LEAF], [LEAF, LEAF], [LEAF, LEAF]])
    weights = np.array([[1.0, -2.0], [1.0, 0.0], [0, 0], [0, 0], [0, 0]])
    left, right = np.array([1, 3, LEAF, LEAF, LEAF]), np.array([2, 4, LEAF, LEAF, LEAF])
    return Tree(features, weights, np.array([0.5, 1.0, 0, 0, 0]), left, right, np.ones((5, 2)))


def walked(tree, X):
    return [walk(tree, sample)[-1] for sample in X.T]


def test_leaves_are_where_a_literal_walk_ends():
    for tree, X, _ in drawn():
        assert tree.leaves(X).tolist() == walked(tree, X)


def test_leaves_of_hyperplanes():
    X = np.random.default_rng(0).standard_normal((2, 50))
    tree = hyperplanes()
    assert set(walked(tree, X)) == {2, 3, 4}
    assert tree.leaves(X).tolist() == walked(tree, X)


def test_a_sample_on_the_threshold_goes_left():
    tree = hyperplanes()
    assert tree.leaves(np.array([[0.5, 2.5], [0.0, 1.0]])).tolist() == [3, 3]


def test_float32_values_are_not_rounded_to_the_threshold():
    low = np.float32(0.1)
    high = np.nextafter(low, np.float32(1))
    middle = (float(low) + float(high)) / 2
    values, labels = np.array([[low, high]]), Labels(np.arange(2), np.ones(2), 2)
    tree = from_heap(np.array([0, -1, -1]), np.array([middle, 0, 0]), values, labels)
    assert tree.leaves(values).tolist() == [1, 2]


def test_walks_may_set_out_from_any_node():
    for tree, X, _ in drawn():
        for start in range(tree.n_nodes):
            below = [path[-1] for path in (walk_from(tree, start, sample) for sample in X.T)]
            assert tree.leaves(X, start).tolist() == below
        starts = np.where(np.arange(X.shape[1]) % 3 == 0, LEAF, 0)
        expected = np.where(starts == LEAF, LEAF, tree.leaves(X))
        np.testing.assert_array_equal(tree.leaves_from(starts, X), expected)


def walk_from(tree, start, sample):
    path = [start]
    while tree.left[path[-1]] != LEAF:
        node = path[-1]
        side = tree.left if sample[tree.features[node, 0]] <= tree.thresholds[node] else tree.right
        path.append(int(side[node]))
    return path


def test_sums_depths_and_error_are_those_of_the_walks():
    for tree, X, labels in drawn():
        np.testing.assert_allclose(tree.sums, literal_sums(tree, X, labels), atol=1e-12)
        assert tree.error == pytest.approx(literal_error(tree, X, labels), abs=1e-12)
        paths = [walk(tree, sample) for sample in X.T]
        for path in paths:
            assert tree.depths[path].tolist() == list(range(len(path)))
        assert tree.depth == tree.depths.max() >= max(len(path) - 1 for path in paths)
        assert tree.n_splits == (tree.n_nodes - 1) // 2


def test_other_samples_fill_the_same_splits():
    for tree, X, _ in drawn():
        rng = np.random.default_rng(X.sum())
        others, labels = rng.integers(0, 6, (3, 17)), draw_labels(rng, 17, 3, "any")
        filled = tree.filled(others, labels)
        np.testing.assert_allclose(filled.sums, literal_sums(tree, others, labels), atol=1e-12)
        np.testing.assert_array_equal(filled.features, tree.features)


def test_children_come_after_their_parents_and_every_node_but_the_root_has_one():
    for tree, _, _ in drawn():
        split = np.flatnonzero(tree.is_split)
        children = np.concatenate([tree.left[split], tree.right[split]])
        assert sorted(children) == list(range(1, tree.n_nodes))
        assert (tree.left[split] > split).all()
        assert (tree.features[~tree.is_split] == LEAF).all()


def test_used_are_the_rows_of_splits():
    for tree, _, _ in drawn():
        assert tree.used.tolist() == sorted({int(tree.features[node, 0]) for node in np.flatnonzero(tree.is_split)})
    assert hyperplanes().used.tolist() == [0, 1]


def test_a_pruned_tree_ends_walks_at_the_first_split_that_is_not_kept():
    for at, (tree, X, labels) in enumerate(drawn()):
        keep = np.random.default_rng([32, at]).random(tree.n_nodes) < 0.6
        pruned = tree.pruned(keep)
        for sample in X.T:
            path = walk(tree, sample)
            end = next(node for node in path if tree.left[node] == LEAF or not keep[node])
            np.testing.assert_array_equal(pruned.sums[walk(pruned, sample)[-1]], tree.sums[end])
        np.testing.assert_allclose(pruned.sums, literal_sums(pruned, X, labels), atol=1e-12)
        assert set(pruned.used) <= set(tree.used)


def test_ties_between_classes_go_to_the_first():
    tree = leaf(Labels(np.array([2, 1, 1, 2]), np.ones(4), 3))
    assert tree.choices.tolist() == [1]
    assert tree.mistakes.tolist() == [2.0]
    assert tree.error == 0.5
    assert (tree.depth, tree.n_splits, tree.used.tolist()) == (0, 0, [])
    assert tree.leaves(np.zeros((5, 4))).tolist() == [0, 0, 0, 0]


def test_room_for_more_features_changes_no_walk():
    for tree, X, _ in drawn():
        wide = widened(tree, 3)
        assert wide.features.shape == (tree.n_nodes, 3)
        assert wide.leaves(X).tolist() == tree.leaves(X).tolist()


def test_a_mirrored_node_sends_samples_to_the_other_side():
    for tree, X, _ in drawn():
        for node in np.flatnonzero(tree.is_split):
            turned = mirrored(tree, int(node))
            through = [int(node) in walk(tree, sample) for sample in X.T]
            again = mirrored(turned, int(node))
            assert again.leaves(X).tolist() == tree.leaves(X).tolist()
            moved = turned.leaves(X) != tree.leaves(X)
            np.testing.assert_array_equal(moved, through)


def test_a_node_replaced_by_a_descendant():
    for tree, X, labels in drawn():
        for node in np.flatnonzero(tree.is_split):
            for by in (int(tree.left[node]), int(tree.right[node])):
                new = replaced(tree, int(node), by).filled(X, labels)
                assert new.n_splits < tree.n_splits
                for sample, end in zip(X.T, new.leaves(X), strict=True):
                    path = walk(tree, sample)
                    old = walk_from(tree, by, sample)[-1] if node in path else path[-1]
                    assert new.depths[end] == tree.depths[old] - (tree.depths[by] - tree.depths[node]) * (node in path)


def test_a_cut_node_is_a_leaf_and_an_opened_leaf_is_split():
    for tree, X, _ in drawn():
        for node in np.flatnonzero(tree.is_split):
            ends = cut(tree, int(node)).leaves(X)
            expected = [int(node) if int(node) in walk(tree, sample) else walk(tree, sample)[-1] for sample in X.T]
            assert ends.tolist() == expected
        node = int(np.flatnonzero(~tree.is_split)[-1])
        wider = opened(tree, node)
        assert wider.n_nodes == tree.n_nodes + 2
        assert (wider.left[node], wider.right[node]) == (tree.n_nodes, tree.n_nodes + 1)
