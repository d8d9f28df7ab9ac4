"""The products that subproblems are made of: all columns against one vector, and a choice of the largest."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidSettingError
from backbone_dask.losses.squared import Vector
from backbone_dask.values import CandidateIds, Standardised

Positions = NDArray[np.int64]
"""Rows of one standardised matrix: sorted, unique."""


# Sums may be reordered (that is what makes them vector instructions), but NaN and infinity keep their meaning.
# Four rows at a time read memory a quarter faster than one. At the end the last row stands in for those that are
# missing: every row goes through the same instructions, and equal rows get equal bits.
@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _row_products(X: NDArray[np.float32], a: NDArray[np.float32], out: Vector) -> None:
    last = X.shape[0] - 1
    for j in range(0, last + 1, 4):
        b, c, d = min(j + 1, last), min(j + 2, last), min(j + 3, last)
        at_j = at_b = at_c = at_d = np.float32(0)
        for i in range(X.shape[1]):
            at_j += X[j, i] * a[i]
            at_b += X[b, i] * a[i]
            at_c += X[c, i] * a[i]
            at_d += X[d, i] * a[i]
        out[j], out[b], out[c], out[d] = at_j, at_b, at_c, at_d


def checked_start(start: CandidateIds, n_columns: int) -> Positions:
    """Positions to start from, sorted and unique, if all of them are there."""
    columns = np.unique(np.asarray(start, np.int64))
    if columns.size and not 0 <= columns[0] <= columns[-1] < n_columns:
        raise InvalidSettingError(f"start holds a position outside of the {n_columns} columns")
    return columns


def correlate(X: Standardised, a: Vector) -> Vector:
    """X_j'a for every row of X: one pass over memory, shapes (m, n) and (n,) to (m,).

    Sums are in single precision; their bits depend neither on the number of threads nor on the other rows.
    """
    out = np.empty(X.shape[0])
    _row_products(X, a.astype(np.float32), out)
    return out


def largest(scores: Vector, count: int) -> Positions:
    """Positions of the `count` largest scores above 0, fewer if there are fewer; among equals the first, sorted."""
    if count >= scores.size:
        return np.flatnonzero(scores > 0)
    threshold = np.partition(scores, -count)[-count]
    above = np.flatnonzero(scores > threshold)
    equal = np.flatnonzero(scores == threshold)
    chosen = np.sort(np.concatenate([above, equal[: count - above.size]]))
    return np.asarray(chosen[scores[chosen] > 0])
