"""A tree as a value: its splits, and the classes of the training samples that reach every node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.trees.labels import Labels

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LEAF = -1


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Node 0 is the root, and every child comes after its parent.

    Attributes
    ----------
    features, weights : array (nodes, s)
        A split weighs up to s rows of a table; `features` is -1 where there are fewer, and all -1 in a leaf.
    thresholds : array (nodes,)
        A sample goes left if its weighted sum is at most this.
    left, right : array (nodes,)
        Children; -1 in a leaf.
    sums : array (nodes, classes)
        The weight of every class among the training samples that reach the node.
    """

    features: Ints
    weights: Floats
    thresholds: Floats
    left: Ints
    right: Ints
    sums: Floats

    @property
    def n_nodes(self) -> int:
        return self.left.size

    @property
    def is_split(self) -> NDArray[np.bool_]:
        return np.asarray(self.left != LEAF)

    @property
    def n_splits(self) -> int:
        return int(self.is_split.sum())

    @property
    def used(self) -> Ints:
        """The rows that some split uses, sorted."""
        rows = np.unique(self.features)
        return np.asarray(rows[rows != LEAF])

    @property
    def depths(self) -> Ints:
        """Of every node; the root's is 0."""
        depths = np.zeros(self.n_nodes, np.int64)
        for node in np.flatnonzero(self.is_split):
            depths[self.left[node]] = depths[self.right[node]] = depths[node] + 1
        return depths

    @property
    def depth(self) -> int:
        return int(self.depths.max())

    @property
    def choices(self) -> Ints:
        """The class that every node would predict: the heaviest, of equals the first."""
        return np.asarray(self.sums.argmax(axis=1))

    @property
    def mistakes(self) -> Floats:
        """The weight that every node would misclassify if it were a leaf."""
        return np.asarray(self.sums.sum(axis=1) - self.sums.max(axis=1))

    @property
    def error(self) -> float:
        """The misclassified share of the training weight."""
        return float(self.mistakes[~self.is_split].sum() / self.sums[0].sum())

    def leaves(self, X: NDArray[Any], start: int = 0) -> Ints:
        """The leaf that every sample of X (rows, samples) ends in if it sets out from the node `start`."""
        return self.leaves_from(np.full(X.shape[1], start), X)

    def leaves_from(self, start: Ints, X: NDArray[Any]) -> Ints:
        """The leaf that every sample ends in if it sets out from a node of its own; -1 stays -1."""
        at = start.copy()
        moving = np.flatnonzero((at != LEAF) & self.is_split[at])
        while moving.size:
            node = at[moving]
            right = self.projected(X, node, moving) > self.thresholds[node]
            at[moving] = np.where(right, self.right[node], self.left[node])
            moving = moving[self.is_split[at[moving]]]
        return at

    def projected(self, X: NDArray[Any], node: Ints | int, samples: Ints) -> Floats:
        """The weighted sum of each of the samples, at one node or at one for each."""
        total = np.zeros(samples.size)
        for place in range(self.features.shape[1]):
            rows, weights = self.features[node, place], self.weights[node, place]
            total += np.where(rows == LEAF, 0.0, weights * X[np.maximum(rows, 0), samples])
        return total

    def filled(self, X: NDArray[Any], labels: Labels) -> Tree:
        """The same splits with the sums of other samples."""
        return replace(self, sums=self.reached(X, labels))

    def reached(self, X: NDArray[Any], labels: Labels) -> Floats:
        """The weight of every class in every node (nodes, K), for any samples."""
        key = self.leaves(X) * labels.n_classes + labels.classes
        sums = np.bincount(key, labels.weights, self.n_nodes * labels.n_classes).reshape(self.n_nodes, -1)
        for node in np.flatnonzero(self.is_split)[::-1]:
            sums[node] = sums[self.left[node]] + sums[self.right[node]]
        return sums.astype(np.float64)

    def pruned(self, keep: NDArray[np.bool_]) -> Tree:
        """Only the splits marked in `keep` (nodes,), and of those only the ones whose ancestors are, too."""
        kept, order = keep & self.is_split, [0]
        for node in order:
            order += [int(self.left[node]), int(self.right[node])] if kept[node] else []
        old = np.array(order)
        place = np.full(self.n_nodes, LEAF)
        place[old] = np.arange(old.size)
        split = kept[old]
        return Tree(
            np.where(split[:, None], self.features[old], LEAF),
            np.where(split[:, None], self.weights[old], 0.0),
            np.where(split, self.thresholds[old], 0.0),
            np.where(split, place[self.left[old]], LEAF),
            np.where(split, place[self.right[old]], LEAF),
            self.sums[old],
        )


def leaf(labels: Labels) -> Tree:
    """The tree without a split."""
    nothing, child = np.full((1, 1), LEAF), np.full(1, LEAF)
    return Tree(nothing, np.zeros((1, 1)), np.zeros(1), child, child, labels.counts[None])


def from_heap(features: NDArray[Any], thresholds: NDArray[Any], X: NDArray[Any], labels: Labels) -> Tree:
    """The tree whose node t has the children 2t + 1 and 2t + 2; a feature of -1 makes it a leaf."""
    order = [0]
    for node in order:
        order += [2 * node + 1, 2 * node + 2] if features[node] != LEAF else []
    old = np.array(order)
    place = np.full(2 * features.size + 1, LEAF)
    place[old] = np.arange(old.size)
    split = features[old] != LEAF
    shape = Tree(
        features[old].astype(np.int64)[:, None],
        split.astype(np.float64)[:, None],
        np.where(split, thresholds[old], 0).astype(np.float64),
        np.where(split, place[2 * old + 1], LEAF),
        np.where(split, place[2 * old + 2], LEAF),
        np.zeros((old.size, labels.n_classes)),
    )
    return shape.filled(X, labels)
