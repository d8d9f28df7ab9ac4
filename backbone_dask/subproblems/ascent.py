"""Dual sub-gradient of the boolean relaxation: each round, one pass over X finds the support a dual vector wants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.errors import InvalidDataError
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.subproblems.products import Positions, correlate, largest
from backbone_dask.subproblems.task import NEGLIGIBLE, Choice, Task

ROUNDS = 20
ROUNDS_TO_RESTART = 10
FIRST_REACH = 0.1
"""A Polyak step aims at this much above the best bound. The value of the best support, the textbook's aim, lies so far
above the relaxation's optimum that steps towards it overshoot and no later round finds a better support."""
RELATIVE_GAP = 1e-4


@dataclass(frozen=True, slots=True)
class DualPoint:
    """A dual vector a (n,) of the best length along its ray, its bound D(a), and the support that attains it."""

    a: Vector
    bound: float
    support: Positions
    gradient: Vector


def dual_point(task: Task, a: Vector) -> DualPoint:
    """Evaluate the dual along the ray of `a`, in one pass over X."""
    scores = correlate(task.X, a)
    if not np.isfinite(scores).all():
        raise InvalidDataError(
            "X holds values that are not finite, or is not standardised; standardise its columns first"
        )
    support = largest(scores**2, task.n_nonzero)
    top = scores[support]
    ya = float(task.y @ a)
    # D(t a) = t y'a - t^2/2 (a'a + gamma sum of the k largest (X_j'a)^2) is a parabola in t.
    length = ya / (float(a @ a) + task.gamma * float(top @ top))
    return DualPoint(
        length * a, 0.5 * length * ya, support, _gradient(task, length * a, length * top, task.rows(support))
    )


def _gradient(task: Task, a: Vector, top: Vector, rows: Matrix) -> Vector:
    return task.y - a - task.gamma * (top @ rows)


@dataclass(frozen=True, slots=True)
class Ascent:
    """The best support met on the way up the dual, and z (m,): the share of the rounds whose support held a column.

    z is the averaged point of the relaxation: it is in [0, 1], and its sum is at most n_nonzero.
    """

    best: Choice
    z: Vector


def ascend(task: Task) -> Ascent:
    """Climb the dual, one pass over X a round."""
    best, bound, reach = task.nothing(), 0.0, FIRST_REACH
    a, total = task.y, np.zeros_like(task.y)
    seen, rounds_in, done = {best.columns.tobytes()}, np.zeros(task.X.shape[0]), 0
    for done in range(1, ROUNDS + 1):
        point = dual_point(task, a)
        bound = max(bound, point.bound)
        rounds_in[point.support] += 1
        best = _better(task, best, point.support, seen)
        if best.fit.objective - bound <= RELATIVE_GAP * best.fit.objective + NEGLIGIBLE * task.yy:
            break
        total += point.a
        a = point.a + _step(point, min(best.fit.objective, bound * (1 + reach))) * point.gradient
        if done % ROUNDS_TO_RESTART == 0:
            a, total, reach = total / ROUNDS_TO_RESTART, np.zeros_like(a), reach / 2
    return Ascent(best, rounds_in / done)


def _better(task: Task, best: Choice, support: Positions, seen: set[bytes]) -> Choice:
    """The better of `best` and the fit on `support`, which is not made again if the support was seen before."""
    if support.tobytes() in seen:
        return best
    seen.add(support.tobytes())
    choice = task.choose(task.pool(support), np.arange(support.size))
    return choice if choice.beats(best) else best


def _step(point: DualPoint, aim: float) -> float:
    """Polyak's step, as if the dual's largest value were `aim`."""
    return (aim - point.bound) / float(point.gradient @ point.gradient)
