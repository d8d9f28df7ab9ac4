"""Dual sub-gradient of the boolean relaxation for logistic loss: each round, one pass over X."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq

from backbone_dask.losses.logistic import Margin, curvature, dual_vector, free_part
from backbone_dask.losses.logistic_dual import best_length, dual_value, predictor_of
from backbone_dask.losses.squared import Vector
from backbone_dask.subproblems.logistic_task import Choice, Task
from backbone_dask.subproblems.products import Positions, largest

ROUNDS = 10
"""Fewer than for squared loss: a round costs a Newton fit besides its pass, and exchanges mend the support as well."""
ROUNDS_TO_RESTART = 5
FIRST_REACH = 0.05
"""A Polyak step aims at this much above the best bound, as for squared loss."""
LONGEST_STEP = 1.0
"""A step of 1 moves the predictor all the way to that of the primal weights."""
RELATIVE_GAP = 1e-4


@dataclass(frozen=True, slots=True)
class DualPoint:
    """A dual vector (n,) of the best length along its ray, its predictor, bound, columns and the weights (q,) on them.

    `gradient` is the dual's: the predictor less that of the weights, free of what the basis can express.
    """

    a: Vector
    predictor: Vector
    bound: float
    support: Positions
    weights: Vector
    gradient: Vector


def dual_point(task: Task, a: Vector) -> DualPoint:
    """Evaluate the dual along the ray of `a`, in one pass over X."""
    scores = task.usable(task.scores(a))
    support = task.columns_of(largest(task.totals(scores), task.n_nonzero))
    top = task.gamma * float(scores[support] @ scores[support])
    length = best_length(task.margin, a, top)
    a, weights = length * a, length * task.gamma * scores[support]
    u = predictor_of(task.margin, a)
    rest = _without_basis(task.margin, u - weights @ task.rows(support), u)
    return DualPoint(a, u, dual_value(task.margin, a) - 0.5 * length**2 * top, support, weights, rest)


def _without_basis(margin: Margin, direction: Vector, u: Vector) -> Vector:
    """The part of a direction that is orthogonal to the basis in the metric of the curvature at u."""
    if len(margin.basis) == 0:
        return direction
    root = np.sqrt(curvature(margin, u))
    free = lstsq((margin.basis * root).T, direction * root)[0]
    return np.asarray(direction - free @ margin.basis)


def ascend(task: Task) -> Choice:
    """The best support met on the way up the dual, one pass over X a round.

    Steps are taken in the predictor: that keeps a inside its box, and the best free part keeps basis @ a = 0.
    """
    nothing = task.nothing()
    best, bound, reach = nothing, 0.0, FIRST_REACH
    a, total = nothing.fit.dual, np.zeros_like(task.margin.y)
    seen: set[bytes] = set()
    for done in range(1, ROUNDS + 1):
        point = dual_point(task, a)
        bound = max(bound, point.bound)
        best = _better(task, best, point, seen)
        if best.fit.objective - bound <= RELATIVE_GAP * best.fit.objective:
            break
        total += point.a
        a = _moved(task.margin, point, min(best.fit.objective, bound * (1 + reach)))
        if done % ROUNDS_TO_RESTART == 0:
            a, total, reach = total / ROUNDS_TO_RESTART, np.zeros_like(a), reach / 2
    return best


def _better(task: Task, best: Choice, point: DualPoint, seen: set[bytes]) -> Choice:
    """The better of `best` and the fit on the point's support; any support that is not empty is better than none."""
    if point.support.tobytes() in seen:
        return best
    seen.add(point.support.tobytes())
    choice = task.choose_from(point.support, point.weights, best.fit.free)
    return choice if choice.beats(best) or best.columns.size == 0 else best


def _moved(margin: Margin, point: DualPoint, aim: float) -> Vector:
    """The dual vector after Polyak's step, as if the dual's largest value were `aim`."""
    curved = float(curvature(margin, point.predictor) @ point.gradient**2)
    length = min((aim - point.bound) / curved, LONGEST_STEP) if curved > 0 else 0.0
    u = point.predictor - length * point.gradient
    return dual_vector(margin, u + free_part(margin, u) @ margin.basis)
