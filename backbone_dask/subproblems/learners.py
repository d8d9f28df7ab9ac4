"""The other sparse solvers as learners: sizes, ridge weights and samples are then chosen for them as for SR-REL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backbone_dask.losses.logistic import Margin
from backbone_dask.subproblems.elastic_net import fit_logistic_elastic_net
from backbone_dask.subproblems.holdout import LogisticLearner, SquaredLearner
from backbone_dask.subproblems.products import Positions
from backbone_dask.values import SparseFit, Standardised, Target


@dataclass(frozen=True, slots=True)
class FromNothing(SquaredLearner):
    """A solver for squared loss that starts from nothing: an elastic net, or randomised rounding."""

    solve: Callable[..., SparseFit]

    def fit(
        self,
        X: Standardised,
        y: Target,
        *,
        n_nonzero: int,
        gamma: float | None,
        start: Positions | None = None,
        seed: int,
    ) -> SparseFit:
        return self.solve(X, y, n_nonzero=n_nonzero, gamma=gamma, seed=seed)

    def refine(
        self, X: Standardised, y: Target, *, n_nonzero: int, gamma: float | None, start: Positions, seed: int
    ) -> SparseFit:
        return self.fit(X, y, n_nonzero=n_nonzero, gamma=gamma, seed=seed)


@dataclass(frozen=True, slots=True)
class LogisticElasticNetLearner(LogisticLearner):
    """Elastic net for logistic loss; it starts from nothing."""

    def fit(
        self,
        X: Standardised,
        y: Target,
        *,
        n_nonzero: int,
        gamma: float | None,
        start: Positions | None = None,
        seed: int,
    ) -> SparseFit:
        margin = Margin.of(y, self.weights, self.basis)
        return fit_logistic_elastic_net(X, margin, n_nonzero=n_nonzero, gamma=gamma, seed=seed)
