"""Pruning: against the least error + complexity * splits of every pruned subtree, tried one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tree_oracles import draw_labels, draw_tree, literal_error, pruned_subtrees

from backbone_dask.trees.growth import grow
from backbone_dask.trees.pruning import error_of, pruned_at, weakest_links, within


def cases(count=25):
    """Random trees, most of whose splits are worthless, and greedy ones, whose are not."""
    for seed in range(count):
        rng = np.random.default_rng([21, seed])
        tree, X, labels = draw_tree(rng, weights=("ones", "whole", "any")[seed % 3])
        if seed % 2:
            tree = grow(X.astype(np.uint8), labels, n_bins=6, depth=3, min_bucket=1.0)
        yield tree, X, labels


def marked(tree, nodes):
    return np.isin(np.arange(tree.n_nodes), list(nodes))


def cost(tree, nodes, complexity):
    return tree.pruned(marked(tree, nodes)).error + complexity * len(nodes)


def test_no_pruned_subtree_is_better_at_any_complexity():
    for tree, _, _ in cases():
        every = pruned_subtrees(tree)
        for complexity in (0.0, 1e-3, 0.01, 0.02, 0.04, 0.08, 0.3):
            kept = pruned_at(tree, tree.is_split, complexity)
            found = cost(tree, np.flatnonzero(kept), complexity)
            best = min(cost(tree, nodes, complexity) for nodes in every)
            assert found == pytest.approx(best, abs=1e-11)
            smallest = min(len(nodes) for nodes in every if cost(tree, nodes, complexity) <= best + 1e-11)
            assert kept.sum() == smallest


def test_every_link_of_the_sequence_is_where_two_trees_are_equally_good():
    for tree, _, _ in cases():
        links = list(weakest_links(tree, tree.is_split))
        assert links[0].complexity == 0.0
        assert not links[-1].splits.any()
        for dearer, cheaper in pairwise(links):
            assert cheaper.complexity > dearer.complexity
            assert (cheaper.splits <= dearer.splits).all()
            assert cheaper.splits.sum() < dearer.splits.sum()
            costs = [cost(tree, np.flatnonzero(each.splits), cheaper.complexity) for each in (dearer, cheaper)]
            assert costs[0] == pytest.approx(costs[1], abs=1e-11)


def test_complexities_at_a_link_take_the_smaller_tree_and_just_below_it_the_larger():
    for tree, _, _ in cases():
        for dearer, cheaper in pairwise(weakest_links(tree, tree.is_split)):
            np.testing.assert_array_equal(pruned_at(tree, tree.is_split, cheaper.complexity), cheaper.splits)
            between = (dearer.complexity + cheaper.complexity) / 2
            np.testing.assert_array_equal(pruned_at(tree, tree.is_split, between), dearer.splits)


def test_pruning_starts_from_the_splits_that_are_given():
    for tree, _, _ in cases():
        for depth in range(4):
            top = within(tree, depth)
            assert (tree.depths[top] < depth).all()
            alone = tree.pruned(top)
            for link, own in zip(weakest_links(tree, top), weakest_links(alone, alone.is_split), strict=True):
                assert (link.splits <= top).all()
                assert link.splits.sum() == own.splits.sum()
                assert link.complexity == pytest.approx(own.complexity, abs=1e-12)


def test_the_error_of_other_samples_is_that_of_the_pruned_tree():
    for at, (tree, X, _) in enumerate(cases()):
        rng = np.random.default_rng([22, at])
        others = rng.integers(0, 6, (X.shape[0], 50))
        labels = draw_labels(rng, 50, tree.sums.shape[1], "any")
        sums = tree.reached(others, labels)
        for link in weakest_links(tree, tree.is_split):
            expected = literal_error(tree.pruned(link.splits), others, labels)
            assert error_of(sums, tree, link.splits) == pytest.approx(expected, abs=1e-12)
