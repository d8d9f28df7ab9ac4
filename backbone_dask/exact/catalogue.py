"""Exact solvers of the reduced problem with squared loss, by name."""

from __future__ import annotations

from typing import Protocol

from backbone_dask.exact.branch_and_bound import fit_branch_and_bound
from backbone_dask.exact.outer_approximation import fit_outer_approximation
from backbone_dask.registry import Registry
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target


class ExactSolver(Protocol):
    """min c(S) over |S| <= n_nonzero, for rows X (features, samples) and y as given, with a proven bound."""

    def __call__(
        self,
        X: Standardised,
        y: Target,
        *,
        n_nonzero: int,
        gamma: float,
        warm_start: CandidateIds,
        seconds: float,
        gap_tolerance: float,
    ) -> Outcome[SparseFit]: ...


exact_solvers: Registry[ExactSolver] = Registry("exact solver")
exact_solvers.register("branch-and-bound")(fit_branch_and_bound)
exact_solvers.register("outer-approximation")(fit_outer_approximation)
