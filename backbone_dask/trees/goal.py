"""What a tree is judged by, and what no tree can do better than."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Tree


@dataclass(frozen=True, slots=True)
class Goal:
    """Minimise the misclassified share of the weight + complexity * splits.

    A tree has at most `depth` splits on a path, and each of its leaves some weight and at least `min_bucket`, unless it
    is the only one.
    """

    depth: int
    min_bucket: float
    complexity: float

    def objective(self, tree: Tree) -> float:
        return tree.error + self.complexity * tree.n_splits

    def allows(self, tree: Tree) -> bool:
        """Whether depth and buckets are respected."""
        smallest = tree.sums[~tree.is_split].sum(axis=1).min()
        return tree.depth <= self.depth and (tree.n_splits == 0 or bool(smallest >= self.min_bucket and smallest > 0))

    def floor(self, X: NDArray[Any], labels: Labels) -> float:
        """A bound that holds for every tree on X (rows, samples), found without looking for one.

        s splits make s + 1 leaves, which name at most as many classes; and samples that are equal in every row are
        told apart by no tree.
        """
        shares = np.sort(labels.counts / labels.total)
        most = min(labels.n_classes - 1, 2**self.depth - 1)
        alike = unavoidable(X, labels)
        unnamed = [float(shares[: shares.size - 1 - splits].sum()) for splits in range(most + 1)]
        return min(self.complexity * splits + max(alike, share) for splits, share in enumerate(unnamed))


def unavoidable(X: NDArray[Any], labels: Labels) -> float:
    """The share of weight that is misclassified by the best prediction from all of X at once."""
    there = np.flatnonzero(labels.weights > 0)
    samples = np.ascontiguousarray(X[:, there].T)
    kinds = np.unique([hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in samples], return_inverse=True)
    sums = np.zeros((kinds[0].size, labels.n_classes))
    np.add.at(sums, (kinds[1], labels.classes[there]), labels.weights[there])
    return float((sums.sum(axis=1) - sums.max(axis=1)).sum() / labels.total)
