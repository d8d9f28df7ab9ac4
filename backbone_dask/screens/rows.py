"""One column at a time as the kernels take it: standardised in a buffer, or, for integers, counted by value.

An int8 or uint8 column has at most 256 values, so that a table of counts says all that a screen can ask, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.screens.vectorised import LANES

LEVELS = 256
TABLES = 4
"""Counts are kept in as many tables at once: an addition need not wait for the last one to the same cell."""


def is_counted(columns: Columns) -> bool:
    """Whether the columns are integers, to be counted by value."""
    return columns.values.dtype.itemsize == 1


@dataclass(frozen=True, slots=True)
class Bytes:
    """Integer columns as their bytes, the number that every byte stands for, and the byte of a missing value or -1."""

    values: NDArray[np.uint8]
    levels: NDArray[np.float64]
    missing: int


def as_bytes(columns: Columns) -> Bytes:
    """The same memory, byte by byte."""
    levels = np.arange(LEVELS, dtype=np.uint8).view(columns.values.dtype).astype(np.float64)
    code = -1 if columns.missing is None else int(np.flatnonzero(levels == columns.missing)[0])
    return Bytes(columns.values.view(np.uint8), levels, code)


def in_kind(columns: Columns, y: NDArray[Any]) -> NDArray[Any]:
    """`y` in the precision that the columns are scored in: their own if they are floats, float64 for counts."""
    return np.ascontiguousarray(y, np.float32 if columns.values.dtype == np.float32 else np.float64)


@numba.njit(cache=True, nogil=True, fastmath=LANES)
def standardise(column, mean, scale, z):  # type: ignore[no-untyped-def]
    """z = (column - mean) / scale, rounded once to the precision of z: columns far from 0 lose nothing."""
    inverse = 1.0 / scale
    for i in range(column.size):
        z[i] = (column[i] - mean) * inverse


@numba.njit(cache=True, nogil=True)
def standard_level(levels, byte, missing, mean, scale):  # type: ignore[no-untyped-def]
    """What a byte stands for, standardised; a missing value stands for the mean."""
    return 0.0 if byte == missing else (levels[byte] - mean) / scale


@numba.njit(cache=True, nogil=True)
def count(column, offsets, tables, counts):  # type: ignore[no-untyped-def]
    """counts[c * 256 + b] = the number of samples of class c whose byte is b, for offsets = 256 * class (uint32)."""
    tables[:] = 0
    whole = column.size - column.size % TABLES
    for i in range(0, whole, TABLES):
        tables[0, offsets[i] + column[i]] += 1
        tables[1, offsets[i + 1] + column[i + 1]] += 1
        tables[2, offsets[i + 2] + column[i + 2]] += 1
        tables[3, offsets[i + 3] + column[i + 3]] += 1
    for i in range(whole, column.size):
        tables[0, offsets[i] + column[i]] += 1
    for cell in range(counts.size):
        counts[cell] = tables[0, cell] + tables[1, cell] + tables[2, cell] + tables[3, cell]


def present_classes(y: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The class of every sample, counted from 0 without a gap (a fold may hold none of some class), and their sizes."""
    classes = y.astype(np.int64)
    sizes = np.bincount(classes)
    return (np.cumsum(sizes > 0) - 1)[classes], sizes[sizes > 0]


def class_offsets(classes: NDArray[Any]) -> NDArray[np.uint32]:
    """256 times the class of every sample: where its counts start."""
    return (classes * LEVELS).astype(np.uint32)
