"""Samples that no split tells apart are one kind: the exact solvers need each only once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.exact.trees.proof import Reduced
from backbone_dask.exact.trees.splits import Bits, Splits
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Floats, Ints, Tree


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Kinds of samples, and groups: the samples of one kind and one class.

    Attributes
    ----------
    right : array (splits, kinds)
        Marks who goes right.
    group_kinds, group_classes, group_weights : array (groups,)
        Sorted by kind.
    """

    right: Bits
    group_kinds: Ints
    group_classes: Ints
    group_weights: Floats

    @classmethod
    def of(cls, splits: Splits, labels: Labels) -> Kinds:
        packed = np.packbits(splits.right, axis=0)
        _, first, kind = np.unique(packed, axis=1, return_index=True, return_inverse=True)
        there = labels.take(splits.present)
        key, inverse = np.unique(kind.ravel() * labels.n_classes + there.classes, return_inverse=True)
        weights = np.bincount(inverse, there.weights).astype(np.float64)
        return cls(splits.right[:, first], key // labels.n_classes, key % labels.n_classes, weights)

    @property
    def size(self) -> int:
        return int(self.right.shape[1])

    @property
    def weights(self) -> Floats:
        """Of every kind."""
        return np.bincount(self.group_kinds, self.group_weights, self.size).astype(np.float64)

    @property
    def groups_of(self) -> list[list[int]]:
        """The groups of every kind."""
        ends = np.searchsorted(self.group_kinds, np.arange(1, self.size))
        return [part.tolist() for part in np.split(np.arange(self.group_kinds.size), ends)]

    def leaves_in(self, heap: Ints) -> Ints:
        """The leaf of the full tree where every kind ends, if it goes left where `heap` has no split."""
        n_nodes = heap.size // 2
        at = np.zeros(self.size, np.int64)
        while at[0] < n_nodes:
            split = heap[at]
            at = 2 * at + 1 + ((split >= 0) & self.right[split, np.arange(self.size)])
        return at - n_nodes

    def best_classes(self, leaves: Ints, n_leaves: int) -> Ints:
        """The heaviest class in every leaf, if every kind ends in the leaf given."""
        n_classes = int(self.group_classes.max()) + 1
        key = leaves[self.group_kinds] * n_classes + self.group_classes
        sums = np.bincount(key, self.group_weights, n_leaves * n_classes).reshape(n_leaves, -1)
        return np.asarray(sums.argmax(axis=1))


def start_heap(problem: Reduced) -> Ints:
    """The start as a heap of splits: node t has split heap[t], -1 is none. Sides are swapped where a split's are."""
    tree, splits = problem.start, problem.splits
    heap = np.full(2 ** (problem.goal.depth + 1) - 1, -1)
    places = splits.places()

    def place(tree: Tree, node: int, at: int) -> None:
        if not tree.is_split[node]:
            return
        right = problem.table.codes[tree.features[node, 0], splits.present] > tree.thresholds[node]
        heap[at], swapped = splits.place_of(right, places)
        place(tree, int(tree.left[node]), 2 * at + 1 + swapped)
        place(tree, int(tree.right[node]), 2 * at + 2 - swapped)

    place(tree, 0, 0)
    return heap
