"""Information gain: what knowing the bin of a column takes off the entropy of the class. It suits trees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidSettingError
from backbone_dask.screens.rows import LEVELS, TABLES, as_bytes, count, is_counted, present_classes
from backbone_dask.screens.vectorised import LANES
from backbone_dask.values import Target, Utilities

MOST_BINS = 64


@dataclass(frozen=True, slots=True)
class Entropy:
    """I(class; bin of the column) in nats, for y in 0, 1, ..., K - 1: between 0 and log(K); constant columns score 0.

    A column of at most min(n_bins, samples / 2) different values has a bin for each of them. Others are cut at
    mean + scale * (quantiles of the normal law), which needs no sort; a bin holds its upper end. Samples are put into
    bins exactly, whatever the dtype, and the gain is then within 1e-12. Skewed columns fill their bins unevenly, and
    one whose scale comes from a few extreme samples may fall into one bin and score near 0.

    An odd number of bins keeps the mean, for which missing values stand, away from the ends of a bin.
    """

    n_bins: int = 9

    def __post_init__(self) -> None:
        if not 2 <= self.n_bins <= MOST_BINS:
            raise InvalidSettingError(f"n_bins is {self.n_bins}; use 2 to {MOST_BINS}")

    def __call__(self, columns: Columns, y: Target) -> Utilities:
        classes, sizes = present_classes(y)
        ends = _ends(columns, self.n_bins)
        cells = np.empty((sizes.size, self.n_bins), np.int64)
        gains = np.zeros(columns.n_features)
        keys = (classes * self.n_bins).astype(np.uint32)
        if is_counted(columns):
            data = as_bytes(columns)
            _counted_gains(data.values, data.levels, data.missing, columns.mean, keys, ends, sizes, cells, gains)
        else:
            _float_gains(columns.values, keys, ends, sizes, cells, gains)
        gains[columns.scale == 0] = 0
        return gains


def _ends(columns: Columns, n_bins: int) -> NDArray[Any]:
    """Upper ends of all bins but the last, shape (features, n_bins - 1), in the precision of the columns."""
    quantiles = ndtri(np.arange(1, n_bins) / n_bins)
    ends: NDArray[Any] = columns.mean[:, None] + columns.scale[:, None] * quantiles
    if columns.values.dtype != np.float32:
        return ends
    # For x in float32, x > end if and only if x > the largest float32 that is not above the end.
    single = ends.astype(np.float32)
    return np.where(single > ends, np.nextafter(single, np.float32(-np.inf)), single)


@numba.njit(cache=True, nogil=True)
def _float_gains(values, first_keys, ends, sizes, cells, gains):  # type: ignore[no-untyped-def]
    n_bins = cells.shape[1]
    keys, counts = np.empty_like(first_keys), cells.reshape(cells.size)
    tables = np.empty((TABLES, cells.size), np.int32)
    zeros, distinct = np.zeros(values.shape[1], np.uint8), np.empty(n_bins, values.dtype)
    for j in range(values.shape[0]):
        column = values[j]
        few = _few_values(column, distinct[: min(n_bins, column.size // 2)])
        keys[:] = first_keys
        _add_bins(column, distinct[: few - 1] if few > 0 else ends[j], keys)
        count(zeros, keys, tables, counts)
        gains[j] = _gain(cells, sizes)


@numba.njit(cache=True, nogil=True)
def _counted_gains(values, levels, missing, mean, first_keys, ends, sizes, cells, gains):  # type: ignore[no-untyped-def]
    n_bins, samples = cells.shape[1], first_keys.size
    keys, counts = np.empty_like(first_keys), cells.reshape(cells.size)
    tables, zeros = np.empty((TABLES, cells.size), np.int32), np.zeros(samples, np.uint8)
    level_of, there, bins = levels.copy(), np.empty(LEVELS, np.bool_), np.zeros(LEVELS, np.uint32)
    for j in range(values.shape[0]):
        column = values[j]
        there[:] = False
        for i in range(samples):
            there[column[i]] = True
        if missing >= 0:
            level_of[missing] = mean[j]
        if _bin_by_value(level_of, there, missing, bins) > min(n_bins, samples // 2):
            _bin_by_ends(level_of, ends[j], bins)
        for i in range(samples):
            keys[i] = first_keys[i] + bins[column[i]]
        count(zeros, keys, tables, counts)
        gains[j] = _gain(cells, sizes)


@numba.njit(cache=True, nogil=True)
def _bin_by_value(level_of, there, missing, bins):  # type: ignore[no-untyped-def]
    """Numbers the levels that are there and returns how many; the mean, if it is a level, too, has no second number."""
    size = 0
    for byte in range(LEVELS):
        if there[byte] and byte != missing:
            bins[byte] = size
            size += 1
    if missing >= 0 and there[missing]:
        bins[missing] = size
        for byte in range(LEVELS):
            if there[byte] and byte != missing and level_of[byte] == level_of[missing]:
                bins[missing] = bins[byte]
        size += bins[missing] == size
    return size


@numba.njit(cache=True, nogil=True)
def _bin_by_ends(level_of, ends, bins):  # type: ignore[no-untyped-def]
    bins[:] = 0
    for end in ends:
        for byte in range(LEVELS):
            bins[byte] += np.uint32(level_of[byte] > end)


@numba.njit(cache=True, nogil=True)
def _few_values(column, distinct):  # type: ignore[no-untyped-def]
    """Fills `distinct` with the values of the column, in order, and returns how many; 0 if there are more than fit."""
    size = 0
    # A few samples already give most columns away.
    for i in range(min(column.size, 4 * distinct.size)):
        place = 0
        while place < size and distinct[place] != column[i]:
            place += 1
        if place == distinct.size:
            return 0
        distinct[place], size = column[i], max(size, place + 1)
    last = column.dtype.type(-np.inf)
    for place in range(distinct.size + 1):
        last = _next_value(column, last)
        if last == np.inf:
            return place
        if place < distinct.size:
            distinct[place] = last
    return 0


@numba.njit(cache=True, nogil=True, fastmath=LANES)
def _next_value(column, last):  # type: ignore[no-untyped-def]
    """The least value above `last`, or infinity."""
    least = column.dtype.type(np.inf)
    for i in range(column.size):
        least = min(column[i] if column[i] > last else column.dtype.type(np.inf), least)
    return least


@numba.njit(cache=True, nogil=True)
def _add_bins(column, ends, keys):  # type: ignore[no-untyped-def]
    for end in ends:
        for i in range(column.size):
            keys[i] += np.uint32(column[i] > end)


@numba.njit(cache=True, nogil=True)
def _gain(cells, sizes):  # type: ignore[no-untyped-def]
    samples = sizes.sum()
    total = _times_log(samples)
    for c in range(sizes.size):
        total -= _times_log(sizes[c])
        for b in range(cells.shape[1]):
            total += _times_log(cells[c, b])
    for b in range(cells.shape[1]):
        total -= _times_log(cells[:, b].sum())
    return max(total / samples, 0.0)


@numba.njit(cache=True, nogil=True)
def _times_log(number):  # type: ignore[no-untyped-def]
    return number * math.log(number) if number > 0 else 0.0
