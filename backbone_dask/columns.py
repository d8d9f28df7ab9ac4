"""Raw columns with what is needed to standardise them: how the matrix travels from a store to the mathematics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.values import Mask, Standardised

LEAST_LEFT = 1e-6
"""Of a column's spread: what is left of it after taking parts out is off by less than float32 is, in which solvers take
their columns, though sums of thousands of samples in float64 made it."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Whole features as stored.

    Attributes
    ----------
    values : array (features, samples)
        float32, float64, int8 or uint8; floats are finite.
    mean, scale : array (features,), float64
        Mean of the samples that are present, and population standard deviation once the missing ones stand for it;
        the scale of a constant feature is 0.
    missing : int or None
        The code of a missing value in an integer matrix; a missing value stands for the mean.
    """

    values: NDArray[Any]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    missing: int | None = None

    @property
    def n_features(self) -> int:
        return int(self.values.shape[0])

    def rounding(self, spread: NDArray[np.float64], beside: NDArray[np.float64]) -> NDArray[np.float64]:
        """What is left of columns is rounding if it is no larger: that of storing them, or of taking parts out of them.

        `spread` (features,) is the size of the columns about 0, which they have been moved to by `beside`.
        """
        kind = self.values.dtype
        stored = float(np.finfo(kind).eps) if kind.kind == "f" else 0.0
        return np.asarray(LEAST_LEFT * spread + stored * (spread + beside))

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Columns:
        return Columns(self.values[rows], self.mean[rows], self.scale[rows], self.missing)

    def standardised(self) -> Standardised:
        """Mean 0 and X_j'X_j = n in every row; constant features are all zero."""
        out = np.empty(self.values.shape, np.float32)
        _standardise(self.values, self.mean, self.scale, out)
        if self.missing is not None:
            out[self.values == self.missing] = 0
        return out


def measured(values: NDArray[Any], missing: int | None = None) -> tuple[Columns, NDArray[np.int64]]:
    """Columns with mean and scale computed from the values, and the number of missing values in each."""
    features = values.shape[0]
    mean, scale = np.empty(features), np.empty(features)
    absent = np.zeros(features, np.int64)
    if missing is None:
        _measure(values, mean, scale)
    else:
        _measure_present(values, missing, mean, scale, absent)
    return Columns(values, mean, scale, missing), absent


def on_samples(columns: Columns, counted: Mask) -> Columns:
    """The same as if other samples were not there: a column that does not vary on these has the scale 0.

    A column of floats that varies next to nothing here, beside its scale, has mean and scale of these samples alone:
    the others are so far away that it would drown in their rounding. Bytes are never so far from each other.
    """
    samples, mean, scale = np.flatnonzero(counted), columns.mean.copy(), columns.scale.copy()
    if columns.values.dtype.kind == "f":
        _measure_the_drowned(columns.values, samples, mean, scale)
        return replace(columns, mean=mean, scale=scale)
    varies = np.zeros(columns.n_features, np.bool_)
    # No value equals NaN, so without missing values nothing is replaced.
    code = np.nan if columns.missing is None else float(columns.missing)
    _vary(columns.values, code, columns.mean, samples, varies)
    return replace(columns, scale=np.where(varies, scale, 0.0))


def all_finite(values: NDArray[Any]) -> bool:
    """Whether no float is NaN or infinite: one pass at the speed of memory, without a copy."""
    return bool(_sum_of_zeros(values) == 0)


# Reassociation lets sums run in vector lanes. Each is over one column in a fixed order, so that the bits do not
# depend on how the table is cut into blocks. Two passes over a column that is still in cache are exact for columns
# far from zero; comparing with the first value finds constant columns whatever the rounding of their mean.
_LANES = {"reassoc", "contract", "nsz"}
# Sums of squares outside of this range may have lost bits to underflow or all of them to overflow.
_LEAST_SQUARES, _MOST_SQUARES = 1e-280, 1e300
# Below it a coefficient, in the units of the data, would be infinite.
_LEAST_SCALE = 1e-205


@numba.njit(cache=True, nogil=True, fastmath=_LANES)
def _measure(values, mean, scale):  # type: ignore[no-untyped-def]
    features, samples = values.shape
    for j in range(features):
        column = values[j]
        total, squares, rest, changes = 0.0, 0.0, 0.0, 0
        for i in range(samples):
            total += column[i]
        centre = total / samples
        for i in range(samples):
            deviation = column[i] - centre
            rest += deviation
            squares += deviation * deviation
        for i in range(samples):
            changes += column[i] != column[0]
        mean[j], scale[j] = _corrected(centre, rest, squares, samples) if changes else (centre, 0.0)
        if changes and not _LEAST_SQUARES < squares < _MOST_SQUARES:
            mean[j], scale[j] = centre, _extreme_scale(column, centre)


