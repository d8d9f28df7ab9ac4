"""Which columns, of all that are held, would improve a tree at one of its nodes: what sampling has lost comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.trees.bins import COARSE_BITS, RANK_BITS, Ranks
from backbone_dask.trees.growth import LEAST_GAIN, best_cut
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Tree

N_BINS, SHIFT = 1 << COARSE_BITS, RANK_BITS - COARSE_BITS


@dataclass(frozen=True, slots=True)
class Visits:
    """Where every sample passes in a tree, level by level; small next to the columns that are priced with it.

    Attributes
    ----------
    nodes : array (levels, samples)
        A number for the sample's node among those of its level, -1 if it has ended in a leaf before.
    rises : array (levels, samples)
        What the sample adds to the mistakes if it goes left instead of right, with the children as they are.
    """

    nodes: NDArray[np.int64]
    rises: NDArray[np.float64]
    labels: Labels


def visits(tree: Tree, X: NDArray[Any], labels: Labels) -> Visits:
    """The visits of the samples of X (rows, samples), which have a weight."""
    depths, leaves = tree.depths, tree.leaves(X)
    wrong = tree.choices[:, None] != labels.classes
    ancestors = _ancestors(tree)
    nodes, rises = [], []
    for level in range(tree.depth + 1):
        at = ancestors[level][leaves]
        here = np.flatnonzero(depths == level)
        number = np.full(tree.n_nodes + 1, -1)
        number[here] = np.arange(here.size)
        nodes.append(number[at])
        rises.append(np.where(at < 0, 0.0, labels.weights * _rise(tree, at, leaves, X, wrong)))
    return Visits(np.array(nodes), np.array(rises), labels)


def price(ranks: Ranks, seen: Visits) -> NDArray[np.float64]:
    """What each row of ranks would take off at every node: two scores a node (scores, rows), none below 0.

    One is the fall of the Gini impurity by a split of the node's samples, the other the mistakes that another split
    between the same children saves over sending every sample to the right; both in units of weight.
    """
    parts = []
    for nodes, rises in zip(seen.nodes, seen.rises, strict=True):
        here = np.flatnonzero((nodes >= 0) & (seen.labels.weights > 0))
        scores = np.zeros((2 * (int(nodes.max()) + 1), ranks.shape[0]))
        data = (seen.labels.classes[here], seen.labels.weights[here], seen.labels.n_classes)
        _price_level(ranks, here, nodes[here], rises[here], *data, scores)
        parts.append(scores)
    return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class Prices:
    """The best rows at every node, by score: positions and scores (scores, at most `keep`)."""

    positions: NDArray[np.int64]
    scores: NDArray[np.float64]


def best_prices(ranks: Ranks, seen: Visits, keep: int) -> Prices:
    """The `keep` best rows for each score, the best first; of equals the first row."""
    scores = price(ranks, seen)
    positions = np.argsort(-scores, axis=1, kind="stable")[:, :keep]
    return Prices(positions, np.take_along_axis(scores, positions, axis=1))


def _ancestors(tree: Tree) -> NDArray[np.int64]:
    """The ancestor of every node at every level (levels, nodes), or the node itself; -1 below it."""
    found = np.full((tree.depth + 1, tree.n_nodes), -1)
    found[0, 0] = 0
    depths = tree.depths
    for node in np.flatnonzero(tree.is_split):
        for child in (tree.left[node], tree.right[node]):
            found[:, child] = found[:, node]
            found[depths[child], child] = child
    return found


def _rise(
    tree: Tree, at: NDArray[np.int64], leaves: NDArray[np.int64], X: NDArray[Any], wrong: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Wrong if it went left minus wrong if it went right, at the node where each sample is; 0 in leaves."""
    samples = np.arange(at.size)
    rise = np.zeros(at.size)
    for side, sign in ((tree.left, 1.0), (tree.right, -1.0)):
        start = np.where(at >= 0, side[at], -1)
        ends = tree.leaves_from(start, X)
        rise += sign * np.where(ends >= 0, wrong[ends, samples], 0)
    return rise


@numba.njit(cache=True, nogil=True)
def _price_level(ranks, here, nodes, rises, classes, weights, n_classes, scores):  # type: ignore[no-untyped-def]
    n_nodes = scores.shape[0] // 2
    totals = np.zeros((n_nodes, n_classes))
    for at in range(here.size):
        totals[nodes[at], classes[at]] += weights[at]
    cells = np.empty((n_nodes, N_BINS, n_classes))
    slopes = np.empty((n_nodes, N_BINS))
    for row in range(ranks.shape[0]):
        cells[:], slopes[:] = 0, 0.0
        for at in range(here.size):
            code = ranks[row, here[at]] >> SHIFT
            cells[nodes[at], code, classes[at]] += weights[at]
            slopes[nodes[at], code] += rises[at]
        for node in range(n_nodes):
            whole = totals[node].sum()
            base = (totals[node] ** 2).sum() / whole if whole > 0 else 0.0
            score, cut = best_cut(cells[node], totals[node], 0.0, base * (1 + LEAST_GAIN))
            scores[2 * node, row] = score - base if cut >= 0 else 0.0
            scores[2 * node + 1, row] = _fall(slopes[node], cells[node], whole)


@numba.njit(cache=True, nogil=True)
def _fall(slopes, cells, whole):  # type: ignore[no-untyped-def]
    """By how much the best cut with samples on its right is better than sending every sample there."""
    cost, least, below = 0.0, 0.0, 0.0
    for cut in range(slopes.size - 1):
        cost += slopes[cut]
        below += cells[cut].sum()
        if whole - below <= LEAST_GAIN * whole:
            break
        least = min(least, cost)
    return -least
