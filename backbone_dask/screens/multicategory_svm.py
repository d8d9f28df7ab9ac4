"""What one column takes off the multi-category hinge loss (Lee, Lin and Wahba 2004; Fan, Samworth and Wu 2009).

    minimise  mean_i sum_{c != y_i} [1 + b_c + w_c z_i]_+   subject to  sum_c b_c = sum_c w_c = 0

This is a linear programme, and its dual lives in the plane: maximise K m such that for some s and every class c the
samples outside of c have a part, each taken between 0 and 1, of mass m and sum s. Of mass m, the least sum is that of
the smallest z and the largest that of the largest, so that such an s exists as long as

    overlap(m) = max_c (sum of the m smallest outside of c) - min_c (sum of the m largest outside of c) <= 0 .

The overlap is convex and 0 at 0; Newton's method from the right ends at its largest root in a few steps. One sort and
one set of prefix sums per column make every step a few look-ups, whatever the number of samples.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import overload

from backbone_dask.columns import Columns
from backbone_dask.screens.rows import (
    LEVELS,
    TABLES,
    as_bytes,
    class_offsets,
    count,
    is_counted,
    present_classes,
    standard_level,
    standardise,
)
from backbone_dask.values import Target, Utilities

_DIGIT = 11
_MOST_STEPS = 100


def multicategory_svm(columns: Columns, y: Target) -> Utilities:
    """The least loss without the column, K (1 - share of the largest class), minus that with it; y in 0, ..., K - 1.

    Within 1e-6 of the optimum of the linear programme (1e-9 for integer columns). Constant columns score 0; so do, with
    this loss, columns too weak to outvote the largest class.
    """
    (classes, sizes), gains = present_classes(y), np.zeros(columns.n_features)
    if is_counted(columns):
        data = as_bytes(columns)
        offsets, order = class_offsets(classes), np.argsort(data.levels)
        _counted_gains(
            data.values, data.levels, data.missing, order, columns.mean, columns.scale, offsets, sizes, gains
        )
    else:
        _float_gains(columns.values, columns.mean, columns.scale, classes.astype(np.uint64), sizes, gains)
    return np.maximum(gains, 0.0)


@numba.njit(cache=True, nogil=True)
def _float_gains(values, mean, scale, classes, sizes, gains):  # type: ignore[no-untyped-def]
    samples = classes.size
    z, ordered, codes = np.empty(samples, np.float32), np.empty(samples), np.empty(samples, np.int64)
    packed, spare = np.empty(samples, np.uint64), np.empty(samples, np.uint64)
    sums, starts = _workspace(sizes), _starts(sizes)
    for j in range(values.shape[0]):
        if scale[j] > 0:
            standardise(values[j], mean[j], scale[j], z)
            _pack(z, classes, packed)
            _sort(packed, spare)
            _unpack(spare, ordered, codes)
            _add_up(ordered, codes, starts, sums)
            gains[j] = _gain(ordered, samples - sizes, samples, starts, sums)


@numba.njit(cache=True, nogil=True)
def _counted_gains(values, levels, missing, order, mean, scale, offsets, sizes, gains):  # type: ignore[no-untyped-def]
    n_classes, samples = sizes.size, offsets.size
    tables, counts = np.empty((TABLES, n_classes * LEVELS), np.int32), np.empty((n_classes, LEVELS), np.int32)
    z, bytes_there = np.empty(LEVELS), np.empty(LEVELS, np.int64)
    numbers, sums = np.zeros((n_classes, LEVELS + 1), np.int64), np.zeros((n_classes, LEVELS + 1))
    for j in range(values.shape[0]):
        if scale[j] > 0:
            count(values[j], offsets, tables, counts.reshape(counts.size))
            size = _levels_there(counts, levels, missing, order, mean[j], bytes_there)
            for g in range(size):
                z[g] = standard_level(levels, bytes_there[g], missing, mean[j], scale[j])
                here = counts[:, bytes_there[g]].sum()
                for c in range(n_classes):
                    others = here - counts[c, bytes_there[g]]
                    numbers[c, g + 1] = numbers[c, g] + others
                    sums[c, g + 1] = sums[c, g] + others * z[g]
            gains[j] = _gain(z[:size], samples - sizes, samples, None, (sums, numbers))


@numba.njit(cache=True, nogil=True)
def _levels_there(counts, levels, missing, order, mean, bytes_there):  # type: ignore[no-untyped-def]
    """Fills in the bytes that occur, in the order of what they stand for, and returns how many."""
    size, waiting = 0, missing >= 0 and counts[:, missing].sum() > 0
    for byte in order:
        # Missing values stand for the mean, so they come just before the first value above it.
        if waiting and levels[byte] > mean:
            bytes_there[size], waiting = missing, False
            size += 1
        if byte != missing and counts[:, byte].sum() > 0:
            bytes_there[size] = byte
            size += 1
    return size


@numba.njit(cache=True, nogil=True)
def _pack(z, classes, packed):  # type: ignore[no-untyped-def]
    """A number whose upper half sorts as z does, and whose lower half is the class."""
    bits = z.view(np.uint32)
    for i in range(z.size):
        # Floats sort as integers once the sign of the positive and all bits of the negative ones are flipped.
        flip = np.uint32(0xFFFFFFFF) if bits[i] >> np.uint32(31) else np.uint32(0x80000000)
        packed[i] = np.uint64(bits[i] ^ flip) << np.uint64(32) | classes[i]


@numba.njit(cache=True, nogil=True)
def _unpack(packed, ordered, codes):  # type: ignore[no-untyped-def]
    for i in range(packed.size):
        key = np.uint32(packed[i] >> np.uint64(32))
        flip = np.uint32(0x80000000) if key >> np.uint32(31) else np.uint32(0xFFFFFFFF)
        ordered[i], codes[i] = np.uint32(key ^ flip).view(np.float32), packed[i] & np.uint64(0xFFFFFFFF)


@numba.njit(cache=True, nogil=True)
def _sort(packed, spare):  # type: ignore[no-untyped-def]
    """Radix sort by the upper half, in three rounds; the result is in `spare`, and `packed` is overwritten."""
    size, mask = 1 << _DIGIT, np.uint64((1 << _DIGIT) - 1)
    places = np.empty(size, np.uint32)
    for digit in range(3):
        source, target = (packed, spare) if digit % 2 == 0 else (spare, packed)
        shift = np.uint64(32 + digit * _DIGIT)
        places[:] = 0
        for i in range(source.size):
            places[(source[i] >> shift) & mask] += np.uint32(1)
        total = np.uint32(0)
        for k in range(size):
            places[k], total = total, total + places[k]
        for i in range(source.size):
            key = (source[i] >> shift) & mask
            target[places[key]] = source[i]
            places[key] += np.uint32(1)


@numba.njit(cache=True, nogil=True)
def _starts(sizes):  # type: ignore[no-untyped-def]
    """Where the samples of every class start, once they are grouped by class; and the end."""
    starts = np.zeros(sizes.size + 1, np.int64)
    starts[1:] = np.cumsum(sizes)
    return starts


@numba.njit(cache=True, nogil=True)
def _workspace(sizes):  # type: ignore[no-untyped-def]
    """Room for prefix sums of all samples and of each class, and the number of others before each of a class."""
    samples = sizes.sum()
    return np.zeros(samples + 1), np.zeros(samples + sizes.size), np.zeros(samples, np.int64)


@numba.njit(cache=True, nogil=True)
def _gain(z, outside, samples, starts, sums):  # type: ignore[no-untyped-def]
    """The gain of a column from its values in order, the number of samples outside of each class, and prefix sums."""
    mass = float(outside.min())
    for _ in range(_MOST_STEPS):
        overlap, slope = _overlap(mass, z, outside, starts, sums)
        if overlap <= 1e-12 * samples:
            break
        # To the right of the root the slope is at least overlap / mass, but for rounding.
        mass = mass - overlap / slope if overlap < mass * slope else 0.0
    return outside.size * (outside.min() - mass) / samples


@numba.njit(cache=True, nogil=True)
def _add_up(z, codes, starts, sums):  # type: ignore[no-untyped-def]
    total, within, before = sums
    fill = starts[:-1].copy()
    for i in range(z.size):
        c = codes[i]
        at = fill[c]
        total[i + 1] = total[i] + z[i]
        within[at + c + 1] = within[at + c] + z[i]
        before[at] = i - (at - starts[c])
        fill[c] += 1


@numba.njit(cache=True, nogil=True)
def _overlap(mass, z, outside, starts, sums):  # type: ignore[no-untyped-def]
    """The overlap at a mass, in samples, and its slope."""
    low, high, low_slope, high_slope = -np.inf, np.inf, 0.0, 0.0
    for c in range(outside.size):
        least, slope = _smallest(mass, c, z, outside[c], starts, sums)
        if least > low:
            low, low_slope = least, slope
        # The largest are all but the smallest.
        every, _ = _smallest(outside[c], c, z, outside[c], starts, sums)
        rest, slope = _smallest(outside[c] - mass, c, z, outside[c], starts, sums)
        if every - rest < high:
            high, high_slope = every - rest, slope
    return low - high, low_slope - high_slope


def _smallest(mass: Any, own: Any, z: Any, outside: Any, starts: Any, sums: Any) -> Any:
    """The sum of the `mass` smallest z outside of a class, a last one in part, and that last one; for compiled code."""
    raise NotImplementedError


@overload(_smallest)
def _smallest_of(mass, own, z, outside, starts, sums):  # type: ignore[no-untyped-def]
    def counted(mass, own, z, outside, starts, sums):  # type: ignore[no-untyped-def]
        by_class, numbers = sums
        at = _rank(numbers[own], 1, z.size, min(int(mass), outside - 1)) - 1
        return by_class[own, at] + (mass - numbers[own, at]) * z[at], z[at]

    def ordered(mass, own, z, outside, starts, sums):  # type: ignore[no-untyped-def]
        total, within, before = sums
        whole = min(int(mass), outside - 1)
        last = _rank(before, starts[own], starts[own + 1], whole)
        at = whole + last - starts[own]
        return total[at] - within[last + own] + (mass - whole) * z[at], z[at]

    return counted if starts == types.none else ordered


@numba.njit(cache=True, nogil=True)
def _rank(ascending, low, high, value):  # type: ignore[no-untyped-def]
    """The first place from `low` up to `high` whose entry is above the value."""
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low
