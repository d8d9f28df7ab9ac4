"""One step of Newton's method: to the minimum of the quadratic model at a point, with or without signs to keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from backbone_dask.losses.nonnegative import partly_nonnegative
from backbone_dask.losses.squared import Matrix, Vector

_FAINT = 1e-14
"""The first ridge that makes up for rounding, as a share of the trace."""


@dataclass(frozen=True, slots=True)
class Step:
    """Where to go (d,), by how much the model falls there, and the diagonal of the inverse Hessian (d,).

    The inverse is that on the part of the point that is not held at 0, and 1 for the rest.
    """

    direction: Vector
    promised: float
    inverse_diagonal: Vector


StepRule = Callable[[Matrix, Vector, Vector], Step]
"""The step from a point (d,), given the Hessian (d, d) and the slope (d,) there."""


def newton_step(hessian: Matrix, slope: Vector, point: Vector) -> Step:
    """To the minimum of the model."""
    inverse = _inverse(hessian)
    direction = -inverse @ slope
    return Step(direction, -0.5 * float(slope @ direction), np.diagonal(inverse))


def signed_step(hessian: Matrix, slope: Vector, point: Vector, *, n_signed: int) -> Step:
    """To the minimum of the model over points whose first `n_signed` entries are not negative; `point` is one."""
    aim = _signed_minimum(hessian, hessian @ point - slope, n_signed)
    held = (np.arange(point.size) < n_signed) & (aim <= 0)
    moving = np.flatnonzero(~held)
    inverse = _inverse(hessian[np.ix_(moving, moving)])
    # From the slope rather than from the aim, which has lost the digits that cancel near the optimum.
    direction = np.where(held, -point, 0.0)
    direction[moving] = -inverse @ (slope + hessian @ direction)[moving]
    if (point + direction)[:n_signed].min(initial=0.0) < 0:
        direction = aim - point
    promised = -float(slope @ direction) - 0.5 * float(direction @ (hessian @ direction))
    diagonal = np.ones_like(point)
    diagonal[moving] = np.diagonal(inverse)
    return Step(direction, max(promised, 0.0), diagonal)


def _signed_minimum(hessian: Matrix, b: Vector, n_signed: int) -> Vector:
    for lift in _lifts(hessian):
        try:
            return partly_nonnegative(hessian + lift * np.eye(b.size), b, n_signed)
        except LinAlgError:
            continue
    raise LinAlgError("the Hessian is not finite")


def _inverse(hessian: Matrix) -> Matrix:
    """Of a matrix that is positive definite but for rounding; a growing ridge makes up for that."""
    identity = np.eye(len(hessian))
    for lift in _lifts(hessian):
        try:
            return np.asarray(cho_solve(cho_factor(hessian + lift * identity), identity))
        except LinAlgError:
            continue
    raise LinAlgError("the Hessian is not finite")


def _lifts(hessian: Matrix) -> Iterator[float]:
    """Nothing, then ridges up to one that is larger than any eigenvalue."""
    yield 0.0
    yield from _FAINT * float(np.trace(hessian)) * 10.0 ** np.arange(16)
