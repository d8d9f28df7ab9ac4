"""Squared loss with weights that are not negative: min over w >= 0 of 1/2 w'Hw - b'w, to its optimality conditions."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import nnls

from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.values import Mask

_PATIENCE = 3
_ROUNDING = 1e-13
"""A slope below this share of its terms counts as 0."""


def nonnegative_weights(system: Matrix, b: Vector) -> Vector:
    """The minimiser for a positive definite system H (q, q), by block principal pivoting (Portugal et al., 1994).

    All weights and slopes of a wrong sign change sides at once; when that stops reducing their number, only the last
    one does, which ends for every H. It returns when no sign is wrong: those are the optimality conditions.
    """
    free = np.asarray(b > 0)
    fewest, patience = b.size + 1, _PATIENCE
    for _ in range(10 * b.size + 100):
        weights = _weights_where(free, system, b)
        wrong = _wrong_signs(free, weights, system, b)
        count = int(wrong.sum())
        if count == 0:
            return weights
        patience = _PATIENCE if count < fewest else patience - 1
        fewest = min(fewest, count)
        if patience < 0:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        free ^= wrong
    return _by_lawson_hanson(system, b)


def partly_nonnegative(system: Matrix, b: Vector, n_signed: int) -> Vector:
    """The minimiser where only the first `n_signed` weights must not be negative: the rest is eliminated."""
    signed, rest = slice(n_signed), slice(n_signed, None)
    factor = cho_factor(system[rest, rest])
    answer, alone = cho_solve(factor, system[rest, signed]), cho_solve(factor, b[rest])
    reduced = system[signed, signed] - system[signed, rest] @ answer
    weights = nonnegative_weights((reduced + reduced.T) / 2, b[signed] - system[signed, rest] @ alone)
    return np.concatenate([weights, alone - answer @ weights])


def _weights_where(free: Mask, system: Matrix, b: Vector) -> Vector:
    """The minimiser with the other weights at 0, whatever its signs."""
    weights = np.zeros_like(b)
    at = np.flatnonzero(free)
    if at.size:
        weights[at] = cho_solve(cho_factor(system[np.ix_(at, at)]), b[at])
    return weights


def _wrong_signs(free: Mask, weights: Vector, system: Matrix, b: Vector) -> Mask:
    slopes = system @ weights - b
    rounding = _ROUNDING * (np.abs(system) @ np.abs(weights) + np.abs(b))
    return np.where(free, weights <= 0, slopes < -rounding)


def _by_lawson_hanson(system: Matrix, b: Vector) -> Vector:
    """The same as least squares |L'w - L^-1 b|, for the rare system whose rounding keeps signs from settling."""
    lower = cholesky(system, lower=True)
    return np.asarray(nnls(lower.T, solve_triangular(lower, b, lower=True))[0])
