"""The perspective relaxation: min 1/2 |y - X'w|^2 + 1/(2 gamma) sum w_j^2 / z_j over w and z in [0, 1]^p, sum z <= k.

With z eliminated the penalty is the squared k-support norm of w. It is quadratic on each piece given by which z_j are
1, between 0 and 1, or 0. A proximal gradient step names the piece, a Newton step minimises over it, and a line
search keeps the descent, so that a few dozen small linear systems reach the optimum.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from backbone_dask.exact.cuts import Cut, best_length_cut
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram
from backbone_dask.losses.squared import Matrix, Vector

_SHORTEST_STEP = 2.0**-10
_MAX_ROUNDS = 200
LEAST_EIGENVALUE = float(np.sqrt(np.finfo(np.float64).tiny))
"""Of products that a step can be made from: less is left of columns that a basis explains altogether."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Weights and z of the relaxed problem, its value, and the dual cut whose bound proves it."""

    z: Vector
    weights: Vector
    objective: float
    cut: Cut
    bound: float
    rounds: int

    @property
    def gap(self) -> float:
        return self.objective - self.bound

    def is_settled(self, goal: float | None, tolerance: float) -> bool:
        """Whether value and bound agree, or it is known on which side of the goal the optimum lies."""
        if goal is not None and (self.bound >= goal or self.objective < goal):
            return True
        return self.gap <= tolerance * self.objective

    def with_better_bound(self, other: Relaxation) -> Relaxation:
        """These weights, with the better of the two bounds: they hold for the same problem."""
        return self if self.bound >= other.bound else replace(self, cut=other.cut, bound=other.bound)


def penalty(weights: Vector, face: Face) -> float:
    """min over the z of the face of sum w_j^2 / z_j: on the whole problem the squared k-support norm."""
    z = face.shares(np.abs(weights), 0.0)
    used = z > 0
    return float((weights[used] ** 2 / z[used]).sum())


def solve_relaxation(
    gram: Gram,
    face: Face,
    gamma: float,
    *,
    start: Vector | None = None,
    goal: float | None = None,
    tolerance: float = 1e-6,
    deadline: float = np.inf,
) -> Relaxation:
    """Minimise the relaxation on a face until its value and its dual bound agree to a relative `tolerance`.

    With a `goal` it also ends as soon as it is known on which side of it the optimum lies.
    """
    weights = np.zeros(gram.n_features) if start is None else np.where(face.shares(np.abs(start), 0.0) > 0, start, 0.0)
    best = _evaluate(gram, weights, face, gamma, 0)
    for rounds in range(1, _MAX_ROUNDS + 1):
        if best.is_settled(goal, tolerance) or time.monotonic() >= deadline:
            break
        weights = _newton_step(gram, _proximal_step(gram, weights, face, gamma), face, gamma)
        best = _evaluate(gram, weights, face, gamma, rounds).with_better_bound(best)
    return best


def _evaluate(gram: Gram, weights: Vector, face: Face, gamma: float, rounds: int) -> Relaxation:
    cut = best_length_cut(gram, weights, gamma, face)
    value = 0.5 * gram.yy + _value(gram, weights, face, gamma)
    z = face.shares(np.abs(weights), 0.0)
    return Relaxation(z, weights, value, cut, cut.bound(face), rounds)


def _value(gram: Gram, weights: Vector, face: Face, gamma: float) -> float:
    loss = 0.5 * float(weights @ (gram.G @ weights)) - float(gram.b @ weights)
    return loss + penalty(weights, face) / (2 * gamma)


def _proximal_step(gram: Gram, weights: Vector, face: Face, gamma: float) -> tuple[Vector, Vector]:
    """The proximal gradient step and the z of its piece."""
    step = 1.0 / max(gram.eigenvalue, LEAST_EIGENVALUE)
    moved = weights + step * (gram.b - gram.G @ weights)
    z = face.shares(np.abs(moved), step / gamma)
    return moved * z / (z + step / gamma), z


def _newton_step(gram: Gram, point: tuple[Vector, Vector], face: Face, gamma: float) -> Vector:
    """Minimise over the piece of the point, and go as far in that direction as the true objective falls."""
    weights, z = point
    direction = _piece_minimum(gram, weights, z, face, gamma) - weights
    value = _value(gram, weights, face, gamma)
    length = 1.0
    while length >= _SHORTEST_STEP:
        if _value(gram, weights + length * direction, face, gamma) < value:
            return weights + length * direction
        length /= 2
    return weights


def _piece_minimum(gram: Gram, weights: Vector, z: Vector, face: Face, gamma: float) -> Vector:
    """Where z is 1 the penalty is w^2; where it is a fraction, (sum |w|)^2 / (k - how many are 1)."""
    active = np.flatnonzero(z > 0)
    whole = z[active] >= 1
    signs = np.where(whole, 0.0, np.sign(weights[active]))
    spread = max(face.room + int(face.required.sum()) - int(whole.sum()), 1)
    curvature = gram.G[np.ix_(active, active)] + np.outer(signs, signs) / (gamma * spread)
    curvature[np.diag_indices_from(curvature)] += np.where(whole, 1 / gamma, 0.0)
    minimum = np.zeros_like(weights)
    minimum[active] = _solve(curvature, gram.b[active])
    return minimum


def _solve(matrix: Matrix, right: Vector) -> Vector:
    # Duplicate columns make the system singular; the ridge that cures it only bends the direction.
    ridge = 1e-12 * float(np.trace(matrix)) / right.size
    try:
        return np.asarray(cho_solve(cho_factor(matrix + ridge * np.eye(right.size)), right))
    except LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right)[0])
