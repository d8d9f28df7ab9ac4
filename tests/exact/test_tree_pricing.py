"""Prices of columns at the nodes of a tree, against loops over nodes, rows, cuts and samples."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backbone_dask.exact.trees.pricing import best_prices, price, visits
from backbone_dask.problems.tree_extension import PRICED_PER_SCORE, ranked
from backbone_dask.trees.growth import grow
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import LEAF

BINS = 5


def as_ranks(codes):
    """Ranks whose bins are the codes."""
    return codes.astype(np.uint16) << 8


def draw_case(seed):
    """A tree on a few rows, and the codes of more rows to be priced for it."""
    rng = np.random.default_rng([61, seed])
    n, rows, n_classes = 40, 7, 2 + seed % 3
    codes = rng.integers(0, BINS, (rows, n)).astype(np.uint8)
    weights = [np.ones(n), rng.integers(0, 3, n).astype(float), rng.exponential(size=n), np.full(n, 1 / n)][seed % 4]
    weights[0] += 0.5
    labels = Labels((rng.integers(0, n_classes, n) + (codes[5] > 2)) % n_classes, weights, n_classes)
    tree = grow(codes[:3], labels, n_bins=BINS, depth=1 + seed % 3, min_bucket=0.0)
    return tree, codes, labels


def walk_from(tree, node, sample):
    while tree.left[node] != LEAF:
        node = tree.left[node] if sample[tree.features[node, 0]] <= tree.thresholds[node] else tree.right[node]
    return node


def passing(tree, codes, node):
    """Samples whose walk from the root comes through a node."""
    found = []
    for i in range(codes.shape[1]):
        at = 0
        while at != node and tree.left[at] != LEAF:
            at = tree.left[at] if codes[tree.features[at, 0], i] <= tree.thresholds[at] else tree.right[at]
        if at == node:
            found.append(i)
    return found


def purity(labels, samples):
    counts = np.zeros(labels.n_classes)
    for i in samples:
        counts[labels.classes[i]] += labels.weights[i]
    return (counts**2).sum() / counts.sum()


def impurity_fall(labels, row, samples):
    """The most that a split of the samples into two sides with a weight takes off their Gini impurity."""
    samples = [i for i in samples if labels.weights[i] > 0]
    best = 0.0
    for cut in range(BINS - 1):
        sides = [i for i in samples if row[i] <= cut], [i for i in samples if row[i] > cut]
        if all(sides):
            best = max(best, sum(purity(labels, side) for side in sides) - purity(labels, samples))
    return best


def mistakes_saved(tree, codes, labels, node, row, samples):
    """What the best split by the row between the same children saves over sending every sample to the right."""
    if tree.left[node] == LEAF:
        return 0.0

    def mistakes(goes_left):
        total = 0.0
        for i in samples:
            child = tree.left[node] if goes_left(i) else tree.right[node]
            total += labels.weights[i] * (tree.choices[walk_from(tree, child, codes[:, i])] != labels.classes[i])
        return total

    most = max(row[i] for i in samples if labels.weights[i] > 0)
    cuts = [mistakes(lambda i, cut=cut: row[i] <= cut) for cut in range(most)]
    return max(0.0, mistakes(lambda i: False) - min(cuts, default=np.inf))


def literal_prices(tree, codes, labels):
    scores = []
    for node in sorted(range(tree.n_nodes), key=lambda node: (tree.depths[node], node)):
        samples = passing(tree, codes, node)
        scores.append([impurity_fall(labels, row, samples) for row in codes])
        scores.append([mistakes_saved(tree, codes, labels, node, row, samples) for row in codes])
    return np.array(scores)


@pytest.mark.parametrize("seed", range(16))
def test_prices_are_those_of_the_loops(seed):
    tree, codes, labels = draw_case(seed)
    found = price(as_ranks(codes), visits(tree, codes[:3], labels))
    np.testing.assert_allclose(found, literal_prices(tree, codes, labels), atol=1e-9)
    assert (found > 1e-6).sum() > 5


def test_the_units_of_weights_only_scale_prices():
    for seed in range(8):
        tree, codes, labels = draw_case(seed)
        small = labels.weighted(labels.weights / 1024)
        whole = price(as_ranks(codes), visits(tree, codes[:3], labels))
        np.testing.assert_allclose(1024 * price(as_ranks(codes), visits(tree, codes[:3], small)), whole, atol=1e-9)


def test_visits_are_the_nodes_on_the_way():
    for seed in range(8):
        tree, codes, labels = draw_case(seed)
        seen = visits(tree, codes[:3], labels)
        for level in range(tree.depth + 1):
            for number, node in enumerate(np.flatnonzero(tree.depths == level)):
                assert np.flatnonzero(seen.nodes[level] == number).tolist() == passing(tree, codes, node)


@given(st.integers(0, 30), st.lists(st.integers(1, 6), max_size=3, unique=True))
def test_the_best_of_all_parts_are_the_best_of_the_whole(seed, at):
    tree, codes, labels = draw_case(seed)
    seen = visits(tree, codes[:3], labels)
    candidates = np.array([2, 3, 11, 40, 41, 500, 9000])
    bounds = [0, *sorted(at), len(codes)]
    parts = [best_prices(as_ranks(codes[a:b]), seen, PRICED_PER_SCORE) for a, b in pairwise(bounds)]
    whole = ranked([best_prices(as_ranks(codes), seen, PRICED_PER_SCORE)], [0], candidates)
    np.testing.assert_array_equal(ranked(parts, bounds[:-1], candidates), whole)
    assert whole.tolist() == literal_ranked(price(as_ranks(codes), seen), candidates)


def literal_ranked(scores, candidates):
    """The best row of each score, then the second best; rows of no use are left out, and of equals the first comes."""
    orders = [sorted(range(len(row)), key=lambda j, row=row: (-row[j], j)) for row in scores]
    return [
        candidates[order[rank]]
        for rank in range(PRICED_PER_SCORE)
        for order, row in zip(orders, scores, strict=True)
        if row[order[rank]] > 0
    ]


def test_the_row_that_a_tree_lacks_has_the_best_price():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, BINS, (50, 300)).astype(np.uint8)
    labels = Labels(((codes[3] > 2) & (codes[30] > 1)).astype(np.int64), np.ones(300), 2)
    tree = grow(codes[:5], labels, n_bins=BINS, depth=2, min_bucket=1.0)
    assert 30 in best_prices(as_ranks(codes), visits(tree, codes[:5], labels), 1).positions


def test_a_leaf_of_one_class_names_no_row():
    """Also where weights do not add up exactly."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, BINS, (9, 200)).astype(np.uint8)
    labels = Labels((codes[0] > 2).astype(np.int64), rng.exponential(size=200), 2)
    tree = grow(codes[:1], labels, n_bins=BINS, depth=2, min_bucket=1.0)
    prices = price(as_ranks(codes), visits(tree, codes[:1], labels))
    assert tree.n_nodes == 3
    assert prices[0].min() > 0
    assert not prices[2:].any()
