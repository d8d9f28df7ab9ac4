"""How much curvature of G can be moved to the ridge term, feature by feature: G = Diag(d) + a rest that stays convex.

On supports nothing changes, since w_j^2 / z_j = w_j^2 there. Between them the relaxation gains d_j w_j^2 (1/z_j - 1)/2:
its bound rises, often by a factor of ten in the gap. The best d is a small semidefinite program; a barrier method with
a few Newton steps solves it well enough, and a Cholesky factor proves that the rest is what it must be.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError

from backbone_dask.exact.gram import Gram
from backbone_dask.losses.squared import Matrix, Vector

_NEWTON_STEPS = 8
_BARRIER = 0.03
"""Of the value gained, per feature: how far from the edge to stay."""
_SLACK_OF_RIDGE, _SLACK_OF_G = 1e-3, 1e-4
_EDGE = 0.9


@dataclass(frozen=True, slots=True)
class Curvature:
    """G + slack I - Diag(amount) has no negative eigenvalue; `amount` > 0.

    The slack, small against the ridge weight, leaves room where columns depend on each other.
    """

    G: Matrix
    slack: float
    amount: Vector

    @property
    def moved(self) -> Vector:
        return self.amount - self.slack


def least_curvature(gram: Gram, gamma: float) -> Curvature:
    """The same amount for every feature: nearly the least eigenvalue."""
    slack = min(_SLACK_OF_RIDGE / gamma, _SLACK_OF_G * float(np.diagonal(gram.G).mean()))
    G: Matrix = gram.G + slack * np.eye(gram.n_features)
    least = max(float(np.linalg.eigvalsh(G)[0]), 0.0)
    return Curvature(G, slack, np.full(gram.n_features, _EDGE * least))


def is_proven(gram: Gram, moved: Vector) -> bool:
    """Whether G - Diag(moved) has no negative eigenvalue, the rounding of G and of the factorisation included."""
    margin = gram.rounding * float(np.trace(gram.G))
    return _is_definite(gram.G - np.diag(moved) - margin * np.eye(moved.size))


def recentred(curvature: Curvature, importance: Vector, deadline: float) -> Curvature:
    """Amounts with a large sum of importance * amount, kept from the edge by the logarithmic barrier."""
    amount = curvature.amount
    barrier = _BARRIER * float(importance @ amount) / amount.size
    for _ in range(_NEWTON_STEPS):
        if not barrier > 0 or time.monotonic() >= deadline:
            break
        step, slope = _newton(curvature.G - np.diag(amount), amount, importance / barrier)
        length = _length(curvature.G - np.diag(amount), amount, step)
        amount = amount + length * step
        if length == 1.0 and slope < 0.1 * amount.size:
            break
    return Curvature(curvature.G, curvature.slack, amount)


def _newton(rest: Matrix, amount: Vector, importance: Vector) -> tuple[Vector, float]:
    """Newton's step for importance'd + log det(rest) + sum log d, and the slope along it."""
    inverse = np.linalg.inv(rest)
    gradient = importance - np.diagonal(inverse) + 1 / amount
    step = np.linalg.solve(inverse * inverse.T + np.diag(1 / amount**2), gradient)
    return step, float(gradient @ step)


def _length(rest: Matrix, amount: Vector, step: Vector) -> float:
    """The whole step, or as much of it as stays inside, with a distance from the edge; 0 if nothing does."""
    falling = step < 0
    length = min(1.0, _EDGE * float(np.min(-amount[falling] / step[falling], initial=np.inf)))
    while length > 1e-6:
        if _is_definite(rest - np.diag(length * step)):
            return length if length == 1.0 else _EDGE * length
        length /= 2
    return 0.0


def _is_definite(matrix: Matrix) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except LinAlgError:
        return False
    return True
