"""CART subproblems: greedy trees whose depth, bucket and complexity are chosen on a hold-out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from backbone_dask.trees.bins import Ranks
from backbone_dask.trees.growth import grow
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.pruning import error_of, pruned_at, weakest_links, within
from backbone_dask.trees.tree import Tree
from backbone_dask.values import Mask

TRAINING_SHARE = 0.7
_DECIMALS = 12
"""Errors that differ beyond these are equal: the same samples, added in another order."""


@dataclass(frozen=True, slots=True)
class CartFit:
    """A tree on the rows of one table of ranks, and its training error."""

    n_columns: int
    tree: Tree

    @property
    def objective(self) -> float:
        return self.tree.error


class Choice(NamedTuple):
    """How far a tree is grown and pruned, and how that did on the hold-out; the least is the best."""

    error: float
    n_splits: int
    depth: int
    min_bucket: float
    complexity: float


@dataclass(frozen=True, slots=True)
class FitCart:
    """The greedy tree at the depth, bucket and complexity with the least hold-out error; of equals the smallest.

    One tree is grown for each bucket: it holds those of every depth, and each of them all that pruning can make of it.
    """

    depths: tuple[int, ...]
    min_buckets: tuple[float, ...]
    n_bins: int

    def __call__(self, X: Ranks, y: Labels, *, seed: int) -> CartFit:
        if min(self.depths) == max(self.depths) == 0:
            return CartFit(X.shape[0], self._grown(X, y, 0, 1.0))
        best = min(self.choices(X, y, seed), default=Choice(0.0, 0, max(self.depths), max(self.min_buckets), 0.0))
        return self.at(best.depth, best.min_bucket, best.complexity, X, y)

    def at(self, depth: int, min_bucket: float, complexity: float, X: Ranks, y: Labels) -> CartFit:
        """The greedy tree of all samples, pruned."""
        tree = self._grown(X, y, depth, min_bucket)
        return CartFit(X.shape[0], tree.pruned(pruned_at(tree, tree.is_split, complexity)))

    def _grown(self, X: Ranks, y: Labels, depth: int, min_bucket: float) -> Tree:
        return grow(X, y, n_bins=self.n_bins, depth=depth, min_bucket=min_bucket)

    def choices(self, X: Ranks, y: Labels, seed: int) -> Iterator[Choice]:
        """All that a hold-out compares; none where no sample can be held out."""
        training = draw_training(y, seed)
        trained, left_out = y.weighted(y.weights * training), y.weighted(y.weights * ~training)
        for min_bucket in self.min_buckets if left_out.weights.any() else ():
            yield from self._choices(self._grown(X, trained, max(self.depths), min_bucket), X, left_out, min_bucket)

    def _choices(self, tree: Tree, X: Ranks, left_out: Labels, min_bucket: float) -> Iterator[Choice]:
        sums = tree.reached(X, left_out)
        for depth in self.depths:
            for pruned in weakest_links(tree, within(tree, depth)):
                error = round(error_of(sums, tree, pruned.splits), _DECIMALS)
                yield Choice(error, int(pruned.splits.sum()), depth, min_bucket, pruned.complexity)


def draw_training(labels: Labels, seed: int) -> NDArray[np.bool_]:
    """Marks the samples to train on, the same share of every class; a class of one sample is trained on."""
    rng = np.random.default_rng(seed)
    training = np.zeros(labels.classes.size, np.bool_)
    for each in range(labels.n_classes):
        members = rng.permutation(np.flatnonzero((labels.classes == each) & (labels.weights > 0)))
        training[members[: int(np.ceil(TRAINING_SHARE * members.size))]] = True
    return training


def used_features(fit: CartFit) -> Mask:
    """Marks the columns that some split uses."""
    mask = np.zeros(fit.n_columns, np.bool_)
    mask[fit.tree.used] = True
    return mask
