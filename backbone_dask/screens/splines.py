"""Nonparametric independence screening (Fan, Feng and Song 2011): what a smooth function of a column explains of y."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidSettingError
from backbone_dask.screens.rows import LEVELS, TABLES, as_bytes, in_kind, is_counted, standard_level, standardise
from backbone_dask.screens.vectorised import LANES
from backbone_dask.values import Target, Utilities

BOUND = 3.0
"""Samples farther than this many scales from the mean count as that far: one of them must not bend the whole curve."""
RIDGE = 1e-6
"""Added to the diagonal of the mean outer product of the basis: functions that few samples reach, or none, as in a
column of 0, 1 and 2, then have a fit all the same. A direction of curvature m loses RIDGE / (m + RIDGE) of it."""
MOST_KNOTS = 32
_ORDER = 4
_CHUNK = 512


@dataclass(frozen=True, slots=True)
class Splines:
    """R^2, in [0, 1], of y on a cubic B-spline of each standardised column; constant columns score 0.

    The knots lie at `n_knots` quantiles of the normal law, times scale, plus mean, so that nothing is sorted; there
    are n_knots + 4 basis functions. Within 1e-9 of the exact ridge fit (see `RIDGE`) for float64 and integer columns,
    1e-5 for float32 ones (1e-3 with fewer than ten samples a basis function).
    """

    n_knots: int = 5

    def __post_init__(self) -> None:
        if not 1 <= self.n_knots <= MOST_KNOTS:
            raise InvalidSettingError(f"n_knots is {self.n_knots}; use 1 to {MOST_KNOTS}")

    def __call__(self, columns: Columns, y: Target) -> Utilities:
        scores = np.zeros(columns.n_features)
        spread = y.std()
        if spread == 0:
            return scores
        unit, (ends, basis) = (y - y.mean()) / spread, _cells(self.n_knots)
        if is_counted(columns):
            data = as_bytes(columns)
            _counted_scores(
                data.values, data.levels, data.missing, columns.mean, columns.scale, unit, ends, basis, scores
            )
        else:
            _float_scores(columns.values, columns.mean, columns.scale, in_kind(columns, unit), ends, basis, scores)
        return np.clip(scores, 0.0, 1.0)


@lru_cache
def _cells(n_knots: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends of the cells between knots, shape (cells + 1,), and the basis in them, shape (cells, 4, 4).

    basis[c, k, d] is the coefficient of t^d in basis function c + k, where t runs from -1 to 1 through cell c.
    """
    # scipy.interpolate takes a third of a second to import, which the other screens need not wait for.
    from scipy.interpolate import BSpline

    ends = np.concatenate([[-BOUND], ndtri(np.arange(1, n_knots + 1) / (n_knots + 1)), [BOUND]])
    knots = np.concatenate([np.full(_ORDER - 1, -BOUND), ends, np.full(_ORDER - 1, BOUND)])
    t = np.array([-0.9, -0.3, 0.3, 0.9])
    powers = np.vander(t, _ORDER, increasing=True)
    basis = np.empty((n_knots + 1, _ORDER, _ORDER))
    for c, (low, high) in enumerate(pairwise(ends)):
        values = BSpline.design_matrix((low + high) / 2 + t * (high - low) / 2, knots, _ORDER - 1).toarray()
        basis[c] = np.linalg.solve(powers, values[:, c : c + _ORDER]).T
    return ends, basis


@numba.njit(cache=True, nogil=True)
def _float_scores(values, mean, scale, unit, ends, basis, scores):  # type: ignore[no-untyped-def]
    z, moments = np.empty_like(unit), np.empty((basis.shape[0], 11))
    for j in range(values.shape[0]):
        if scale[j] > 0:
            standardise(values[j], mean[j], scale[j], z)
            moments[:] = 0
            for start in range(0, z.size, _CHUNK):
                part = slice(start, start + _CHUNK)
                _add_moments(z[part], unit[part], ends, moments)
            scores[j] = _explained(moments / z.size, basis)


