"""Sparse linear regression: the five functions for squared loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.adjustment import Adjustment, orthonormal
from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidDataError
from backbone_dask.exact.catalogue import ExactSolver, exact_solvers
from backbone_dask.exact.restricted import SquaredLoss
from backbone_dask.exact.structured_outer_approximation import fit_structured_outer_approximation
from backbone_dask.problems.classes import words_for_numbers
from backbone_dask.problems.sparse import StructuredSolvers, Vector, raw_values, sampler, subproblem_solver
from backbone_dask.problems.unpenalised import least_squares
from backbone_dask.protocols import Panel, Problem, ResponsePanel
from backbone_dask.screens.correlation import CorrelationPanel
from backbone_dask.screens.panels import ScorePanel
from backbone_dask.screens.prices import AdjustedPricePanel, PricePanel
from backbone_dask.settings import ResolvedSettings
from backbone_dask.subproblems.elastic_net import fit_elastic_net
from backbone_dask.subproblems.holdout import SquaredLearner
from backbone_dask.subproblems.learners import FromNothing
from backbone_dask.subproblems.relaxation import relevant_of
from backbone_dask.subproblems.rounding import fit_rounding
from backbone_dask.subproblems.structured import fit_structured
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target

SMALLEST_SPREAD = 1e-100


LEARNERS: dict[str, SquaredLearner] = {
    "relaxation": SquaredLearner(),
    "elastic-net": FromNothing(fit_elastic_net),
    "rounding": FromNothing(fit_rounding),
}
"""What solves subproblems, by the setting `subproblem`."""


@dataclass(frozen=True, slots=True)
class FitReduced:
    """The exact fit on the backbone by one of the solvers."""

    solver: ExactSolver
    n_nonzero: int
    gamma: float
    gap_tolerance: float

    def at(self, n_nonzero: int, gamma: float) -> FitReduced:
        return replace(self, n_nonzero=n_nonzero, gamma=gamma)

    def __call__(self, X: Standardised, y: Target, *, warm_start: CandidateIds, seconds: float) -> Outcome[SparseFit]:
        return self.solver(
            X,
            y,
            n_nonzero=self.n_nonzero,
            gamma=self.gamma,
            warm_start=warm_start,
            seconds=seconds,
            gap_tolerance=self.gap_tolerance,
        )


@dataclass(frozen=True)
class LinearTask:
    """Squared loss; intercept, covariates and sample weights are taken out before a solver sees the data."""

    y: Target
    adjusted: Adjustment

    @cached_property
    def response(self) -> Target:
        return self.adjusted.target(self.y)

    @property
    def structured(self) -> StructuredSolvers:
        return StructuredSolvers(fit_structured, fit_structured_outer_approximation)

    def problem(self, settings: ResolvedSettings) -> Problem[SparseFit]:
        ridge = self.ridge(settings.gamma)
        return Problem(
            screen=self._screen(),
            construct_subproblems=sampler(settings),
            fit_subproblem=subproblem_solver(settings, LEARNERS[settings.subproblem], self.ridge),
            extract_relevant=relevant_of,
            fit=FitReduced(exact_solvers[settings.exact], settings.n_nonzero, ridge, settings.gap_tolerance),
            prepare=self.adjusted.projected,
        )

    def _screen(self) -> ResponsePanel:
        if self.adjusted.is_plain:
            return CorrelationPanel(self.y)
        return ScorePanel(self.adjusted.root, self.adjusted.basis, self.response, self.adjusted.has_intercept)

    def condition(self, columns: Standardised) -> ResponsePanel:
        basis = orthonormal(np.vstack([self.adjusted.basis, columns.astype(np.float64)]))
        with one_blas_thread():
            residual = self.response - (basis @ self.response) @ basis
        return ScorePanel(self.adjusted.root, basis, residual, self.adjusted.has_intercept)

    def priceable(self, a: Vector) -> Vector:
        return self.adjusted.outside(a)

    def pricing(self, a: Vector) -> Panel:
        adjusted = self.adjusted
        if adjusted.is_plain:
            return PricePanel.along(a)
        taken = adjusted.basis * adjusted.root / np.sqrt(adjusted.n_samples)
        # Prepared columns have no part in the span of the free rows, so that a's part in it meets only their rounding.
        return AdjustedPricePanel.along(
            adjusted.root * adjusted.outside(a),
            a,
            squares=adjusted.weights / adjusted.n_samples,
            taken=taken,
            centred=adjusted.has_intercept,
            longest_row=float(np.sqrt(adjusted.n_samples)),
        )

    def relaxing(self, n_nonzero: int, gamma: float) -> SquaredLoss:
        return SquaredLoss(self.response, n_nonzero, self.ridge(gamma), self._response_error)

    @property
    def _response_error(self) -> float:
        """What taking the free rows out of y leaves open: sums in float64, one for every row and one more."""
        adjusted = self.adjusted
        sums = (len(adjusted.basis) + 1) * (adjusted.n_samples + 32)
        return float(sums * np.finfo(np.float64).eps * np.linalg.norm(adjusted.root * self.y))

    def in_data_units(self, fit: SparseFit, columns: Columns) -> tuple[Vector, Vector]:
        coefficients = fit.weights / self.adjusted.projected_scale(columns)
        return coefficients, self.adjusted.free_part(self.y - coefficients @ raw_values(columns))

    def unpenalised(self, columns: Columns) -> Vector | None:
        return least_squares(self.y, self.adjusted, columns)

    def weighted(self, weights: Vector) -> LinearTask:
        return LinearTask(self.y, replace(self.adjusted, weights=weights))

    def loss(self, predictor: Vector) -> float:
        return float(self.adjusted.weights @ (self.y - predictor) ** 2 / self.adjusted.total)

    def ridge(self, gamma: float) -> float:
        return self.adjusted.gamma(gamma)

    def deviance(self, predictor: Vector) -> float:
        residual = self.response - predictor
        error = float(residual @ residual) / self.adjusted.total
        return self.adjusted.total * float(np.log(max(error, np.finfo(float).tiny)))

    def quality(self, predictor: Vector) -> dict[str, float]:
        mean = np.average(self.y, weights=self.adjusted.weights)
        whole = self.loss(np.full(self.y.size, mean))
        # Without an intercept y may be constant: any model but a perfect one is then no better than its mean.
        return {"r2": 1 - self.loss(predictor) / whole if whole > 0 else float(self.loss(predictor) == 0)}


def checked_target(y: Target, n_samples: int) -> Target:
    """The target as the solvers take it, or what is wrong with it."""
    y = finite_target(y, n_samples)
    require_spread(y)
    return y


def finite_target(y: NDArray[Any], n_samples: int) -> Target:
    """The target in float64, one finite number for each sample."""
    y = numbers(y)
    if y.shape != (n_samples,):
        raise InvalidDataError(f"y has shape {y.shape}, the table has {n_samples} samples")
    if not np.isfinite(y).all():
        raise InvalidDataError(f"y contains NaN or infinity at sample {int(np.flatnonzero(~np.isfinite(y))[0])}")
    return y


def numbers(y: NDArray[Any]) -> Target:
    """The target in float64; words are refused."""
    try:
        return np.asarray(y, np.float64)
    except (TypeError, ValueError) as cause:
        raise words_for_numbers(sorted({str(each) for each in np.ravel(np.asarray(y, object))})) from cause


def require_spread(y: Target, *, has_intercept: bool = True) -> None:
    """Refuse a target that leaves nothing to explain, or whose squares are no numbers."""
    spread = np.ptp(y) if has_intercept else np.abs(y).max()
    if y.size > 1 and spread == 0:
        raise InvalidDataError(f"y is constant ({y[0]:g}); there is nothing to explain")
    if y.size > 1 and not SMALLEST_SPREAD < spread < 1 / SMALLEST_SPREAD:
        raise InvalidDataError(f"y spreads over {spread:g}; rescale it: its squares leave the range of numbers")
