"""Trees drawn at random, and the literal versions of what the package does with whole arrays."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import LEAF, Tree, from_heap


def draw_labels(rng, n, n_classes=2, weights="ones"):
    """Classes at random; weights that are ones, whole numbers with zeros among them, or any numbers."""
    drawn = {
        "ones": np.ones(n),
        "whole": rng.integers(0, 4, n).astype(float),
        "any": np.where(rng.random(n) < 0.2, 0.0, rng.exponential(size=n)),
    }[weights]
    drawn[0] = 1.0
    return Labels(rng.integers(0, n_classes, n), drawn, n_classes)


def draw_tree(rng, depth=3, rows=3, n=30, n_classes=3, weights="whole"):
    """Random splits on whole numbers 0 to 5, with its samples (rows, n) and their labels."""
    X = rng.integers(0, 6, (rows, n))
    labels = draw_labels(rng, n, n_classes, weights)
    size = 2 ** (depth + 1) - 1
    features = np.where(rng.random(size) < 0.75, rng.integers(0, rows, size), LEAF)
    features[size // 2 :] = LEAF
    return from_heap(features, rng.integers(0, 5, size), X, labels), X, labels


def walk(tree: Tree, sample) -> list[int]:
    """The nodes that one sample passes, from the root to its leaf."""
    path = [0]
    while tree.left[path[-1]] != LEAF:
        node = path[-1]
        total = sum(
            weight * float(sample[row])
            for row, weight in zip(tree.features[node], tree.weights[node], strict=True)
            if row != LEAF
        )
        path.append(int(tree.left[node] if total <= tree.thresholds[node] else tree.right[node]))
    return path


def literal_sums(tree: Tree, X, labels: Labels):
    sums = np.zeros((tree.n_nodes, labels.n_classes))
    for sample, of_class, weight in zip(X.T, labels.classes, labels.weights, strict=True):
        for node in walk(tree, sample):
            sums[node, of_class] += weight
    return sums


def literal_error(tree: Tree, X, labels: Labels, trained: Tree | None = None) -> float:
    """The misclassified share; leaves predict by the sums of `trained`."""
    sums = (trained or tree).sums
    wrong = 0.0
    for sample, of_class, weight in zip(X.T, labels.classes, labels.weights, strict=True):
        wrong += weight * (int(np.argmax(sums[walk(tree, sample)[-1]])) != of_class)
    return wrong / labels.weights.sum()


def pruned_subtrees(tree: Tree, node: int = 0):
    """Every set of splits that is left when some nodes become leaves."""
    if tree.left[node] == LEAF:
        return [frozenset()]
    below = product(pruned_subtrees(tree, int(tree.left[node])), pruned_subtrees(tree, int(tree.right[node])))
    return [frozenset(), *(frozenset([node]) | left | right for left, right in below)]


def gini_score(left, right) -> Fraction:
    """Sum of squares over size of both sides: the larger, the purer. Exact, for whole weights."""
    return sum(
        (Fraction(sum(int(c) ** 2 for c in side), int(sum(side))) for side in (left, right) if sum(side)), Fraction(0)
    )


def every_split(codes, labels: Labels, samples, min_bucket):
    """(score, row, cut) of every split of some samples into two sides that have a weight, and enough of it."""
    for row, cut in product(range(len(codes)), range(int(codes.max()))):
        goes_left = codes[row, samples] <= cut
        sides = [labels.take(samples[goes_left]).counts, labels.take(samples[~goes_left]).counts]
        if all(side.sum() >= max(min_bucket, 1e-300) for side in sides):
            yield gini_score(*sides), row, cut
