"""Classification by a ground-truth tree: full, with balanced splits that every path can reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backbone_dask.store.synthetic.addresses import Purpose, generator
from backbone_dask.store.synthetic.gaussian import gather
from backbone_dask.store.synthetic.recipe import Recipe
from backbone_dask.store.synthetic.support import relevant
from backbone_dask.store.synthetic.truths import TreeTruth
from backbone_dask.values import CandidateIds, Target

RANGE = (-3.0, 3.0)
"""x_min and x_max of a feature before its first split: 99.7 % of a standard normal, which itself has no bounds."""


def tree_truth(recipe: Recipe) -> TreeTruth:
    """The ground-truth tree of a recipe."""
    ids = relevant(recipe)
    features = _split_features(recipe, ids)
    return TreeTruth(ids, features, _thresholds(recipe, features), _classes(recipe))


def tree_target(recipe: Recipe) -> Target:
    """The class of every sample's leaf: 0.0, 1.0, ..., shape (samples,)."""
    truth = tree_truth(recipe)
    return truth.classes[leaves(truth, gather(recipe, truth.ids))].astype(np.float64)


def leaves(truth: TreeTruth, X: NDArray[np.float32]) -> NDArray[np.int64]:
    """The leaf, counted from the left, that each sample of X (k, samples) falls into; rows of X are truth.ids."""
    row_of_node = np.searchsorted(truth.ids, truth.features)
    samples = np.arange(X.shape[1])
    node = np.zeros(X.shape[1], np.int64)
    for _ in range(truth.depth):
        goes_right = X[row_of_node[node], samples] > truth.thresholds[node]
        node = 2 * node + 1 + goes_right
    return node - truth.features.size


def _split_features(recipe: Recipe, ids: CandidateIds) -> NDArray[np.int64]:
    """A feature for each split node: every one at least r times, the rest of the nodes at random; in random order."""
    rng = generator(recipe.seed, Purpose.SPLITS)
    promised = np.repeat(ids, recipe.min_splits)
    free = rng.choice(ids, 2**recipe.depth - 1 - promised.size)
    return rng.permutation(np.concatenate([promised, free]))


def _thresholds(recipe: Recipe, features: NDArray[np.int64]) -> NDArray[np.float64]:
    """A threshold for each split node, within what the splits above leave of its feature's range."""
    low, high = recipe.balance / 2, 1 - recipe.balance / 2
    position = generator(recipe.seed, Purpose.THRESHOLDS).uniform(low, high, features.size)
    thresholds = np.empty(features.size)
    for node in range(features.size):
        least, most = reachable(node, features, thresholds)
        thresholds[node] = least + (most - least) * position[node]
    return thresholds


def reachable(node: int, features: NDArray[np.int64], thresholds: NDArray[np.float64]) -> tuple[float, float]:
    """The range of a node's own feature among the samples that reach it, given the thresholds of its ancestors."""
    least, most = RANGE
    child = node
    while child > 0:
        parent = (child - 1) // 2
        if features[parent] == features[node]:
            if child == 2 * parent + 1:
                most = min(most, float(thresholds[parent]))
            else:
                least = max(least, float(thresholds[parent]))
        child = parent
    return least, most


def _classes(recipe: Recipe) -> NDArray[np.int64]:
    """A class for each leaf: siblings differ, and are otherwise random."""
    rng = generator(recipe.seed, Purpose.LABELS)
    pairs, classes = 2 ** (recipe.depth - 1), recipe.n_classes
    left = rng.integers(classes, size=pairs)
    right = (left + rng.integers(1, classes, size=pairs)) % classes
    return np.stack([left, right], axis=1).ravel()
