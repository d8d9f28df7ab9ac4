"""The perspective relaxation over groups: min 1/2 |y - X'w|^2 + 1/(2 gamma) sum_g |w_g|^2 / z_g with sum z <= k.

With z eliminated the penalty is the squared k-support norm of the groups' lengths |w_g|. A proximal gradient step,
which has a closed form also for w >= 0, names the groups with z = 1, between 0 and 1, or 0, and the weights at 0; a
Newton step on the rest follows, as far as the objective falls. Only the cut claims anything: it holds at any weights.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from backbone_dask.exact.face import Face
from backbone_dask.exact.perspective import LEAST_EIGENVALUE, Relaxation, penalty
from backbone_dask.exact.structured_gram import GroupedGram
from backbone_dask.losses.squared import Matrix, Vector

_HALVINGS = 10
_MAX_ROUNDS = 200
_SAFE_RIDGE = 1e-12


def solve_group_relaxation(
    problem: GroupedGram,
    face: Face,
    gamma: float,
    *,
    start: Vector | None = None,
    goal: float | None = None,
    tolerance: float = 1e-6,
    deadline: float = np.inf,
) -> Relaxation:
    """Minimise the relaxation on a face of groups until its value and its bound agree to a relative `tolerance`.

    With a `goal` it also ends as soon as it is known on which side of it the optimum lies. `start` has weights of all
    columns.
    """
    piece = _Pieces(problem, face, gamma)
    weights = piece.within(np.zeros(problem.gram.n_features) if start is None else start)
    best = piece.relaxation(weights, 0)
    while best.rounds < _MAX_ROUNDS and time.monotonic() < deadline:
        if best.is_settled(goal, tolerance):
            break
        weights = piece.newton_step(*piece.proximal_step(weights))
        best = piece.relaxation(weights, best.rounds + 1).with_better_bound(best)
    return best


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The relaxed objective on one face, and steps down it."""

    problem: GroupedGram
    face: Face
    gamma: float

    def lengths(self, weights: Vector) -> Vector:
        """|w_g| of every group."""
        return np.sqrt(self.problem.structure.sums(weights**2))

    def within(self, weights: Vector) -> Vector:
        """The weights of the groups that have a share on this face."""
        z = self.face.shares(self.lengths(weights), 0.0)
        return np.where(z[self.problem.structure.groups] > 0, weights, 0.0)

    def value(self, weights: Vector) -> float:
        gram = self.problem.gram
        loss = 0.5 * float(weights @ (gram.G @ weights)) - float(gram.b @ weights)
        return loss + penalty(self.lengths(weights), self.face) / (2 * self.gamma)

    def relaxation(self, weights: Vector, rounds: int) -> Relaxation:
        cut = self.problem.best_length_cut(weights, self.gamma, self.face)
        z = self.face.shares(self.lengths(weights), 0.0)
        return Relaxation(
            z, weights, 0.5 * self.problem.gram.yy + self.value(weights), cut, cut.bound(self.face), rounds
        )

    def proximal_step(self, weights: Vector) -> tuple[Vector, Vector]:
        """The proximal gradient step, and the z of its groups."""
        gram, step = self.problem.gram, 1 / max(self.problem.gram.eigenvalue, LEAST_EIGENVALUE)
        moved = self.problem.structure.usable(weights + step * (gram.b - gram.G @ weights))
        z = self.face.shares(self.lengths(moved), step / self.gamma)
        share = z[self.problem.structure.groups]
        return moved * share / (share + step / self.gamma), z

    def newton_step(self, weights: Vector, z: Vector) -> Vector:
        """Towards the minimum of the second-order model at the weights, as far as the true objective falls."""
        active = np.flatnonzero(weights)
        slope, curvature = self._model(weights, z, active)
        direction = np.zeros_like(weights)
        direction[active] = _direction(curvature, slope)
        value = self.value(weights)
        for halving in range(_HALVINGS):
            trial = self.problem.structure.usable(weights + 0.5**halving * direction)
            if self.value(trial) < value:
                return trial
        return weights

    def _model(self, weights: Vector, z: Vector, active: np.ndarray) -> tuple[Vector, Matrix]:
        """Slope and curvature in the active weights.

        Groups with z = 1 pay |w_g|^2. The others pay L^2 / room together, L the sum of their lengths: with
        u_g = w_g / |w_g| its half has the slope L u / room and the curvature (u u' + L (I - u_g u_g') / |w_g|) / room.
        """
        gram, groups = self.problem.gram, self.problem.structure.groups[active]
        slope = (gram.G @ weights - gram.b)[active]
        whole = z[groups] >= 1
        length = self.lengths(weights)
        unit = np.where(whole, 0.0, weights[active] / length[groups])
        total = float(length[(z < 1) & (length > 0)].sum())
        room = max(self.face.room + int(self.face.required.sum()) - int((z >= 1).sum()), 1)
        bend = np.where(whole, 0.0, total / (room * length[groups]))
        pairs = np.outer(unit, unit)
        same = groups[:, None] == groups
        curve = np.diag(bend + whole) + pairs / room - np.where(same, bend[:, None] * pairs, 0.0)
        pull = np.where(whole, weights[active], total * unit / room)
        return slope + pull / self.gamma, gram.G[np.ix_(active, active)] + curve / self.gamma


def _direction(curvature: Matrix, slope: Vector) -> Vector:
    """The Newton direction, or none where the system cannot be solved."""
    if slope.size == 0:
        return slope
    # Duplicate columns make the system singular; the ridge that cures it only bends the direction.
    ridge = _SAFE_RIDGE * float(np.trace(curvature)) / slope.size
    try:
        return -np.asarray(cho_solve(cho_factor(curvature + ridge * np.eye(slope.size)), slope))
    except LinAlgError:
        return np.zeros_like(slope)
