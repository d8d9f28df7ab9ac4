"""Pairs a < b of p columns under one number each, in the order of itertools.combinations: no list of them is kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backbone_dask.values import CandidateIds

MOST_COLUMNS = 1 << 31
"""All products below stay within int64 up to here."""


def n_pairs(p: int) -> int:
    return p * (p - 1) // 2


def pair_ids(a: NDArray[np.int64], b: NDArray[np.int64], p: int) -> CandidateIds:
    """Numbers of the pairs a < b, shape of a and b: those of the first columns come first, each with rising b."""
    ids: CandidateIds = a * (2 * p - a - 1) // 2 + (b - a - 1)
    return ids


def pairs_of(ids: CandidateIds, p: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Columns a < b of every id, two arrays of its shape; exact for p up to 2^31.

    Counted from the last pair, those with one first column form a row of a triangle: row k has k + 1 of them.
    """
    place = n_pairs(p) - 1 - np.asarray(ids, np.int64)
    row = np.sqrt(2.0 * place + 0.25).astype(np.int64)
    # The square root of a rounded float may miss by one; integers decide.
    row -= row * (row + 1) // 2 > place
    row += (row + 1) * (row + 2) // 2 <= place
    return p - 2 - row, p - 1 - (place - row * (row + 1) // 2)
