"""Columns cut into a few bins: found once, shared by every tree that is grown from them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numba
import numpy as np
from numpy.typing import NDArray

Cuts: TypeAlias = NDArray[np.float64]
"""Shape (features, cuts), rising; a feature with fewer is filled up with infinity."""
Codes: TypeAlias = NDArray[np.uint8]
"""Shape (features, samples): how many cuts lie below a value. code <= c if and only if value <= cuts[c]."""

Ranks: TypeAlias = NDArray[np.uint16]
"""Shape (features, samples): ranks among the different values of a row, spread over all of uint16."""

MOST_CUTS = 255
ROWS_AT_A_TIME = 256
RANK_BITS, COARSE_BITS = 16, 8
"""The high byte of a rank is its bin among 256, the low byte tells the values of a bin apart."""


def find_cuts(values: NDArray[Any], most: int) -> Cuts:
    """At most `most` cuts of each row (features, samples), at its quantiles, halfway between neighbouring values.

    A row of few different values is cut between each two of them, a constant one nowhere.
    """
    cuts = np.full((values.shape[0], most), np.inf)
    for start in range(0, values.shape[0], ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        _cut_sorted(np.sort(values[rows], axis=1), cuts[rows])
    return cuts


def encode(values: NDArray[Any], cuts: Cuts) -> Codes:
    """The bin of every value; at most `MOST_CUTS` cuts."""
    codes = np.empty(values.shape, np.uint8)
    depth = cuts.shape[1].bit_length()
    full = np.full((cuts.shape[0], 2**depth - 1), np.inf)
    full[:, : cuts.shape[1]] = cuts
    _encode(values, full, (2 ** np.arange(depth)[::-1]).astype(np.int32), codes)
    return codes


def spread_ranks(values: NDArray[Any]) -> Ranks:
    """Ranks in the order of the values: equal for equal values, and different for others if there are at most 65,536.

    The bins of the high byte hold about the same number of different values each.
    """
    ranks = np.empty(values.shape, np.uint16)
    depth = values.shape[1].bit_length()
    steps = (2 ** np.arange(depth)[::-1]).astype(np.int32)
    for start in range(0, values.shape[0], ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        _rank(values[rows], np.sort(values[rows], axis=1), steps, ranks[rows])
    return ranks


@numba.njit(cache=True, nogil=True)
def between(low, high):  # type: ignore[no-untyped-def]
    """Halfway, but below `high` whatever the rounding."""
    middle = low + (high - low) / 2
    return middle if low <= middle < high else low


@numba.njit(cache=True, nogil=True)
def _cut_sorted(values, cuts):  # type: ignore[no-untyped-def]
    samples, most = values.shape[1], cuts.shape[1]
    for j in range(values.shape[0]):
        row = values[j]
        distinct = 1
        for i in range(1, samples):
            distinct += row[i] != row[i - 1]
        # Each bin takes its share of the samples that are left, to the end of a run of ties.
        size, i = 0, 0
        while size < most:
            if distinct > most + 1:
                i += (samples - i - 1) // (most + 1 - size)
            while i + 1 < samples and row[i + 1] == row[i]:
                i += 1
            if i + 1 >= samples:
                break
            cuts[j, size] = between(np.float64(row[i]), np.float64(row[i + 1]))
            size += 1
            i += 1


@numba.njit(cache=True, nogil=True)
def _encode(values, cuts, steps, codes):  # type: ignore[no-untyped-def]
    place = np.empty(values.shape[1], np.int32)
    for j in range(values.shape[0]):
        _count_below(values[j], cuts[j], steps, place)
        for i in range(place.size):
            codes[j, i] = place[i]


@numba.njit(cache=True, nogil=True)
def _rank(values, ordered, steps, ranks):  # type: ignore[no-untyped-def]
    place = np.empty(values.shape[1], np.int32)
    ends = np.empty(2**steps.size - 1, values.dtype)
    for j in range(values.shape[0]):
        distinct = 0
        for i in range(ordered.shape[1]):
            if i == 0 or ordered[j, i] != ordered[j, i - 1]:
                ends[distinct] = ordered[j, i]
                distinct += 1
        ends[distinct:] = np.inf
        _count_below(values[j], ends, steps, place)
        for i in range(place.size):
            ranks[j, i] = (np.int64(place[i]) << RANK_BITS) // distinct


@numba.njit(cache=True, nogil=True)
def _count_below(row, ends, steps, place):  # type: ignore[no-untyped-def]
    """Binary search in steps that all samples take together, so that they run in vector lanes."""
    place[:] = 0
    for step in steps:
        for i in range(row.size):
            place[i] += step if ends[place[i] + step - 1] < row[i] else np.int32(0)
