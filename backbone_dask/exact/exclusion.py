"""Cuts that exclude a whole face of supports at once."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from backbone_dask.exact.cuts import Cut
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Positions
from backbone_dask.exact.perspective import Relaxation
from backbone_dask.losses.squared import Vector


class Relax(Protocol):
    """Solves the relaxation on a face, from a start, up to a goal."""

    def __call__(self, face: Face, *, start: Vector, goal: float) -> Relaxation: ...


def excluding_cuts(relax: Relax, whole: Face, relaxation: Relaxation, support: Positions, goal: float) -> list[Cut]:
    """Cuts around a support: of the largest face found on which no value is below `goal`, and of the next larger one.

    The cut at a support alone says little about its neighbours. Here its features are decided in the order in which
    it departs from the relaxed z, and bisection finds how few decisions lift the relaxation's bound to the goal.
    """
    order = np.argsort(-_departure(relaxation, support), kind="stable")
    cuts: dict[int, Cut] = {}
    low, high = 0, order.size
    while high - low > 1:
        middle = (low + high) // 2
        found = relax(whole.fix(order[:middle], support), start=relaxation.weights, goal=goal)
        cuts[middle] = found.cut
        low, high = (low, middle) if found.bound >= goal else (middle, high)
    return [cuts[size] for size in (low, high) if size in cuts]


def _departure(relaxation: Relaxation, support: Positions) -> Vector:
    chosen = np.zeros_like(relaxation.z)
    chosen[support] = 1.0
    return np.abs(chosen - relaxation.z)
