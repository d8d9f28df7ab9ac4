"""Greedy growth by Gini impurity, as CART does it, level by level over binned columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.trees.bins import COARSE_BITS, RANK_BITS, Codes, Ranks
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Tree, from_heap

# A gain below this, relatively, is rounding.
LEAST_GAIN = 1e-10
LOOKED_AT = 8
"""How many rows of a node are looked through value by value."""


class Coded(NamedTuple):
    """What trees are grown from, in the form that compiled code takes; see `coded`."""

    codes: NDArray[np.uint16]
    classes: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_classes: int
    n_bins: int
    min_bucket: float
    shift: int
    """How many low bits of a code a bin leaves out."""


def coded(codes: Codes | Ranks, labels: Labels, n_bins: int, min_bucket: float) -> Coded:
    shift = RANK_BITS - COARSE_BITS if codes.dtype == np.uint16 else 0
    arrays = (_read_only(codes.astype(np.uint16, copy=False)), _read_only(labels.classes), _read_only(labels.weights))
    return Coded(*arrays, labels.n_classes, n_bins, float(min_bucket), shift)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array under one type, so that code is compiled once: what came over the network is read-only."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def grow(codes: Codes | Ranks, labels: Labels, *, n_bins: int, depth: int, min_bucket: float) -> Tree:
    """The greedy tree of at most `depth`, on codes below `n_bins` or on ranks, which have 256 bins.

    Thresholds are codes. No leaf has less weight than `min_bucket`. Of equal splits the first row's lowest cut is
    taken, so that a tree of less depth is this one cut off there. On ranks the rows with the best splits between bins
    are looked through value by value.
    """
    present = np.flatnonzero(labels.weights > 0)
    features, cuts = empty_heap(depth)
    grow_heap(coded(codes, labels, n_bins, min_bucket), np.arange(codes.shape[0]), present, features, cuts)
    return from_heap(features, cuts, codes, labels)


def empty_heap(depth: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Features and cuts of a tree of `depth` with no split yet."""
    size = 2 ** (depth + 1) - 1
    return np.full(size, -1), np.zeros(size, np.int64)


@numba.njit(cache=True, nogil=True)
def grow_heap(data, rows, samples, features, cuts):  # type: ignore[no-untyped-def]
    """Fill the heap `features`, `cuts` with splits on some `rows` of codes, for some `samples`."""
    features[:] = -1
    here, place = samples.copy(), np.zeros(samples.size, np.int64)
    first, width = 0, 1
    while 2 * first + 2 < features.size and here.size > 0:
        sums = _sums(data, here, place - first, width)
        slots, best = _open_slots(sums, data.min_bucket)
        here, place = _in_open(here, place, slots, first)
        if here.size == 0:
            return
        owner, totals = slots[place - first], _compact(sums, slots, best.size)
        base = owner * data.n_bins * data.n_classes + data.classes[here]
        found = _search(data, rows, here, base, totals, best)
        splits = _best_values(data, here, owner, totals, found) if data.shift else found[:, 0]
        for node in range(width):
            if slots[node] >= 0 and splits[slots[node], 0] >= 0:
                features[first + node], cuts[first + node] = splits[slots[node]]
        here, place = _descend(data.codes, here, place, features, cuts)
        first, width = 2 * first + 1, 2 * width


@numba.njit(cache=True, nogil=True)
def _sums(data, here, nodes, width):  # type: ignore[no-untyped-def]
    sums = np.zeros((width, data.n_classes))
    for at in range(here.size):
        sums[nodes[at], data.classes[here[at]]] += data.weights[here[at]]
    return sums


@numba.njit(cache=True, nogil=True)
def _open_slots(sums, min_bucket):  # type: ignore[no-untyped-def]
    """A number for every node that may be split, -1 for the others; and what a split has to beat."""
    slots, size = np.full(len(sums), -1), 0
    least = np.empty(len(sums))
    for node in range(len(sums)):
        total, squares = sums[node].sum(), (sums[node] ** 2).sum()
        if total >= 2 * min_bucket and squares < total * total:
            slots[node], least[size] = size, squares / total * (1 + LEAST_GAIN)
            size += 1
    return slots, least[:size]


@numba.njit(cache=True, nogil=True)
def _in_open(here, place, slots, first):  # type: ignore[no-untyped-def]
    stays = slots[place - first] >= 0
    return here[stays], place[stays]


@numba.njit(cache=True, nogil=True)
def _compact(sums, slots, size):  # type: ignore[no-untyped-def]
    totals = np.empty((size, sums.shape[1]))
    for node in range(len(sums)):
        if slots[node] >= 0:
            totals[slots[node]] = sums[node]
    return totals


