"""The products that subproblems are made of: all columns against one vector, and a choice of the largest."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.losses.squared import Vector
from backbone_dask.values import Standardised

Positions = NDArray[np.int64]
"""Rows of one standardised matrix: sorted, unique."""


# Sums may be reordered (that is what makes them vector instructions), but NaN and infinity keep their meaning.
@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _row_products(X: NDArray[np.float32], a: NDArray[np.float32], out: Vector) -> None:
    for j in range(X.shape[0]):
        total = np.float32(0)
        for i in range(X.shape[1]):
            total += X[j, i] * a[i]
        out[j] = total


def correlate(X: Standardised, a: Vector) -> Vector:
    """X_j'a for every row of X: one pass over memory, shapes (m, n) and (n,) to (m,).

    Sums are in single precision, and their bits do not depend on the number of threads.
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
