"""Every tree that a grown one holds: cut off at a depth, and pruned by cost and complexity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backbone_dask.trees.tree import Tree

Splits = NDArray[np.bool_]
"""Marks the splits of a tree that are kept."""
# Two trees whose errors differ by less than this, relatively, are equally good.
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Pruned:
    """The splits that are best for every price of a split from `complexity` up to the next one's."""

    complexity: float
    splits: Splits


def within(tree: Tree, depth: int) -> Splits:
    """The splits above `depth`: greedy trees nest, so that they are the greedy tree of that depth."""
    return tree.is_split & (tree.depths < depth)


def weakest_links(tree: Tree, splits: Splits) -> Iterator[Pruned]:
    """The pruned trees of error + complexity * splits, from complexity 0 to the bare root; each holds the next."""
    kept, complexity = splits.copy(), 0.0
    while True:
        prices = link_prices(tree, kept)
        weakest = float(prices.min(initial=np.inf))
        if weakest > complexity + _EQUAL:
            yield Pruned(complexity, kept)
            if not kept.any():
                return
            complexity = weakest
        kept = _reachable(tree, kept & (prices > complexity + _EQUAL))


def pruned_at(tree: Tree, splits: Splits, complexity: float) -> Splits:
    """The splits that are worth `complexity` each, all in all; of equals the smaller tree."""
    best = splits
    for pruned in weakest_links(tree, splits):
        if pruned.complexity > complexity + _EQUAL:
            break
        best = pruned.splits
    return best


def link_prices(tree: Tree, kept: Splits) -> NDArray[np.float64]:
    """What a split below a node, and its own, take off the error share on average; infinite for leaves."""
    errors, counts = tree.mistakes / tree.sums[0].sum(), np.zeros(tree.n_nodes)
    below = errors.copy()
    for node in np.flatnonzero(kept)[::-1]:
        left, right = tree.left[node], tree.right[node]
        below[node], counts[node] = below[left] + below[right], 1 + counts[left] + counts[right]
    return np.where(kept, (errors - below) / np.maximum(counts, 1), np.inf)


def error_of(sums: NDArray[np.float64], tree: Tree, splits: Splits) -> float:
    """The misclassified share of other samples, whose sums in the nodes of the tree are given, by the kept splits."""
    leaves = _leaves(tree, splits)
    right = sums[leaves, tree.choices[leaves]].sum()
    return float(1 - right / sums[0].sum())


def _leaves(tree: Tree, splits: Splits) -> NDArray[np.int64]:
    inside = np.zeros(tree.n_nodes, np.bool_)
    inside[0] = True
    inside[tree.left[splits]] = inside[tree.right[splits]] = True
    return np.flatnonzero(inside & ~splits)


def _reachable(tree: Tree, kept: Splits) -> Splits:
    """Without the splits below one that is not kept."""
    reached = np.zeros(tree.n_nodes, np.bool_)
    reached[0] = True
    for node in np.flatnonzero(kept):
        reached[tree.left[node]] = reached[tree.right[node]] = reached[node]
    return kept & reached
