"""Choosing the size of a model and its ridge weight: a path of exact fits on the backbone, and how each is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from backbone_dask.problems.sparse import SparseTask
from backbone_dask.runtime.events import Event
from backbone_dask.runtime.run import Reduced, Reduction
from backbone_dask.runtime.tasks import Piece, joined, solve_reduced
from backbone_dask.settings import ResolvedSettings
from backbone_dask.values import CandidateIds, GridPoint, Mask, Outcome, SparseFit, Standardised

LEAST_SECONDS = 0.2
_SPLITS = 7
"""Address of the draw of validation samples."""


class Point(NamedTuple):
    """One size and ridge weight of the grid."""

    n_nonzero: int
    gamma: float


@dataclass(frozen=True, slots=True)
class GridFits:
    """The reduced fit at every point of a grid: every gamma is a task, a path from the smallest size to the largest."""

    task: SparseTask
    settings: ResolvedSettings
    n_trainings: int = 1
    """How many times the grid is walked: they share the time limit."""

    def fits(self, work: Reduction) -> dict[Point, Outcome[SparseFit]]:
        found: dict[Point, Outcome[SparseFit]] = {}
        gammas = self.settings.gammas
        work.listen(Event("choice", 0, len(gammas), "gammas", "choosing k and gamma"))
        for at, (gamma, path) in enumerate(zip(gammas, self._paths(work), strict=True), start=1):
            found |= {Point(size, gamma): fit for size, fit in zip(self.settings.sizes, path, strict=True)}
            work.listen(Event("choice", at, len(gammas), "gammas", "choosing k and gamma"))
        return found

    def _paths(self, work: Reduction) -> Iterator[list[Outcome[SparseFit]]]:
        n_fits = len(self.settings.gammas) * len(self.settings.sizes) * self.n_trainings
        seconds = max(self.settings.time_limit * work.executor.n_workers / n_fits, LEAST_SECONDS)
        fit, sizes = work.executor.share(work.problem.fit), self.settings.sizes
        ridges = [self.task.ridge(gamma) for gamma in self.settings.gammas]
        items = ((work.columns, work.y, fit, sizes, ridge, work.warm_start, seconds) for ridge in ridges)
        return work.executor.map(solve_path, items)


def solve_path(
    pieces: list[Piece],
    y: NDArray[Any],
    fit: Any,
    sizes: tuple[int, ...],
    gamma: float,
    warm_start: CandidateIds,
    seconds: float,
) -> list[Outcome[SparseFit]]:
    """One fit for every size, each from the support of the one before."""
    X, path = joined(pieces), []
    for size in sizes:
        path.append(fit.at(size, gamma)(X, y, warm_start=warm_start, seconds=seconds))
        warm_start = path[-1].model.support
    return path


@dataclass(frozen=True, slots=True)
class FitByCriterion:
    """The point of the grid with the least extended BIC, and the exact fit there."""

    grid: GridFits
    n_features: int

    def __call__(self, work: Reduction) -> Reduced:
        fits = self.grid.fits(work)
        X = next(iter(work.executor.map(joined, [(work.columns,)])))
        points = tuple(
            GridPoint(*point, (self._criterion(X, outcome.model),), outcome.gap, outcome.termination)
            for point, outcome in fits.items()
        )
        best = best_point(points)
        fit = work.problem.fit.at(best.n_nonzero, self.grid.task.ridge(best.gamma))  # type: ignore[attr-defined]
        warm = fits[Point(best.n_nonzero, best.gamma)].model.support
        item = (work.columns, work.y, fit, warm, self.grid.settings.time_limit)
        with work.watched(self.grid.settings.time_limit):
            return next(iter(work.executor.map(solve_reduced, [item]))), points

    def _criterion(self, X: Standardised, model: SparseFit) -> float:
        predictor = model.weights @ X[model.support].astype(np.float64)
        return extended_bic(
            self.grid.task.deviance(predictor), self.grid.task.adjusted.total, self.n_features, model.support.size
        )


def extended_bic(deviance: float, n_samples: float, n_features: int, size: int) -> float:
    """deviance + k log n + 2 log(p choose k), with the p that the features were chosen from."""
    choices = gammaln(n_features + 1) - gammaln(size + 1) - gammaln(n_features - size + 1)
    return deviance + size * float(np.log(n_samples)) + 2 * float(choices)


def best_point(grid: tuple[GridPoint, ...]) -> GridPoint:
    """The least error at the strongest ridge that folds cannot tell from the best; of equals the smallest model.

    With few samples the least error of all is often that of a weak ridge by luck. Two errors are told apart by more
    than one standard error of the best or of their difference, whichever is less: one bad fold is no excuse.
    """
    least = min(grid, key=_by_error)
    spread = _standard_error(least.errors)
    near = [each for each in grid if each.error - least.error <= min(spread, _standard_error(_beyond(each, least)))]
    strongest = min(point.gamma for point in near)
    return min((point for point in near if point.gamma == strongest), key=_by_error)


def _by_error(point: GridPoint) -> tuple[float, int, float]:
    return point.error, point.n_nonzero, point.gamma


def _beyond(point: GridPoint, least: GridPoint) -> tuple[float, ...]:
    return tuple(np.subtract(point.errors, least.errors))


def _standard_error(errors: tuple[float, ...]) -> float:
    """Of the mean over folds; 0 where there is one validation set only."""
    return float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0


def draw_trainings(settings: ResolvedSettings, n_samples: int) -> list[Mask]:
    """The samples to train on, for the hold-out or for each fold; the others validate."""
    order = np.random.default_rng([settings.seed, _SPLITS]).permutation(n_samples)
    if isinstance(settings.validation, int):
        return [
            np.isin(np.arange(n_samples), order[at :: settings.validation], invert=True)
            for at in range(settings.validation)
        ]
    size = min(max(round(float(settings.validation) * n_samples), 1), n_samples - 1)
    return [np.isin(np.arange(n_samples), order[:size])]
