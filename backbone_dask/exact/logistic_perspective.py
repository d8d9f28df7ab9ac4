"""The perspective relaxation with logistic loss, by squared-loss relaxations of its quadratic models."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from backbone_dask.exact.face import Face
from backbone_dask.exact.logistic_data import LogisticData
from backbone_dask.exact.logistic_model import Metric
from backbone_dask.exact.perspective import Relaxation, penalty
from backbone_dask.losses.logistic import dual_vector, value
from backbone_dask.losses.logistic_dual import best_length, certified
from backbone_dask.losses.squared import Vector

_MOST_ROUNDS = 30
_SHORTEST_STEP = 2.0**-10
_MODEL_SHARE = 0.05
"""A model is solved to this share of the gap that is left."""
_STALE = 0.1
"""A metric that leaves more than this share of the gap after a step is made anew."""


@dataclass(frozen=True, slots=True)
class _Point:
    """Weights (p,) with the best free part, their predictor (n,), and the value of the relaxation on a face."""

    weights: Vector
    predictor: Vector
    objective: float


def solve_logistic_relaxation(
    data: LogisticData,
    face: Face,
    *,
    metric: Metric | None = None,
    start: Vector | None = None,
    goal: float | None = None,
    tolerance: float = 1e-6,
    deadline: float = np.inf,
) -> Relaxation:
    """Minimise the relaxation on a face until its value and its dual bound agree to a relative `tolerance`.

    With a `goal` it also ends as soon as it is known on which side of it the optimum lies. `metric` is the first one
    to try. Whatever ends it, the bound is proven.
    """
    point = _point(data, np.zeros(len(data.X)) if start is None else _within(data, start, face), face)
    best = _relaxation(data, point, face, 0)
    for rounds in range(1, _MOST_ROUNDS + 1):
        if best.is_settled(goal, tolerance) or time.monotonic() >= deadline:
            break
        made = metric is None
        metric = Metric.at(data, point.predictor) if metric is None else metric
        after = _step(data, metric, point, face, best.gap, deadline)
        if after is point and made:
            break
        before, point = best, after
        best = _relaxation(data, point, face, rounds).with_better_bound(before)
        metric = None if best.gap > _STALE * before.gap else metric
    return best


def _within(data: LogisticData, weights: Vector, face: Face) -> Vector:
    """The weights of the features that have a share on this face."""
    return np.where(data.of_columns(face.shares(data.lengths(weights), 0.0)) > 0, weights, 0.0)


def _point(data: LogisticData, weights: Vector, face: Face) -> _Point:
    u = data.predictor(weights)
    return _Point(weights, u, value(data.margin, u) + penalty(data.lengths(weights), face) / (2 * data.gamma))


def _relaxation(data: LogisticData, point: _Point, face: Face, rounds: int) -> Relaxation:
    """The point with the cut of its dual vector, of the best length along its ray."""
    a = dual_vector(data.margin, point.predictor)
    length = best_length(data.margin, a, data.gamma * face.heaviest(data.scores(a)))
    cut = data.cut(certified(data.margin, length * a))
    z = face.shares(data.lengths(point.weights), 0.0)
    return Relaxation(z, point.weights, point.objective, cut, cut.bound(face), rounds)


def _step(data: LogisticData, metric: Metric, point: _Point, face: Face, gap: float, deadline: float) -> _Point:
    """Towards the optimum of the quadratic model, as far as the true objective falls; no step if it never does."""
    gram = metric.gram(data, point.predictor)
    tolerance = float(np.clip(2 * _MODEL_SHARE * gap / max(gram.yy, np.finfo(float).tiny), 1e-9, 0.1))
    model = data.relax(gram, face, point.weights, tolerance, deadline)
    direction, length = model.weights - point.weights, 1.0
    while length >= _SHORTEST_STEP:
        after = _point(data, point.weights + length * direction, face)
        if after.objective < point.objective:
            return after
        length /= 2
    return point
