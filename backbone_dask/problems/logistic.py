"""Sparse logistic regression with two classes: the five functions for logistic loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from backbone_dask.adjustment import Adjustment, orthonormal
from backbone_dask.columns import Columns
from backbone_dask.exact.logistic_outer_approximation import fit_logistic_outer_approximation
from backbone_dask.exact.logistic_restricted import LogisticLoss
from backbone_dask.exact.structured_logistic import fit_structured_logistic_outer_approximation
from backbone_dask.losses import logistic
from backbone_dask.losses.logistic import Margin
from backbone_dask.problems.sparse import StructuredSolvers, Vector, raw_values, sampler, subproblem_solver
from backbone_dask.problems.unpenalised import largest_likelihood
from backbone_dask.protocols import Panel, Problem, ResponsePanel
from backbone_dask.screens.logistic import logistic_loss
from backbone_dask.screens.panels import OneQuestion, ScorePanel
from backbone_dask.screens.prices import AdjustedPricePanel, PricePanel
from backbone_dask.settings import ResolvedSettings
from backbone_dask.structure import Structure
from backbone_dask.subproblems.holdout import LogisticLearner
from backbone_dask.subproblems.learners import LogisticElasticNetLearner
from backbone_dask.subproblems.relaxation import relevant_of
from backbone_dask.subproblems.structured_logistic import fit_structured_logistic
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target

# Weights of samples that a model is sure of vanish; a score test divides by their roots.
_LEAST_CURVATURE = 1e-12


LEARNERS: dict[str, type[LogisticLearner]] = {
    "relaxation": LogisticLearner,
    "elastic-net": LogisticElasticNetLearner,
}
"""What solves subproblems, by the setting `subproblem`."""


@dataclass(frozen=True, slots=True)
class FitLogisticReduced:
    """Outer approximation on the backbone."""

    n_nonzero: int
    gamma: float
    gap_tolerance: float
    weights: Vector
    basis: NDArray[np.float64]

    def at(self, n_nonzero: int, gamma: float) -> FitLogisticReduced:
        return replace(self, n_nonzero=n_nonzero, gamma=gamma)

    def __call__(self, X: Standardised, y: Target, *, warm_start: CandidateIds, seconds: float) -> Outcome[SparseFit]:
        return fit_logistic_outer_approximation(
            X,
            Margin(y, self.weights, self.basis),
            n_nonzero=self.n_nonzero,
            gamma=self.gamma,
            warm_start=warm_start,
            seconds=seconds,
            gap_tolerance=self.gap_tolerance,
        )


@dataclass(frozen=True, slots=True)
class OfLabels:
    """A solver for a margin as one for labels."""

    solver: Callable[..., Any]
    weights: Vector
    basis: NDArray[np.float64]

    def __call__(self, X: Standardised, y: Target, structure: Structure, **settings: Any) -> Any:
        return self.solver(X, Margin(y, self.weights, self.basis), structure, **settings)


@dataclass(frozen=True)
class LogisticTask:
    """Labels -1 and 1; intercept and covariates are in every fit, unpenalised."""

    response: Target
    adjusted: Adjustment

    @cached_property
    def basis(self) -> NDArray[np.float64]:
        """The span of the free rows in rows of mean square 1: columns of any units are equally easy to fit."""
        return np.asarray(orthonormal(self.adjusted.free) * np.sqrt(self.response.size))

    @property
    def margin(self) -> Margin:
        return Margin.of(self.response, self.adjusted.weights, self.basis)

    @property
    def structured(self) -> StructuredSolvers:
        shared = (self.adjusted.weights, self.basis)
        return StructuredSolvers(
            OfLabels(fit_structured_logistic, *shared), OfLabels(fit_structured_logistic_outer_approximation, *shared)
        )

    def problem(self, settings: ResolvedSettings) -> Problem[SparseFit]:
        shared = (self.adjusted.weights, self.basis)
        return Problem(
            screen=self._screen(),
            construct_subproblems=sampler(settings),
            fit_subproblem=subproblem_solver(settings, LEARNERS[settings.subproblem](*shared), self.ridge),
            extract_relevant=relevant_of,
            fit=FitLogisticReduced(settings.n_nonzero, self.ridge(settings.gamma), settings.gap_tolerance, *shared),
            prepare=self.adjusted.scaled,
        )

    def _screen(self) -> ResponsePanel:
        if self.adjusted.is_plain:
            return OneQuestion(logistic_loss, self.response)
        return self.condition(np.empty((0, self.response.size), np.float32))

    def condition(self, columns: Standardised) -> ResponsePanel:
        """The score test at the model of the free rows and these columns."""
        with one_blas_thread():
            margin, rows = self.margin, columns.astype(np.float64)
            fit = logistic.fit(margin, rows, gamma=float(self.response.size))
            root = np.sqrt(np.maximum(logistic.curvature(margin, fit.predictor), _LEAST_CURVATURE))
            basis = orthonormal(np.vstack([self.basis, rows]) * root)
            residual = fit.dual / root
            residual = residual - (basis @ residual) @ basis
        return ScorePanel(root, basis, residual, self.adjusted.has_intercept)

    def priceable(self, a: Vector) -> Vector:
        return np.where(self.adjusted.weights > 0, a, 0.0)

    def pricing(self, a: Vector) -> Panel:
        adjusted, a = self.adjusted, self.priceable(a)
        if adjusted.has_intercept and bool((adjusted.weights == 1).all()):
            return PricePanel.along(a)
        share = adjusted.weights / adjusted.total
        longest = float(1 / np.sqrt(share[share > 0].min()))
        turned, taken = a, np.empty((0, a.size))
        if adjusted.has_intercept:
            # Prepared columns have the weighted mean 0, not the one that the panel takes off.
            turned, taken = a - a.sum() * share, share[None]
        return AdjustedPricePanel.along(
            turned, a, squares=share, taken=taken, centred=adjusted.has_intercept, longest_row=longest
        )

    def relaxing(self, n_nonzero: int, gamma: float) -> LogisticLoss:
        return LogisticLoss.of(self.margin, n_nonzero, self.ridge(gamma))

    def in_data_units(self, fit: SparseFit, columns: Columns) -> tuple[Vector, Vector]:
        coefficients = fit.weights / self.adjusted.scaled_scale(columns)
        with one_blas_thread():
            free = logistic.free_part(self.margin, coefficients @ raw_values(columns)) @ self.basis
            return coefficients, np.asarray(np.linalg.lstsq(self.adjusted.free.T, free)[0])

    def unpenalised(self, columns: Columns) -> Vector | None:
        return largest_likelihood(self.margin, self.adjusted, columns)

    def weighted(self, weights: Vector) -> LogisticTask:
        return LogisticTask(self.response, replace(self.adjusted, weights=weights))

    def loss(self, predictor: Vector) -> float:
        losses = np.logaddexp(0.0, -self.response * predictor)
        return float(self.adjusted.weights @ losses / self.adjusted.total)

    def ridge(self, gamma: float) -> float:
        return gamma

    def deviance(self, predictor: Vector) -> float:
        with one_blas_thread():
            free = logistic.free_part(self.margin, predictor) @ self.basis
            return 2 * logistic.value(self.margin, predictor + free)

    def quality(self, predictor: Vector) -> dict[str, float]:
        right = (predictor > 0) == (self.response > 0)
        auc = roc_auc_score(self.response > 0, predictor, sample_weight=self.adjusted.weights)
        return {"auc": float(auc), "accuracy": float(np.average(right, weights=self.adjusted.weights))}
