"""Many weighted sums of every column in one pass: what folds and several targets are made of."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns


def weighted_sums(columns: Columns, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """sum_i w_i (x_i - mean) for every weight vector (rows of `weights`) and column; shape (weights, features).

    A column is centred once into a buffer that stays in cache, and then met with every weight vector. float64 columns
    are summed in float64, the others in float32 lanes.
    """
    kind = np.float64 if columns.values.dtype == np.float64 else np.float32
    return _summed(_sums, columns, weights, kind)


def exact_sums(columns: Columns, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """`weighted_sums` in float64 for every dtype: for sums that are subtracted from each other."""
    return _summed(_sums, columns, weights, np.float64)


def exact_squares(columns: Columns, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """`weighted_squares` in float64 for every dtype."""
    return _summed(_squares, columns, weights, np.float64)


def weighted_squares(columns: Columns, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """sum_i w_i (x_i - mean)^2 for every weight vector and column; shape (weights, features)."""
    kind = np.float64 if columns.values.dtype == np.float64 else np.float32
    return _summed(_squares, columns, weights, kind)


def _summed(kernel: Any, columns: Columns, weights: NDArray[np.float64], kind: Any) -> NDArray[np.float64]:
    out = np.empty((columns.n_features, weights.shape[0]))
    kernel(columns.values, _code(columns), columns.mean.astype(kind), np.ascontiguousarray(weights, kind), out)
    return np.ascontiguousarray(out.T)


def _code(columns: Columns) -> float | int:
    """The code of a missing value; without one, something that equals no stored value, so that nothing is left out."""
    if columns.values.dtype.kind == "f":
        return np.nan
    return columns.missing if columns.missing is not None else -32768


_LANES = {"reassoc", "contract", "nsz"}


@numba.njit(cache=True, nogil=True, fastmath=_LANES)
def _centre(column, code, centre, buffer):  # type: ignore[no-untyped-def]
    for i in range(column.size):
        deviation = buffer.dtype.type(column[i]) - centre
        buffer[i] = deviation if column[i] != code else buffer.dtype.type(0)


@numba.njit(cache=True, nogil=True, fastmath=_LANES)
def _dots(buffer, weights, out):  # type: ignore[no-untyped-def]
    for q in range(weights.shape[0]):
        row = weights[q]
        total = buffer.dtype.type(0)
        for i in range(buffer.size):
            total += buffer[i] * row[i]
        out[q] = total


@numba.njit(cache=True, nogil=True)
def _sums(values, code, mean, weights, out):  # type: ignore[no-untyped-def]
    buffer = np.empty(values.shape[1], weights.dtype)
    for j in range(values.shape[0]):
        _centre(values[j], code, mean[j], buffer)
        _dots(buffer, weights, out[j])


@numba.njit(cache=True, nogil=True)
def _squares(values, code, mean, weights, out):  # type: ignore[no-untyped-def]
    buffer = np.empty(values.shape[1], weights.dtype)
    for j in range(values.shape[0]):
        _centre(values[j], code, mean[j], buffer)
        buffer *= buffer
        _dots(buffer, weights, out[j])
