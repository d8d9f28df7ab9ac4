"""The exact line search of hyperplane splits: the best weight of one column, with all the others fixed.

A sample goes left if its weighted sum is at most 0, so it changes sides at one weight of the column only. These
places are sorted, and a walk over them counts what goes left.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

# Smaller values of a standardised column are 0.
_FLAT = 1e-9
_FARTHEST = 1e30
# Places that differ by less, relatively or at all, may be one in exact arithmetic.
_RELATIVE_GAP = 1e-6
_LEAST_GAP = 1e-9
_DIGIT = 11
_DIGITS = 3


class Sides(NamedTuple):
    """One split to be found: what every sample costs if it goes left, and how much has to go to either side.

    `columns` (rows + 1, samples) are standardised, and the last one is -1 throughout: its weight is the threshold.
    """

    columns: NDArray[np.float64]
    rises: NDArray[np.float64]
    bulk: NDArray[np.float64]
    least: float
    total: float


@numba.njit(cache=True, nogil=True)
def best_weight(task, rest, row):  # type: ignore[no-untyped-def]
    """The least sum of rises of the samples with rest + weight * column <= 0, and the middle of where it is reached.

    Infinite if no weight leaves enough on both sides. Of equals the widest place.
    """
    places, steps, cost, left = _crossings(task, rest, task.columns[row])
    order = _ascending(places)
    best, widest, weight = np.inf, 0.0, 0.0
    for at in range(order.size + 1):
        if at > 0:
            cost += steps[order[at - 1], 0]
            left += steps[order[at - 1], 1]
        if cost > best or left < task.least or task.total - left < task.least:
            continue
        middle, gap = _middle(places, order, at)
        if gap >= 0 and (cost < best or gap > widest):
            best, widest, weight = cost, gap, middle
    return best, weight


@numba.njit(cache=True, nogil=True)
def _crossings(task, rest, column):  # type: ignore[no-untyped-def]
    """Where samples change sides, what then comes to the left, and what is there at a weight of minus infinity."""
    places, steps, size = np.empty(rest.size, np.float32), np.empty((rest.size, 2)), 0
    cost, left = 0.0, 0.0
    for i in range(rest.size):
        x = column[i]
        # Signs are random, so that arithmetic with them is faster than branches.
        flat = abs(x) <= _FLAT
        enters = -np.copysign(1.0, x)
        first = (1.0 if rest[i] <= 0 else 0.0) if flat else 0.5 - 0.5 * enters
        cost += first * task.rises[i]
        left += first * task.bulk[i]
        places[size] = min(max(-rest[i] / x, -_FARTHEST), _FARTHEST) if not flat else 0.0
        steps[size, 0], steps[size, 1] = enters * task.rises[i], enters * task.bulk[i]
        size += not flat
    return places[:size], steps[:size], cost, left


@numba.njit(cache=True, nogil=True)
def _middle(places, order, at):  # type: ignore[no-untyped-def]
    """The middle between two neighbours and their distance, 0 at the ends and -1 if they are not apart."""
    if order.size == 0:
        return 0.0, -1.0
    low = np.float64(places[order[max(at - 1, 0)]])
    high = np.float64(places[order[min(at, order.size - 1)]])
    if at == 0:
        return low - 1 - abs(low), 0.0
    if at == order.size:
        return high + 1 + abs(high), 0.0
    if high - low <= _LEAST_GAP + _RELATIVE_GAP * (abs(low) + abs(high)):
        return 0.0, -1.0
    return low + (high - low) / 2, high - low


@numba.njit(cache=True, nogil=True)
def _ascending(places):  # type: ignore[no-untyped-def]
    """The order of float32 values by radix sort: several times as fast as comparing them."""
    keys = places.view(np.uint32)
    order, other = np.arange(places.size), np.empty(places.size, np.int64)
    starts = np.empty(1 << _DIGIT, np.int64)
    for digit in range(_DIGITS):
        starts[:] = 0
        for i in range(order.size):
            starts[_digit(keys[i], digit)] += 1
        total = 0
        for value in range(starts.size):
            starts[value], total = total, total + starts[value]
        for at in range(order.size):
            value = _digit(keys[order[at]], digit)
            other[starts[value]] = order[at]
            starts[value] += 1
        order, other = other, order
    return order


@numba.njit(cache=True, nogil=True)
def _digit(bits, digit):  # type: ignore[no-untyped-def]
    """Some bits of a float's, turned so that they rise with its value."""
    sign = np.uint32(0x80000000)
    turned = ~bits if bits & sign else bits | sign
    return np.int64((turned >> np.uint32(_DIGIT * digit)) & np.uint32((1 << _DIGIT) - 1))
