"""When a search ends, and what may then be said of its answer: one rule for every exact solver."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from backbone_dask.exact.gram import Positions
from backbone_dask.exact.trace import Recorder
from backbone_dask.losses.squared import Vector
from backbone_dask.values import Outcome, SparseFit, Standardised, Target, Termination

IncumbentT = TypeVar("IncumbentT")
_CLOSEST = 1e-12
"""A bound nearer to the objective than this, relatively, is rounding."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search may stop."""

    tolerance: float
    deadline: float

    def reached(self, gap: float) -> Termination | None:
        if gap <= self.tolerance:
            return Termination.PROVEN
        return Termination.TIME_LIMIT if time.monotonic() >= self.deadline else None


@dataclass(frozen=True, slots=True)
class Answer(Generic[IncumbentT]):
    """What a search found and proved, and why it stopped."""

    incumbent: IncumbentT
    bound: float
    termination: Termination
    rounds: int


def verdict(answer: Answer[IncumbentT], model: SparseFit, tolerance: float, recorder: Recorder) -> Outcome[SparseFit]:
    """The outcome, judged by the gap of the model as it is reported: no objective is negative, or below its bound."""
    bound = min(max(answer.bound, 0.0), model.objective * (1 - _CLOSEST))
    seconds = recorder.seconds
    trace = recorder.trace(model.objective, bound, seconds)
    outcome = Outcome(model, model.objective, bound, answer.termination, answer.rounds, seconds, trace)
    if outcome.gap <= max(tolerance, 2 * _CLOSEST):
        return replace(outcome, termination=Termination.PROVEN)
    if outcome.termination is Termination.PROVEN:
        return replace(outcome, termination=Termination.ROUND_LIMIT)
    return outcome


def model_of_samples(X: Standardised, y: Target, gamma: float, support: Positions, weights: Vector) -> SparseFit:
    """The fit with its objective taken from the samples: free of the cancellation in 1/2 (y'y - b'w)."""
    residual = y - weights @ X[support].astype(np.float64)
    objective = 0.5 * float(residual @ residual) + float(weights @ weights) / (2 * gamma)
    return SparseFit(X.shape[0], support, weights, objective)
