"""One hyperplane split of few features, found by coordinate descent: weights, exchanges of features, the threshold.

A hyperplane is `rows` and `weights` (slots + 1,); a row of -1 is an empty slot, and the last slot is the threshold's.
"""

from __future__ import annotations

import numba
import numpy as np

from backbone_dask.exact.trees.hyperplane_lines import best_weight
from backbone_dask.exact.trees.moves import LEAST_FALL

_MOST_ROUNDS = 100


@numba.njit(cache=True, nogil=True)
def best_hyperplane(task, rows, weights):  # type: ignore[no-untyped-def]
    """What the best of the starts (starts, slots + 1), and of the splits on one feature, descends to.

    Returns its rows, weights and sum of rises on the left. Starts are compared with their own features, at the best
    weights for these: exchanging features takes nearly all of the time.
    """
    best_rows, best_weights = _best_axis(task, rows.shape[1])
    best = _tuned(task, best_rows, best_weights)
    for start in range(len(rows)):
        cost = _tuned(task, rows[start], weights[start])
        if cost < best - _tolerance(task):
            best_rows, best_weights, best = rows[start], weights[start], cost
    for _ in range(_MOST_ROUNDS):
        cost = _exchanged(task, best_rows, best_weights, best)
        if not cost < best - _tolerance(task):
            break
        best = _tuned(task, best_rows, best_weights)
    return best_rows, best_weights, _thinned(task, best_rows, best_weights, best)


@numba.njit(cache=True, nogil=True)
def _tolerance(task):  # type: ignore[no-untyped-def]
    return LEAST_FALL * task.total


@numba.njit(cache=True, nogil=True)
def _best_axis(task, size):  # type: ignore[no-untyped-def]
    """The best split on one feature."""
    last = len(task.columns) - 1
    rows, weights, best = np.full(size, -1), np.zeros(size), np.inf
    rows[-1] = last
    for row in range(last):
        for sign in (1.0, -1.0):
            cost, threshold = best_weight(task, sign * task.columns[row], last)
            if cost < best:
                rows[0], weights[0], weights[-1], best = row, sign, threshold, cost
    return rows, weights


@numba.njit(cache=True, nogil=True)
def _tuned(task, rows, weights):  # type: ignore[no-untyped-def]
    """Move weights and threshold until none of them helps; the sum of rises on the left, or infinity."""
    cost = _cost(task, rows, weights)
    for _ in range(_MOST_ROUNDS):
        before = cost
        for slot in range(rows.size - 1, -1, -1):
            if rows[slot] >= 0:
                cost = _retuned(task, rows, weights, slot, cost)
        if not cost < before - _tolerance(task):
            break
    return cost


@numba.njit(cache=True, nogil=True)
def _retuned(task, rows, weights, slot, cost):  # type: ignore[no-untyped-def]
    """Move the weight in one slot to its best place."""
    new, weight = best_weight(task, _without(task, rows, weights, slot), rows[slot])
    return _put(rows, weights, slot, rows[slot], weight, new) if new < cost - _tolerance(task) else cost


@numba.njit(cache=True, nogil=True)
def _exchanged(task, rows, weights, cost):  # type: ignore[no-untyped-def]
    """Bring in the best other feature: into an empty slot, or instead of any other if there is none."""
    best, slot_found, row_found, weight_found = cost - _tolerance(task), -1, -1, 0.0
    full = (rows >= 0).all()
    for slot in range(rows.size - 1):
        if not full and rows[slot] >= 0:
            continue
        rest = _without(task, rows, weights, slot)
        for row in range(len(task.columns) - 1):
            if (rows == row).any():
                continue
            new, weight = best_weight(task, rest, row)
            if new < best:
                best, slot_found, row_found, weight_found = new, slot, row, weight
        if not full:
            break
    return _put(rows, weights, slot_found, row_found, weight_found, best) if slot_found >= 0 else cost


@numba.njit(cache=True, nogil=True)
def _thinned(task, rows, weights, cost):  # type: ignore[no-untyped-def]
    """Leave out every feature without which another threshold does as well."""
    last = rows.size - 1
    for slot in range(last):
        if rows[slot] < 0 or (rows[:last] >= 0).sum() == 1:
            continue
        row, rows[slot] = rows[slot], -1
        new, threshold = best_weight(task, _without(task, rows, weights, last), rows[last])
        if new <= cost + _tolerance(task):
            cost, weights[slot] = _put(rows, weights, last, rows[last], threshold, new), 0.0
        else:
            rows[slot] = row
    return cost


@numba.njit(cache=True, nogil=True)
def _put(rows, weights, slot, row, weight, cost):  # type: ignore[no-untyped-def]
    """Fill a slot; weights are scaled to at most 1, so that places stay apart from rounding. The cost is handed on."""
    rows[slot], weights[slot] = row, weight
    largest = np.abs(weights[:-1]).max()
    if largest > 0:
        weights /= largest
    return cost


@numba.njit(cache=True, nogil=True)
def _without(task, rows, weights, slot):  # type: ignore[no-untyped-def]
    """The weighted sums of all samples but for one slot."""
    sums = np.zeros(task.rises.size)
    for other in range(rows.size):
        if other != slot and rows[other] >= 0:
            sums += weights[other] * task.columns[rows[other]]
    return sums


@numba.njit(cache=True, nogil=True)
def _cost(task, rows, weights):  # type: ignore[no-untyped-def]
    """The sum of rises on the left; infinite if a side has too little."""
    sums, cost, left = _without(task, rows, weights, -1), 0.0, 0.0
    for i in range(sums.size):
        if sums[i] <= 0:
            cost += task.rises[i]
            left += task.bulk[i]
    return cost if min(left, task.total - left) >= task.least else np.inf
