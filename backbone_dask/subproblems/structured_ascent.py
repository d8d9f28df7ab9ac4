"""Dual sub-gradient of the boolean relaxation over groups: one pass over X a round.

Every a bounds c from below: c(z) = min over w of max over a of a'(y - X'w) - a'a/2 + sum_g |w_g|^2 / (2 gamma z_g), and
for a fixed a the least of w_j^2 / (2 gamma z_g) - w_j X_j'a over the weights allowed is -gamma/2 z_g phi(X_j'a)^2.
"""

from __future__ import annotations

import numpy as np

from backbone_dask.errors import InvalidDataError
from backbone_dask.losses.squared import Vector
from backbone_dask.subproblems.ascent import FIRST_REACH, RELATIVE_GAP, ROUNDS, ROUNDS_TO_RESTART, DualPoint
from backbone_dask.subproblems.products import Positions, correlate, largest
from backbone_dask.subproblems.structured_task import GroupChoice, StructuredTask
from backbone_dask.subproblems.task import NEGLIGIBLE


def group_dual_point(task: StructuredTask, a: Vector) -> DualPoint:
    """The dual along the ray of `a`: the bound of the best length, and the groups with the k largest scores."""
    usable = task.structure.usable(correlate(task.plain.X, a))
    if not np.isfinite(usable).all():
        raise InvalidDataError("X holds values that are not finite; standardise its columns first")
    scores = task.structure.sums(usable**2)
    groups = largest(scores, task.room)
    ya = max(float(task.plain.y @ a), 0.0)
    length = ya / (float(a @ a) + task.plain.gamma * float(scores[groups].sum()))
    columns = task.structure.columns_of(groups)
    pulled = usable[columns] @ task.plain.rows(columns)
    gradient = task.plain.y - length * (a + task.plain.gamma * pulled)
    return DualPoint(length * a, 0.5 * length * ya, groups, gradient)


def ascend_groups(task: StructuredTask) -> GroupChoice:
    """The best groups met on the way up the dual, with the steps and restarts of the plain ascent."""
    best, bound, reach = task.nothing(), 0.0, FIRST_REACH
    path: list[Vector] = [task.plain.y]
    seen: set[bytes] = set()
    for _ in range(ROUNDS):
        point = group_dual_point(task, path[-1])
        bound = max(bound, point.bound)
        best = _better(task, best, point.support, seen)
        if _closed(task, best, bound) or not point.gradient.any():
            break
        path[-1] = point.a
        aim = min(task.objective(best), bound * (1 + reach))
        path.append(point.a + (aim - point.bound) / float(point.gradient @ point.gradient) * point.gradient)
        if len(path) > ROUNDS_TO_RESTART:
            path, reach = [np.mean(path[:-1], axis=0)], reach / 2
    return best


def _closed(task: StructuredTask, best: GroupChoice, bound: float) -> bool:
    value = task.objective(best)
    return value - bound <= RELATIVE_GAP * value + NEGLIGIBLE * task.plain.yy


def _better(task: StructuredTask, best: GroupChoice, groups: Positions, seen: set[bytes]) -> GroupChoice:
    if groups.tobytes() in seen:
        return best
    seen.add(groups.tobytes())
    choice = task.choose(task.pool(groups), groups)
    return choice if choice.beats(best) else best
