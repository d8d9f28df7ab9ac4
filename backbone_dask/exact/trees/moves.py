"""One sweep of the local search over a tree: every node in turn gets the best of a few changes, if one helps.

Trees are heaps: node t has the children 2t + 1 and 2t + 2, and a feature of -1 makes a leaf. Costs are in units of
weight: mistakes plus `price` for every split.
"""

from __future__ import annotations

import numba
import numpy as np

from backbone_dask.trees.growth import best_cut, grow_heap

# A cost that falls by less than this, relatively, has not fallen.
LEAST_FALL = 1e-9


@numba.njit(cache=True, nogil=True)
def sweep(data, price, width, order, calm, looked, features, cuts):  # type: ignore[no-untyped-def]
    """Visit the nodes in `order` and improve the heap in place; whether anything was improved.

    `calm` marks nodes that nothing has changed about, above or below, since no change helped them; `looked` those whose
    samples are the same as when their splits were tried with everything below grown anew: both would say no again.
    """
    improved = False
    for node in order:
        if calm[node] or (node > 0 and features[(node - 1) // 2] < 0):
            continue
        here = reaching(data.codes, features, cuts, node)
        own_f, own_c = lifted(features, cuts, node, size_below(features.size, node))
        before, labels = settle(data, here, price, own_f, own_c)
        best = (before, own_f, own_c)
        # Whatever has a split costs at least the price of one.
        if before > price:
            best = _simple_moves(data, here, price, before, labels, own_f, own_c)
            if not looked[node]:
                best = _regrown(data, here, price, width, best)
        plant(features, cuts, node, best[1], best[2])
        calm[node] = looked[node] = True
        if best[0] < before:
            _disturb(node, calm, looked)
            improved = True
    return improved


@numba.njit(cache=True, nogil=True)
def _disturb(node, calm, looked):  # type: ignore[no-untyped-def]
    """After a change of a node's subtree: it and the nodes above have another subtree, those below other samples."""
    above = node
    while above > 0:
        calm[above] = False
        above = (above - 1) // 2
    calm[0] = False
    first, size = 2 * node + 1, 2
    while first < calm.size:
        calm[first : first + size] = False
        looked[first : first + size] = False
        first, size = 2 * first + 1, 2 * size


@numba.njit(cache=True, nogil=True)
def _simple_moves(data, here, price, before, labels, own_f, own_c):  # type: ignore[no-untyped-def]
    """The cheapest of a subtree and what `_changed` makes of it: cost, features, cuts."""
    best = (before, own_f, own_c)
    for kind in range(4):
        new_f, new_c = own_f.copy(), own_c.copy()
        if _changed(kind, data, here, labels, new_f, new_c):
            best = _cheaper(data, here, price, best, new_f, new_c)
    return best


@numba.njit(cache=True, nogil=True)
def _regrown(data, here, price, width, best):  # type: ignore[no-untyped-def]
    """The cheapest of `best` and of the greedy subtrees below each of the root's `width` most promising splits."""
    size = best[1].size
    if size <= 3:
        return best
    rows, row_cuts = _promising(data, here, width)
    for at in range(rows.size):
        new_f, new_c = np.full(size, -1), np.zeros(size, np.int64)
        new_f[0], new_c[0] = rows[at], row_cuts[at]
        _grow_below(data, here, new_f, new_c)
        best = _cheaper(data, here, price, best, new_f, new_c)
    return best


@numba.njit(cache=True, nogil=True)
def _cheaper(data, here, price, best, new_f, new_c):  # type: ignore[no-untyped-def]
    cost, _ = settle(data, here, price, new_f, new_c)
    return (cost, new_f, new_c) if cost < best[0] - LEAST_FALL * max(best[0], 1.0) else best


@numba.njit(cache=True, nogil=True)
def _promising(data, here, width):  # type: ignore[no-untyped-def]
    """The rows with the best splits by Gini impurity, at most `width`, and their cuts."""
    totals = _totals(data, here)
    scores, found = np.empty(data.codes.shape[0]), np.empty(data.codes.shape[0], np.int64)
    cells = np.empty((data.n_bins, data.n_classes))
    for row in range(data.codes.shape[0]):
        cells[:] = 0
        for i in here:
            cells[data.codes[row, i], data.classes[i]] += data.weights[i]
        scores[row], found[row] = best_cut(cells, totals, data.min_bucket, 0.0)
    best = np.argsort(-scores, kind="mergesort")[:width]
    best = best[found[best] >= 0]
    return best, found[best]


@numba.njit(cache=True, nogil=True)
def _totals(data, here):  # type: ignore[no-untyped-def]
    totals = np.zeros(data.n_classes)
    for i in here:
        totals[data.classes[i]] += data.weights[i]
    return totals


@numba.njit(cache=True, nogil=True)
def _grow_below(data, here, features, cuts):  # type: ignore[no-untyped-def]
    """Keep the root's split and grow both sides of it greedily."""
    right = np.empty(here.size, np.bool_)
    for at in range(here.size):
        right[at] = data.codes[features[0], here[at]] > cuts[0]
    rows, half = np.arange(data.codes.shape[0]), (features.size - 1) // 2
    side_f, side_c = np.empty(half, np.int64), np.zeros(half, np.int64)
    grow_heap(data, rows, here[~right], side_f, side_c)
    plant(features, cuts, 1, side_f, side_c)
    grow_heap(data, rows, here[right], side_f, side_c)
    plant(features, cuts, 2, side_f, side_c)


@numba.njit(cache=True, nogil=True)
def settle(data, here, price, features, cuts):  # type: ignore[no-untyped-def]
    """Prune what costs more than it brings or leaves too small a leaf; the cost then, and the class of every node."""
    sums = np.zeros((features.size, data.n_classes))
    for i in here:
        sums[_leaf(data.codes, features, cuts, 0, i), data.classes[i]] += data.weights[i]
    costs, labels = np.empty(features.size), np.empty(features.size, np.int64)
    for node in range(features.size - 1, -1, -1):
        if features[node] >= 0:
            sums[node] = sums[2 * node + 1] + sums[2 * node + 2]
        labels[node] = sums[node].argmax()
        costs[node] = sums[node].sum() - sums[node, labels[node]]
        if features[node] < 0:
            continue
        split = price + costs[2 * node + 1] + costs[2 * node + 2]
        full = _full(sums[2 * node + 1].sum(), sums[2 * node + 2].sum(), data.min_bucket)
        if not full or split >= costs[node]:
            features[node] = -1
        else:
            costs[node] = split
    return costs[0], labels


@numba.njit(cache=True, nogil=True)
def _changed(kind, data, here, labels, features, cuts):  # type: ignore[no-untyped-def]
    """Change a subtree: 0 and 1 a child takes the root's place, 2 another split between the same children, 3 a split
    into two leaves. Whether there is such a change."""
    if features.size == 1 or (kind < 3 and features[0] < 0):
        return False
    if kind < 2:
        # The lifted part is a heap of less depth, and heaps are numbered level by level.
        child_f, child_c = lifted(features, cuts, 1 + kind, (features.size - 1) // 2)
        features[:] = -1
        features[: child_f.size], cuts[: child_c.size] = child_f, child_c
        return True
    if kind == 2:
        row, cut = _best_between(data, here, labels, features, cuts)
    else:
        row, cut = _best_stump(data, here)
        features[:] = -1
    features[0], cuts[0] = row, cut
    return row >= 0


@numba.njit(cache=True, nogil=True)
def _best_between(data, here, labels, features, cuts):  # type: ignore[no-untyped-def]
    """The split into full buckets that sends the fewest samples to a child that gets them wrong, as children are."""
    rises = np.zeros(here.size)
    for at in range(here.size):
        left = labels[_leaf(data.codes, features, cuts, 1, here[at])] != data.classes[here[at]]
        right = labels[_leaf(data.codes, features, cuts, 2, here[at])] != data.classes[here[at]]
        rises[at] = data.weights[here[at]] * (np.int64(left) - np.int64(right))
    whole, cells = _totals(data, here).sum(), np.empty((data.n_bins, 2))
    best, row_found, cut_found = np.inf, -1, -1
    for row in range(data.codes.shape[0]):
        cells[:] = 0.0
        for at in range(here.size):
            code = data.codes[row, here[at]]
            cells[code, 0] += rises[at]
            cells[code, 1] += data.weights[here[at]]
        cost, under = 0.0, 0.0
        for cut in range(data.n_bins - 1):
            cost, under = cost + cells[cut, 0], under + cells[cut, 1]
            if cost < best - LEAST_FALL and _full(under, whole - under, data.min_bucket):
                best, row_found, cut_found = cost, row, cut
    return row_found, cut_found


@numba.njit(cache=True, nogil=True)
def _best_stump(data, here):  # type: ignore[no-untyped-def]
    """The split into two leaves, full buckets both, with the fewest mistakes."""
    totals = _totals(data, here)
    cells, below = np.empty((data.n_bins, data.n_classes)), np.empty(data.n_classes)
    best, row_found, cut_found = totals.max(), -1, -1
    for row in range(data.codes.shape[0]):
        cells[:] = 0.0
        for i in here:
            cells[data.codes[row, i], data.classes[i]] += data.weights[i]
        below[:] = 0.0
        for cut in range(data.n_bins - 1):
            left, right = 0.0, 0.0
            for k in range(data.n_classes):
                below[k] += cells[cut, k]
                left, right = max(left, below[k]), max(right, totals[k] - below[k])
            if left + right > best + LEAST_FALL and _full(below.sum(), (totals - below).sum(), data.min_bucket):
                best, row_found, cut_found = left + right, row, cut
    return row_found, cut_found


@numba.njit(cache=True, nogil=True)
def _full(left, right, min_bucket):  # type: ignore[no-untyped-def]
    """Whether both sides of a split have enough weight."""
    return min(left, right) >= min_bucket and min(left, right) > 0


@numba.njit(cache=True, nogil=True)
def _leaf(codes, features, cuts, node, i):  # type: ignore[no-untyped-def]
    while features[node] >= 0:
        node = 2 * node + 1 + (codes[features[node], i] > cuts[node])
    return node


@numba.njit(cache=True, nogil=True)
def reaching(codes, features, cuts, node):  # type: ignore[no-untyped-def]
    """Samples that reach a node."""
    inside = np.ones(codes.shape[1], np.bool_)
    while node > 0:
        parent = (node - 1) // 2
        goes_right = node == 2 * parent + 2
        for i in range(inside.size):
            inside[i] &= (codes[features[parent], i] > cuts[parent]) == goes_right
        node = parent
    return np.flatnonzero(inside)


@numba.njit(cache=True, nogil=True)
def size_below(size, node):  # type: ignore[no-untyped-def]
    """Of the heap of a node's subtree, down to the depth of the whole."""
    below = size
    while node > 0:
        below, node = (below - 1) // 2, (node - 1) // 2
    return below


@numba.njit(cache=True, nogil=True)
def _place(node, at):  # type: ignore[no-untyped-def]
    """Where node `at` of a subtree's heap lies in the heap of the whole, if the subtree hangs at `node`."""
    level = 1
    while 2 * level - 1 <= at:
        level *= 2
    return (node + 1) * level - 1 + (at - (level - 1))


@numba.njit(cache=True, nogil=True)
def lifted(features, cuts, node, size):  # type: ignore[no-untyped-def]
    """The subtree of a node as a heap of its own; what lies below a leaf is left out."""
    new_f, new_c = np.full(size, -1), np.zeros(size, np.int64)
    for at in range(size):
        if at == 0 or new_f[(at - 1) // 2] >= 0:
            whole = _place(node, at)
            new_f[at], new_c[at] = features[whole], cuts[whole]
    return new_f, new_c


@numba.njit(cache=True, nogil=True)
def plant(features, cuts, node, new_f, new_c):  # type: ignore[no-untyped-def]
    """Hang a subtree at a node."""
    for at in range(new_f.size):
        whole = _place(node, at)
        there = at == 0 or new_f[(at - 1) // 2] >= 0
        features[whole], cuts[whole] = new_f[at] if there else -1, new_c[at]
        if not there:
            new_f[at] = -1
