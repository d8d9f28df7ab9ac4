"""What the kinds of sparse linear models have in common: how settings become the functions of the spine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from backbone_dask.adjustment import Adjustment
from backbone_dask.algorithm.sampling import Sampler
from backbone_dask.columns import Columns
from backbone_dask.exact.restricted import Loss
from backbone_dask.protocols import FitSubproblem, Panel, Problem, ResponsePanel
from backbone_dask.settings import ResolvedSettings
from backbone_dask.structure import Structure
from backbone_dask.subproblems.gammas import GammaGrid, GammaRule, OneGamma
from backbone_dask.subproblems.holdout import Learner
from backbone_dask.subproblems.support_size import FitChosenSize, FixedSize, IncrementalSize, SizeGrid, SizeRule
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target

Vector = NDArray[np.float64]


class StructuredSearch(Protocol):
    """A good support of at most `n_nonzero` groups of rows of X (features, samples)."""

    def __call__(
        self, X: Standardised, y: Target, structure: Structure, *, n_nonzero: int, gamma: float, seed: int
    ) -> SparseFit: ...


class StructuredFit(Protocol):
    """The best support of at most `n_nonzero` groups, with a proven bound."""

    def __call__(
        self,
        X: Standardised,
        y: Target,
        structure: Structure,
        *,
        n_nonzero: int,
        gamma: float,
        warm_start: CandidateIds,
        seconds: float,
        gap_tolerance: float,
    ) -> Outcome[SparseFit]: ...


@dataclass(frozen=True, slots=True)
class StructuredSolvers:
    """What solves subproblems, and what the reduced problem, of features that come in groups or keep their sign."""

    search: StructuredSearch
    fit: StructuredFit


class SparseTask(Protocol):
    """One kind of model: the problem for the spine, and the way from the data to the solvers and back."""

    @property
    def adjusted(self) -> Adjustment: ...

    @property
    def response(self) -> Target:
        """What the solvers take for y."""
        ...

    @property
    def structured(self) -> StructuredSolvers:
        """The solvers for groups and signs."""
        ...

    def problem(self, settings: ResolvedSettings) -> Problem[SparseFit]: ...

    def condition(self, columns: Standardised) -> ResponsePanel:
        """The screen that asks what a column adds to a model of these, as `prepare` made them."""
        ...

    def priceable(self, a: Vector) -> Vector:
        """A dual vector without what no column can meet: the rounding of a column's mean has no price then."""
        ...

    def pricing(self, a: Vector) -> Panel:
        """The pass that gives |X_j'a| / |a| of every column, as `prepare` makes it, or a little more."""
        ...

    def relaxing(self, n_nonzero: int, gamma: float) -> Loss:
        """What pricing asks of the loss; `gamma` is in the user's terms."""
        ...

    def weighted(self, weights: Vector) -> SparseTask:
        """The same with other sample weights."""
        ...

    def loss(self, predictor: Vector) -> float:
        """The weighted mean loss of predictors, in the units of the data."""
        ...

    def ridge(self, gamma: float) -> float:
        """The ridge weight of the prepared columns that is `gamma` in the user's terms."""
        ...

    def deviance(self, predictor: Vector) -> float:
        """-2 log likelihood, up to a constant, of prepared columns' predictors for `response`."""
        ...

    def in_data_units(self, fit: SparseFit, columns: Columns) -> tuple[Vector, Vector]:
        """Coefficients of the raw columns of the support, and of the free rows of `adjusted`."""
        ...

    def unpenalised(self, columns: Columns) -> Vector | None:
        """Coefficients of raw columns from a fit of them without a ridge; None where there is none, or not one only."""
        ...

    def quality(self, predictor: Vector) -> dict[str, float]:
        """How well predictors explain the samples they were fitted to, for people."""
        ...


def sampler(settings: ResolvedSettings) -> Sampler:
    """How subproblems are drawn."""
    # The exact solve takes backbone_max columns: a subproblem that examines fewer loses features and gains nothing.
    return Sampler(settings.sampling, settings.subproblem_fraction, settings.backbone_max, settings.seed)


_SIZES: dict[str, Callable[[int], SizeRule]] = {
    "fixed": FixedSize,
    "grid": SizeGrid.thirds,
    "incremental": IncrementalSize.up_to,
}


def subproblem_gamma(settings: ResolvedSettings) -> float:
    """The ridge weight of subproblems, or the first of those that they choose from."""
    own = settings.subproblem_gamma
    return settings.gamma if own is None or isinstance(own, str) else float(own)


def subproblem_solver(
    settings: ResolvedSettings, learner: Learner, ridge: Callable[[float], float]
) -> FitSubproblem[SparseFit]:
    """A learner with the sizes, ridge weights and samples that the settings ask for.

    `ridge` brings a weight from the user's terms to those of the learner.
    """
    own = OneGamma(ridge(subproblem_gamma(settings)))
    gamma: GammaRule = GammaGrid() if settings.subproblem_gamma == "grid" else own
    size = _SIZES[settings.subproblem_size](settings.n_nonzero)
    return FitChosenSize(size, gamma, learner, settings.sample_fraction)


def raw_values(columns: Columns) -> Any:
    """Columns in float64, with the mean where a value is missing; shape (features, samples)."""
    values = columns.values.astype(np.float64)
    if columns.missing is None:
        return values
    return np.where(columns.values == columns.missing, columns.mean[:, None], values)
