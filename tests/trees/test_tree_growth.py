"""Greedy growth: against scikit-learn's CART, and against every split of every node in exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tree_oracles import draw_labels, every_split, gini_score

from backbone_dask.trees.growth import grow
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.pruning import within
from backbone_dask.trees.table import TreeTable


def grown(codes, labels, depth=3, min_bucket=1.0):
    return grow(codes, labels, n_bins=int(codes.max()) + 1, depth=depth, min_bucket=min_bucket)


def draw_codes(seed, *, n=60, rows=4, n_classes=2, weights="ones", values=6):
    """Codes, and classes that some of them explain in part."""
    rng = np.random.default_rng([13, seed])
    codes = rng.integers(0, values, (rows, n)).astype(np.uint8)
    labels = draw_labels(rng, n, n_classes, weights)
    signal = (codes[0] // 2 + 2 * (codes[1] > 2)) % n_classes
    return codes, Labels(np.where(rng.random(n) < 0.3, labels.classes, signal), labels.weights, n_classes)


def nodes_with_samples(tree, codes):
    """Every node with its depth, whether it is split, and its samples."""
    ends = tree.leaves(codes)
    inside = {int(leaf): np.flatnonzero(ends == leaf) for leaf in np.flatnonzero(~tree.is_split)}
    for node in np.flatnonzero(tree.is_split)[::-1]:
        inside[int(node)] = np.sort(np.concatenate([inside[int(tree.left[node])], inside[int(tree.right[node])]]))
    return [(node, int(tree.depths[node]), bool(tree.is_split[node]), inside[node]) for node in sorted(inside)]


def assert_equal_trees(one, other):
    for name in ("features", "thresholds", "left", "right"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(one.sums, other.sums, rtol=1e-12)


def impurity(sums):
    totals = sums.sum(axis=1)
    return float((totals - (sums**2).sum(axis=1) / np.maximum(totals, 1e-300)).sum() / totals.sum())


@pytest.mark.parametrize("weights", ["ones", "whole"])
@pytest.mark.parametrize("min_bucket", [0.0, 1.0, 4.0])
def test_every_node_has_the_best_split_there_is(weights, min_bucket):
    for seed in range(12):
        codes, labels = draw_codes(seed, n=40, n_classes=2 + seed % 3, weights=weights)
        tree = grown(codes, labels, min_bucket=min_bucket)
        for node, depth, is_split, samples in nodes_with_samples(tree, codes):
            if depth == 3:
                continue
            own = gini_score(labels.take(samples).counts, [])
            best = max((score for score, _, _ in every_split(codes, labels, samples, min_bucket)), default=own)
            if is_split:
                row, cut = int(tree.features[node, 0]), tree.thresholds[node]
                chosen = next(s for s, r, c in every_split(codes, labels, samples, min_bucket) if (r, c) == (row, cut))
                assert chosen == best > own
            else:
                assert best <= own


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weights", ["ones", "any"])
def test_the_tree_is_that_of_scikit_learn(n_classes, weights):
    """So many samples, of so few values, that no two splits are equally good."""
    for seed in range(5):
        codes, labels = draw_codes(seed, n=3000, rows=7, n_classes=n_classes, weights=weights, values=9)
        there = labels.weights > 0
        for depth in range(1, 4):
            ours = grown(codes, labels, depth, min_bucket=0.0)
            theirs = DecisionTreeClassifier(max_depth=depth, random_state=0)
            theirs.fit(codes.T[there], labels.classes[there], sample_weight=labels.weights[there])
            assert same_partition(ours.leaves(codes)[there], theirs.apply(codes.T[there]))
            tree = theirs.tree_
            leaf = tree.children_left < 0
            expected = tree.impurity[leaf] @ tree.weighted_n_node_samples[leaf] / tree.weighted_n_node_samples[0]
            assert impurity(ours.sums[~ours.is_split]) == pytest.approx(expected, abs=1e-12)


def same_partition(one, other):
    pairs = len(set(zip(one.tolist(), other.tolist(), strict=True)))
    return pairs == len(set(one.tolist())) == len(set(other.tolist()))


def test_the_least_bucket_is_that_of_scikit_learn():
    for seed in range(6):
        codes, labels = draw_codes(seed, n=400, rows=6, weights="any", values=9)
        there = labels.weights > 0
        bucket = 0.07 * labels.total
        theirs = DecisionTreeClassifier(max_depth=4, min_weight_fraction_leaf=0.07, random_state=0)
        theirs.fit(codes.T[there], labels.classes[there], sample_weight=labels.weights[there])
        ours = grown(codes, labels, 4, bucket)
        assert ours.sums[~ours.is_split].sum(axis=1).min() >= bucket
        assert same_partition(ours.leaves(codes)[there], theirs.apply(codes.T[there]))


def test_continuous_data_lose_little_to_their_bins():
    rng = np.random.default_rng(3)
    values = rng.standard_normal((40, 2000))
    classes = ((values[3] > 0.3) ^ (values[8] > -0.5)).astype(np.int64) | (values[11] > 1)
    labels = Labels(np.where(rng.random(2000) < 0.1, 1 - classes, classes), np.ones(2000), 2)
    table = TreeTable.of(values, 255)
    ours = grow(table.codes, labels, n_bins=256, depth=5, min_bucket=1.0)
    theirs = DecisionTreeClassifier(max_depth=5, random_state=0).fit(values.T, labels.classes).tree_
    leaf = theirs.children_left < 0
    expected = theirs.impurity[leaf] @ theirs.weighted_n_node_samples[leaf] / 2000
    assert impurity(ours.sums[~ours.is_split]) <= 1.02 * expected


def test_weights_are_repeated_samples_and_zero_is_none():
    for seed in range(10):
        codes, labels = draw_codes(seed, n_classes=3, weights="whole")
        repeated = np.repeat(np.arange(labels.classes.size), labels.weights.astype(int))
        literal = Labels(labels.classes[repeated], np.ones(repeated.size), 3)
        for bucket in (1.0, 5.0):
            assert_equal_trees(grown(codes, labels, 4, bucket), grown(codes[:, repeated], literal, 4, bucket))


def test_the_units_of_weights_do_not_matter():
    for seed in range(10):
        codes, labels = draw_codes(seed, n_classes=3, weights="whole")
        quarter = grown(codes, labels.weighted(labels.weights / 4), 4, 1.0)
        whole = grown(codes, labels, 4, 4.0)
        np.testing.assert_array_equal(quarter.features, whole.features)
        np.testing.assert_array_equal(quarter.sums * 4, whole.sums)


def test_trees_of_less_depth_are_this_one_cut_off():
    for seed in range(10):
        codes, labels = draw_codes(seed, n_classes=3, weights="any")
        deep = grown(codes, labels, 6)
        for depth in range(7):
            assert_equal_trees(grown(codes, labels, depth), deep.pruned(within(deep, depth)))


def test_of_equal_splits_the_first_row_and_the_lowest_cut():
    codes = np.array([[0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]], np.uint8)
    ordered = grown(codes, Labels(np.array([0, 0, 1, 1, 0, 0]), np.ones(6), 2), depth=1)
    assert (ordered.used.tolist(), ordered.thresholds[0]) == ([1], 1.0)
    gaps = grown(2 * codes, Labels(np.array([0, 0, 1, 1, 1, 1]), np.ones(6), 2), depth=1)
    assert (gaps.used.tolist(), gaps.thresholds[0]) == ([1], 2.0)


def test_what_no_split_improves_stays_a_leaf():
    grid = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], np.uint8)
    assert grown(grid, Labels(np.array([0, 1, 1, 0]), np.ones(4), 2)).n_splits == 0
    assert grown(grid, Labels(np.array([1, 1, 1, 1]), np.ones(4), 2)).n_splits == 0
    assert grown(grid, Labels(np.array([0, 0, 1, 1]), np.array([1.0, 1, 0, 0]), 2)).n_splits == 0
    assert grown(grid, Labels(np.array([0, 0, 1, 1]), np.ones(4), 2), min_bucket=2.1).n_splits == 0
    assert grown(grid, Labels(np.array([0, 0, 1, 1]), np.ones(4), 2), min_bucket=2.0).n_splits == 1
    assert grown(grid, Labels(np.array([0, 0, 1, 1]), np.ones(4), 2), depth=0).n_splits == 0