@numba.njit(cache=True, nogil=True, fastmath=LANES)
def _add_moments(z, unit, ends, moments):  # type: ignore[no-untyped-def]
    """Adds, for every cell, the sums of t^0 ... t^6 and of y t^0 ... y t^3 over the samples in it."""
    kind, cells = z.dtype.type, moments.shape[0]
    zero, one, bound = kind(0), kind(1), kind(BOUND)
    for c in range(cells):
        centre, stretch = kind((ends[c] + ends[c + 1]) / 2), kind(2 / (ends[c + 1] - ends[c]))
        low = kind(ends[c] if c > 0 else -np.inf)
        high = kind(ends[c + 1] if c < cells - 1 else np.inf)
        s0, s1, s2, s3, s4, s5, s6 = zero, zero, zero, zero, zero, zero, zero
        y0, y1, y2, y3 = zero, zero, zero, zero
        for i in range(z.size):
            inside = (z[i] > low) & (z[i] <= high)
            t = (min(max(z[i], -bound), bound) - centre) * stretch if inside else zero
            y = unit[i] if inside else zero
            t2 = t * t
            t3 = t2 * t
            s0 += one if inside else zero
            s1 += t
            s2 += t2
            s3 += t3
            s4 += t2 * t2
            s5 += t2 * t3
            s6 += t3 * t3
            y0 += y
            y1 += y * t
            y2 += y * t2
            y3 += y * t3
        for k, total in enumerate((s0, s1, s2, s3, s4, s5, s6, y0, y1, y2, y3)):
            moments[c, k] += total


@numba.njit(cache=True, nogil=True)
def _explained(moments, basis):  # type: ignore[no-untyped-def]
    """b'(G + ridge)^-1 b for the means G of products of basis functions and b of products with a y of variance 1."""
    size = basis.shape[0] + _ORDER - 1
    gram, right = np.zeros((size, size)), np.zeros(size)
    for c in range(basis.shape[0]):
        if moments[c, 0] > 0:
            for k in range(_ORDER):
                for d in range(_ORDER):
                    right[c + k] += basis[c, k, d] * moments[c, 7 + d]
                    column = 0.0
                    for e in range(_ORDER):
                        column += basis[c, k, e] * moments[c, d + e]
                    for m in range(k + 1):
                        gram[c + k, c + m] += column * basis[c, m, d]
    return _banded_norm(gram, right)


@numba.njit(cache=True, nogil=True)
def _banded_norm(gram, right):  # type: ignore[no-untyped-def]
    """|L^-1 b|^2 for gram + ridge = L L', of which the lower triangle is given and nothing is four or more below the
    diagonal. Overwrites both."""
    total = 0.0
    for k in range(right.size):
        first = max(0, k - _ORDER + 1)
        for m in range(first, k + 1):
            value = gram[k, m] + (RIDGE if k == m else 0.0)
            for e in range(first, m):
                value -= gram[k, e] * gram[m, e]
            gram[k, m] = np.sqrt(value) if k == m else value / gram[m, m]
        for m in range(first, k):
            right[k] -= gram[k, m] * right[m]
        right[k] /= gram[k, k]
        total += right[k] ** 2
    return total


@numba.njit(cache=True, nogil=True)
def _counted_scores(values, levels, missing, mean, scale, unit, ends, basis, scores):  # type: ignore[no-untyped-def]
    tables, sums = np.empty((TABLES, LEVELS, 2)), np.empty((LEVELS, 2))
    moments = np.empty((basis.shape[0], 11))
    for j in range(values.shape[0]):
        if scale[j] > 0:
            _sum_by_level(values[j], unit, tables, sums)
            moments[:] = 0
            for byte in range(LEVELS):
                if sums[byte, 0] > 0:
                    z = standard_level(levels, byte, missing, mean[j], scale[j])
                    _add_level(z, sums[byte, 0], sums[byte, 1], ends, moments)
            scores[j] = _explained(moments / unit.size, basis)


@numba.njit(cache=True, nogil=True)
def _sum_by_level(column, unit, tables, sums):  # type: ignore[no-untyped-def]
    """sums[b] = the number of samples whose byte is b, and the sum of their y."""
    tables[:] = 0
    whole = column.size - column.size % TABLES
    for i in range(0, whole, TABLES):
        for k in range(TABLES):
            tables[k, column[i + k], 0] += 1
            tables[k, column[i + k], 1] += unit[i + k]
    for i in range(whole, column.size):
        tables[0, column[i], 0] += 1
        tables[0, column[i], 1] += unit[i]
    for byte in range(LEVELS):
        for k in range(2):
            sums[byte, k] = tables[0, byte, k] + tables[1, byte, k] + tables[2, byte, k] + tables[3, byte, k]


@numba.njit(cache=True, nogil=True)
def _add_level(z, number, total, ends, moments):  # type: ignore[no-untyped-def]
    z = min(max(z, -BOUND), BOUND)
    c = 0
    while c < moments.shape[0] - 1 and z > ends[c + 1]:
        c += 1
    t = (z - (ends[c] + ends[c + 1]) / 2) * (2 / (ends[c + 1] - ends[c]))
    power = 1.0
    for d in range(7):
        moments[c, d] += number * power
        if d < _ORDER:
            moments[c, 7 + d] += total * power
        power *= t