@numba.njit(cache=True, nogil=True)
def _corrected(centre, rest, squares, samples):  # type: ignore[no-untyped-def]
    """Mean and scale from sums about a centre that the rounding of its own sum has moved: `rest` says how far."""
    off = rest / samples
    return centre + off, np.sqrt(max(squares / samples - off * off, 0.0))


# Of a scale: a difference of two values that is clear of the rounding of any other value.
_CLEAR = 1e-3


@numba.njit(cache=True, nogil=True)
def _measure_the_drowned(values, samples, mean, scale):  # type: ignore[no-untyped-def]
    for j in range(values.shape[0]):
        if scale[j] > 0 and not _differs(values[j], samples, _CLEAR * scale[j]):
            few = values[j][samples].reshape(1, samples.size)
            _measure(few, mean[j : j + 1], scale[j : j + 1])


@numba.njit(cache=True, nogil=True)
def _differs(column, samples, least):  # type: ignore[no-untyped-def]
    """Whether some value is so far from the first one; most columns show it with the second."""
    first, at = np.float64(column[samples[0]]), 1
    while at < samples.size and abs(np.float64(column[samples[at]]) - first) < least:
        at += 1
    return at < samples.size


@numba.njit(cache=True, nogil=True)
def _vary(values, code, mean, samples, varies):  # type: ignore[no-untyped-def]
    for j in range(values.shape[0]):
        column, first = values[j], 0.0
        for at in range(samples.size):
            value = column[samples[at]]
            meant = mean[j] if value == code else np.float64(value)
            if at == 0:
                first = meant
            elif meant != first:
                varies[j] = True
                break


@numba.njit(cache=True, nogil=True, fastmath=_LANES)
def _sum_of_zeros(values):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(values.shape[0]):
        # 0 times infinity, or NaN, is NaN, and stays so in a sum.
        zeros = values.dtype.type(0)
        for i in range(values.shape[1]):
            zeros += values[j, i] * values.dtype.type(0)
        total += zeros
    return total


@numba.njit(cache=True, nogil=True)
def _extreme_scale(column, centre):  # type: ignore[no-untyped-def]
    """The scale of a column whose squares overflow or vanish; 0 if it is below every scale that can be used."""
    peak, squares = 0.0, 0.0
    for i in range(column.size):
        peak = max(peak, abs(column[i] - centre))
    for i in range(column.size):
        squares += ((column[i] - centre) / peak) ** 2 if peak > 0 else 0.0
    scale = peak * np.sqrt(squares / column.size)
    return scale if scale > _LEAST_SCALE else 0.0


@numba.njit(cache=True, nogil=True)
def _measure_present(values, code, mean, scale, absent):  # type: ignore[no-untyped-def]
    """Whole numbers of one byte: sums are exact, and ten times as fast as those of floats."""
    features, samples = values.shape
    for j in range(features):
        total, squares, there = _present_sums(values[j], code)
        mean[j], absent[j] = total / max(there, 1), samples - there
        # squares - total^2 / there, with the whole part of the mean taken off exactly: 0 for a constant column.
        quotient, rest = total // max(there, 1), total % max(there, 1)
        spread = (squares - quotient * total) - np.float64(rest) * np.float64(total) / max(there, 1)
        scale[j] = np.sqrt(max(spread, 0.0) / samples)


# So many squares of one byte fit into 32 bits, in which a loop has most lanes.
_STRETCH = 1 << 16


@numba.njit(cache=True, nogil=True)
def _present_sums(column, code):  # type: ignore[no-untyped-def]
    """Sum, sum of squares and number of the values that are there."""
    total, squares, there = np.int64(0), np.int64(0), np.int64(0)
    for start in range(0, column.size, _STRETCH):
        part_total, part_squares, part_there = np.int32(0), np.int32(0), np.int32(0)
        for i in range(start, min(start + _STRETCH, column.size)):
            value = np.int32(column[i])
            present = np.int32(value != code)
            value = value * present
            part_total += value
            part_squares += value * value
            part_there += present
        total += part_total
        squares += np.uint32(part_squares)
        there += part_there
    return total, squares, there


@numba.njit(cache=True, nogil=True)
def _standardise(values, mean, scale, out):  # type: ignore[no-untyped-def]
    features, samples = values.shape
    for j in range(features):
        column, centre = values[j], mean[j]
        inverse = 1.0 / scale[j] if scale[j] > 0 else 0.0
        for i in range(samples):
            out[j, i] = np.float32((column[i] - centre) * inverse)
