"""Choosing k and gamma on samples that nothing before has seen: screen, backbone and fits are made without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from backbone_dask.errors import InvalidDataError
from backbone_dask.problems.selection import GridFits, Point
from backbone_dask.problems.sparse import SparseTask, raw_values
from backbone_dask.runtime.run import Finding, Reduced, ReducePhase, Reduction
from backbone_dask.settings import ResolvedSettings
from backbone_dask.store import FeatureStore
from backbone_dask.values import GridPoint, Mask, Outcome, SparseFit

Spine = Callable[[SparseTask, ReducePhase, str], Finding]
"""Runs the method for a task with a way to reduce, under a name."""


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
    errors: dict[Point, list[tuple[float, float]]] = {}
    for at, training in enumerate(trainings):
        trained = _weighted(task, training)
        kept = KeptFits(GridFits(trained, settings, len(trainings)))
        finding = run(trained, kept, f"validation-{at}")
        columns = store.gather(finding.backbone)
        for point, outcome in kept.fits.items():
            fit = outcome.model
            coefficients, free = trained.in_data_units(fit, columns[fit.support])
            predictor = coefficients @ raw_values(columns[fit.support]) + free @ task.adjusted.free
            left_out = task.weighted(np.where(training, 0.0, task.adjusted.weights))
            errors.setdefault(point, []).append((left_out.loss(np.asarray(predictor)), outcome.gap))
    return tuple(
        GridPoint(*point, tuple(error for error, _ in found), max(gap for _, gap in found))
        for point, found in errors.items()
    )


def _weighted(task: SparseTask, training: Mask) -> SparseTask:
    weights = np.where(training, task.adjusted.weights, 0.0)
    if not weights.any() or not (task.adjusted.weights * ~training).any():
        raise InvalidDataError("a training or a validation set has no sample of positive weight; use fewer folds")
    return task.weighted(weights)
