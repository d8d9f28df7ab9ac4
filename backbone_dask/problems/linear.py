"""Sparse linear regression: the five functions for squared loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.algorithm.sampling import Sampler
from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidDataError
from backbone_dask.exact.outer_approximation import fit_outer_approximation
from backbone_dask.problems.model import LinearModel
from backbone_dask.protocols import Problem
from backbone_dask.screens.correlation import correlation
from backbone_dask.settings import ResolvedSettings
from backbone_dask.subproblems.relaxation import fit_relaxation, relevant_of
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target

SMALLEST_SPREAD = 1e-100


@dataclass(frozen=True, slots=True)
class FitSubproblem:
    """SR-REL on the sampled columns."""

    n_nonzero: int
    gamma: float

    def __call__(self, X: Standardised, y: Target, *, seed: int) -> SparseFit:
        return fit_relaxation(X, centred(y), n_nonzero=self.n_nonzero, gamma=self.gamma, seed=seed)


@dataclass(frozen=True, slots=True)
class FitReduced:
    """Outer approximation on the backbone."""

    n_nonzero: int
    gamma: float
    gap_tolerance: float

    def __call__(self, X: Standardised, y: Target, *, warm_start: CandidateIds, seconds: float) -> Outcome[SparseFit]:
        return fit_outer_approximation(
            X,
            centred(y),
            n_nonzero=self.n_nonzero,
            gamma=self.gamma,
            warm_start=warm_start,
            seconds=seconds,
            gap_tolerance=self.gap_tolerance,
        )


def linear_sampler(settings: ResolvedSettings) -> Sampler:
    """How subproblems are drawn."""
    # The exact solve takes backbone_max columns: a subproblem that examines fewer loses features and gains nothing.
    return Sampler(settings.sampling, settings.subproblem_fraction, settings.backbone_max, settings.seed)


def linear_problem(settings: ResolvedSettings) -> Problem[SparseFit]:
    """Correlation screen, SR-REL subproblems, outer approximation."""
    return Problem(
        screen=correlation,
        construct_subproblems=linear_sampler(settings),
        fit_subproblem=FitSubproblem(settings.n_nonzero, settings.gamma),
        extract_relevant=relevant_of,
        fit=FitReduced(settings.n_nonzero, settings.gamma, settings.gap_tolerance),
    )


def centred(y: Target) -> Target:
    """The target without its mean: what is left once the intercept is taken out."""
    y = np.asarray(y, np.float64)
    return y - float(y.mean())


def checked_target(y: Target, n_samples: int) -> Target:
    """The target as the solvers take it, or what is wrong with it."""
    y = np.asarray(y, np.float64)
    if y.shape != (n_samples,):
        raise InvalidDataError(f"y has shape {y.shape}, the table has {n_samples} samples")
    if not np.isfinite(y).all():
        raise InvalidDataError(f"y contains NaN or infinity at sample {int(np.flatnonzero(~np.isfinite(y))[0])}")
    if n_samples > 1 and (y == y[0]).all():
        raise InvalidDataError(f"y is constant ({y[0]:g}); there is nothing to explain")
    if n_samples > 1 and not SMALLEST_SPREAD < np.ptp(y) < 1 / SMALLEST_SPREAD:
        raise InvalidDataError(f"y spreads over {np.ptp(y):g}; rescale it: its squares leave the range of numbers")
    return y


def in_data_units(fit: SparseFit, ids: CandidateIds, names: list[str], columns: Columns, y: Target) -> LinearModel:
    """The model on raw columns: `ids`, `names` and `columns` belong to the support of `fit`."""
    coefficients = fit.weights / columns.scale
    intercept = float(y.mean() - coefficients @ columns.mean)
    return LinearModel(ids, tuple(names), coefficients, columns.mean, intercept)
