"""Room for every feature: nothing to choose, one ridge fit, and a bound that says how exactly it was computed."""

from __future__ import annotations

import numpy as np

from backbone_dask.exact.incumbent import Incumbent
from backbone_dask.exact.verdict import Answer
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.values import Standardised, Termination

_REFINEMENTS = 2
_EPS = float(np.finfo(np.float64).eps)


def fit_everything(X: Standardised, y: Vector, gamma: float) -> Answer[Incumbent]:
    """The ridge fit on all rows of X, which is optimal: more features never cost more."""
    # Products of the columns would have lost the digits by which almost equal columns differ.
    rows = X.astype(np.float64)
    stacked = np.vstack([rows.T, np.eye(len(rows)) / np.sqrt(gamma)])
    a, weights = y, np.zeros(len(rows))
    for _ in range(_REFINEMENTS):
        step = np.linalg.lstsq(stacked, np.append(a, -weights / np.sqrt(gamma)))[0]
        # By steps, since y - X'w would round to the digits of weights that all but cancel.
        a, weights = a - step @ rows, weights + step
    objective = 0.5 * float(a @ a) + float(weights @ weights) / (2 * gamma)
    used = np.flatnonzero(weights)
    bound = ridge_bound(rows, y, gamma, a)
    return Answer(Incumbent(used, weights[used], objective), bound, Termination.ROUND_LIMIT, 0)


def ridge_bound(rows: Matrix, y: Vector, gamma: float, a: Vector) -> float:
    """No ridge fit on these rows costs less: the bound of a dual vector, with room for all of them."""
    reach = np.abs(rows @ a) + _error(y, a) * np.linalg.norm(rows, axis=1)
    return ray_bound(y, a, gamma, float(reach @ reach) * (1 + len(rows) * _EPS))


def ray_bound(y: Vector, a: Vector, gamma: float, heaviest: float, y_error: float = 0.0) -> float:
    """The largest of t y'a - t^2/2 (a'a + gamma heaviest) over t, rounding included.

    No ridge fit costs less whose columns have a sum of (X_j'a)^2 of at most `heaviest`, for no target that is within a
    distance of `y_error` of y.
    """
    ya = float(y @ a) - _error(y, a) * float(np.linalg.norm(y)) - y_error * float(np.linalg.norm(a))
    curvature = float(a @ a) * (1 + (y.size + 8) * _EPS) + gamma * heaviest
    if not ya > 0:
        return 0.0
    return 0.5 * ya * (ya / curvature) * (1 - 16 * _EPS)


def _error(y: Vector, a: Vector) -> float:
    return float((y.size + 8) * _EPS * np.linalg.norm(a))
