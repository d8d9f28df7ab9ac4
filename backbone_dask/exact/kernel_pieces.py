"""The minimum over one piece of a relaxation: who is whole, who is a fraction with which sign, who is nothing."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.losses.squared import Matrix, Vector

Codes = NDArray[np.int8]

FREE, REQUIRED, EXCLUDED = 0, 1, -1
"""Whether a feature is decided."""
NOTHING, WHOLE, PLUS, MINUS = 0, 1, 2, 3
"""Where the share of a free feature lies: at 0, at 1, or between, with a positive or a negative weight."""
LANES = {"reassoc", "contract", "nsz"}
_SINGULAR = 1e-10
_BOND = 1e-3
"""Relative to the mean curvature: what holds v to the centre on a piece with many minima."""
_BONDS = 10
"""How often the centre follows, so that the bond bends nothing where there is only one minimum."""


@numba.njit(cache=True, nogil=True, fastmath=LANES)
def _dot(x: Vector, y: Vector, size: int) -> float:
    total = 0.0
    for i in range(size):
        total += x[i] * y[i]
    return total


@numba.njit(cache=True, nogil=True)
def _factorise(M: Matrix) -> bool:
    """Cholesky in place, lower triangle; False if a row depends on those before it."""
    for i in range(M.shape[0]):
        row, diagonal = M[i], M[i, i]
        for j in range(i):
            row[j] = (row[j] - _dot(row, M[j], j)) / M[j, j]
        pivot = diagonal - _dot(row, row, i)
        if not pivot > _SINGULAR * diagonal:
            return False
        row[i] = np.sqrt(pivot)
    return True


@numba.njit(cache=True, nogil=True)
def _solve_factorised(M: Matrix, x: Vector) -> None:
    for i in range(x.size):
        x[i] = (x[i] - _dot(M[i], x, i)) / M[i, i]
    for i in range(x.size - 1, -1, -1):
        x[i] /= M[i, i]
        for j in range(i):
            x[j] -= M[i, j] * x[i]


@numba.njit(cache=True, nogil=True)
def _members(status: Codes, code: Codes, active: NDArray[np.int64]) -> tuple[int, int]:
    """List the features that may have weight; how many, and how many of the free ones are whole."""
    size, whole = 0, 0
    for j in range(status.size):
        if status[j] == REQUIRED or (status[j] == FREE and code[j] != NOTHING):
            active[size] = j
            size += 1
            whole += status[j] == FREE and code[j] == WHOLE
    return size, whole


@numba.njit(cache=True, nogil=True)
def _sign(status: int, code: int) -> float:
    if status == REQUIRED or code == WHOLE:
        return 0.0
    return 1.0 if code == PLUS else -1.0


# Loops where an array expression would do: those take most of the compiler's time, and no less of the kernel's.


@numba.njit(cache=True, nogil=True)
def piece_minimum(A, b, status, code, room, centre, v, s):  # type: ignore[no-untyped-def]
    """The best v of the piece that `code` names, and its slopes s = b - A v; near the centre if there are many best."""
    active = np.empty(b.size, np.int64)
    size, whole = _members(status, code, active)
    share = 1.0 / max(room - whole, 1)
    M, x = np.empty((size, size)), np.empty(size)
    bond = _BOND * _curvature(A, b, status, code, share, active, M, x) / max(size, 1)
    tied = not _factorise(M)
    if tied:
        _curvature(A, b, status, code, share, active, M, x)
        for i in range(size):
            M[i, i] += bond
            x[i] += bond * centre[active[i]]
        _factorise(M)
    _solve_factorised(M, x)
    for _ in range(_BONDS if tied else 0):
        for i in range(size):
            x[i] = b[active[i]] + bond * x[i]
        _solve_factorised(M, x)
    for j in range(b.size):
        v[j] = 0.0
    for i in range(size):
        v[active[i]] = x[i]
    slopes(A, b, v, s)


@numba.njit(cache=True, nogil=True)
def _curvature(A, b, status, code, share, active, M, x):  # type: ignore[no-untyped-def]
    """The linear system of a piece, its lower triangle, and its trace.

    Wholes cost v^2, the fractions together share * (sum |v|)^2.
    """
    trace = 0.0
    for i in range(x.size):
        at, row = active[i], A[active[i]]
        sign = _sign(status[at], code[at])
        for j in range(i + 1):
            M[i, j] = row[active[j]] + share * sign * _sign(status[active[j]], code[active[j]])
        M[i, i] += 1.0 if sign == 0.0 else 0.0
        x[i] = b[at]
        trace += M[i, i]
    return trace


@numba.njit(cache=True, nogil=True, fastmath=LANES)
def slopes(A, b, v, s):  # type: ignore[no-untyped-def]
    """s = b - A v."""
    for j in range(b.size):
        s[j] = b[j]
    for i in range(b.size):
        row, weight = A[i], v[i]
        if weight != 0.0:
            for j in range(b.size):
                s[j] -= weight * row[j]