@numba.njit(cache=True, nogil=True)
def _search(data, rows, here, base, totals, least):  # type: ignore[no-untyped-def]
    """Row and bin of the best splits of every open node that beat `least`, the best first (nodes, LOOKED_AT, 2)."""
    n_nodes, n_classes = totals.shape
    weights, kept = data.weights[here], LOOKED_AT if data.shift else 1
    found, scores = np.full((n_nodes, kept, 2), -1), np.empty((n_nodes, kept))
    for node in range(n_nodes):
        scores[node] = least[node]
    cells = np.empty(n_nodes * data.n_bins * n_classes)
    for row in rows:
        column = data.codes[row]
        cells[:] = 0
        for at in range(here.size):
            cells[base[at] + (column[here[at]] >> data.shift) * n_classes] += weights[at]
        shaped = cells.reshape(n_nodes, data.n_bins, n_classes)
        for node in range(n_nodes):
            score, cut = best_cut(shaped[node], totals[node], data.min_bucket, scores[node, kept - 1])
            if cut >= 0:
                _insert(scores[node], found[node], score, row, cut)
    return found


@numba.njit(cache=True, nogil=True)
def _insert(scores, found, score, row, cut):  # type: ignore[no-untyped-def]
    """Put a split into its place among the best; of equals the earlier one stays ahead."""
    at = scores.size - 1
    while at > 0 and scores[at - 1] < score:
        scores[at], found[at, 0], found[at, 1] = scores[at - 1], found[at - 1, 0], found[at - 1, 1]
        at -= 1
    scores[at], found[at, 0], found[at, 1] = score, row, cut


@numba.njit(cache=True, nogil=True)
def _best_values(data, here, owner, totals, found):  # type: ignore[no-untyped-def]
    """The best split of every node among all values of the rows that `found` names."""
    n_nodes = totals.shape[0]
    order = np.argsort(owner, kind="mergesort")
    ends = np.searchsorted(owner[order], np.arange(n_nodes + 1))
    splits = np.full((n_nodes, 2), -1)
    for node in range(n_nodes):
        inside, best = here[order[ends[node] : ends[node + 1]]], 0.0
        for row, _ in found[node]:
            if row < 0:
                break
            score, cut = _best_value(data, inside, row, totals[node])
            if score > best:
                best, splits[node, 0], splits[node, 1] = score, row, cut
    return splits


@numba.njit(cache=True, nogil=True)
def _best_value(data, inside, row, totals):  # type: ignore[no-untyped-def]
    """The best cut of some samples between two of the codes that they have, halfway."""
    codes = data.codes[row][inside]
    order = np.argsort(codes, kind="mergesort")
    cells, levels, size = np.zeros((inside.size, data.n_classes)), np.empty(inside.size, np.int64), 0
    for at in order:
        if size == 0 or codes[at] != levels[size - 1]:
            levels[size] = codes[at]
            size += 1
        cells[size - 1, data.classes[inside[at]]] += data.weights[inside[at]]
    score, cut = best_cut(cells[:size], totals, data.min_bucket, 0.0)
    return score, (levels[cut] + levels[cut + 1]) // 2 if cut >= 0 else -1


@numba.njit(cache=True, nogil=True)
def best_cut(cells, totals, min_bucket, least):  # type: ignore[no-untyped-def]
    """The cut with the largest sum of squares over size of both sides, if it is above `least`; else -1."""
    n_bins, n_classes = cells.shape
    below, under, whole = np.zeros(n_classes), 0.0, totals.sum()
    best, found = least, -1
    for cut in range(n_bins - 1):
        moved = 0.0
        for k in range(n_classes):
            below[k] += cells[cut, k]
            moved += cells[cut, k]
        under += moved
        over = whole - under
        if over < min_bucket or over <= 0:
            break
        if moved == 0 or under < min_bucket:
            continue
        left, right = 0.0, 0.0
        for k in range(n_classes):
            left += below[k] * below[k]
            right += (totals[k] - below[k]) ** 2
        score = left / under + right / over
        if score > best:
            best, found = score, cut
    return best, found


@numba.njit(cache=True, nogil=True)
def _descend(codes, here, place, features, cuts):  # type: ignore[no-untyped-def]
    """Samples of nodes that were split, in their children."""
    size = 0
    for at in range(here.size):
        node = place[at]
        if features[node] >= 0:
            right = codes[features[node], here[at]] > cuts[node]
            here[size], place[size] = here[at], 2 * node + 1 + right
            size += 1
    return here[:size], place[:size]
