"""Choosing k and gamma on samples that nothing before has seen: screen, backbone and fits are made without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidDataError
from backbone_dask.problems.selection import GridFits, Point
from backbone_dask.problems.sparse import SparseTask, raw_values
from backbone_dask.runtime.events import Part
from backbone_dask.runtime.run import Finding, Reduced, ReducePhase, Reduction
from backbone_dask.settings import ResolvedSettings
from backbone_dask.store import FeatureStore
from backbone_dask.values import GridPoint, Mask, Outcome, SparseFit, Termination

Spine = Callable[[SparseTask, ReducePhase, Part], Finding]
"""Runs the method for a task with a way to reduce, as one part of several."""


@dataclass
class KeptFits:
    """A reduce phase that keeps the fits of the whole grid."""

    grid: GridFits
    fits: dict[Point, Outcome[SparseFit]] = field(default_factory=dict)

    def __call__(self, work: Reduction) -> Reduced:
        self.fits = self.grid.fits(work)
        return next(iter(self.fits.values())), ()


def validation_curve(
    store: FeatureStore, task: SparseTask, settings: ResolvedSettings, trainings: list[Mask], run: Spine
) -> tuple[GridPoint, ...]:
    """Every point of the grid with its errors on the samples that each training set leaves out.

    A sample that is left out has weight 0, so that no phase learns from it. The paper chooses on the backbone of all
    samples, where the features of noise were picked because they fit the validation samples too.
    """
    tried: dict[Point, list[Trial]] = {}
    for at, training in enumerate(trainings):
        trained = _weighted(task, training)
        left_out = task.weighted(np.where(training, 0.0, task.adjusted.weights))
        kept = KeptFits(GridFits(trained, settings, len(trainings)))
        finding = run(trained, kept, Part(at, len(trainings)))
        columns = store.gather(finding.backbone)
        for point, outcome in kept.fits.items():
            error = left_out.loss(_predictor(trained, outcome.model, columns))
            trial = Trial(error, outcome.gap, outcome.termination, left_out.adjusted.total)
            tried.setdefault(point, []).append(trial)
    return tuple(_grid_point(point, found) for point, found in tried.items())


class Trial(NamedTuple):
    """One fit of a point of the grid: its error on the samples that were left out, how it ended, and their weight."""

    error: float
    gap: float
    termination: Termination
    weight: float


def _grid_point(point: Point, trials: list[Trial]) -> GridPoint:
    errors, gaps, terminations, weights = zip(*trials, strict=True)
    return GridPoint(*point, errors, max(gaps), Termination.worst(terminations), weights)


def _predictor(task: SparseTask, fit: SparseFit, backbone: Columns) -> NDArray[np.float64]:
    """Of every sample, in the units of the data."""
    columns = backbone[fit.support]
    coefficients, free = task.in_data_units(fit, columns)
    return np.asarray(coefficients @ raw_values(columns) + free @ task.adjusted.free)


def _weighted(task: SparseTask, training: Mask) -> SparseTask:
    weights = np.where(training, task.adjusted.weights, 0.0)
    if not weights.any() or not (task.adjusted.weights * ~training).any():
        raise InvalidDataError("a training or a validation set has no sample of positive weight; use fewer folds")
    return task.weighted(weights)
