from __future__ import annotations

from dataclasses import dataclass

import pytest

from backbone_dask.exact.branch_and_bound import fit_branch_and_bound
from backbone_dask.problems.linear import FitReduced
from backbone_dask.testing.contracts import ExactSolverContract
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target


class TestOuterApproximation(ExactSolverContract):
    @pytest.fixture(params=[1, 3, 8])
    def n_nonzero(self, request: pytest.FixtureRequest) -> int:
        return request.param

    @pytest.fixture(params=[0.01, 1.0])
    def gamma(self, request: pytest.FixtureRequest) -> float:
        return request.param

    @pytest.fixture
    def gap_tolerance(self) -> float:
        return 1e-5

    @pytest.fixture
    def fit(self, n_nonzero: int, gamma: float, gap_tolerance: float) -> FitReduced:
        return FitReduced(n_nonzero=n_nonzero, gamma=gamma, gap_tolerance=gap_tolerance)


@dataclass(frozen=True)
class CentredBranchAndBound:
    """Branch and bound as a model with an intercept uses it."""

    n_nonzero: int
    gamma: float
    gap_tolerance: float

    def __call__(self, X: Standardised, y: Target, *, warm_start: CandidateIds, seconds: float) -> Outcome[SparseFit]:
        return fit_branch_and_bound(
            X,
            y - y.mean(),
            n_nonzero=self.n_nonzero,
            gamma=self.gamma,
            warm_start=warm_start,
            seconds=seconds,
            gap_tolerance=self.gap_tolerance,
        )


class TestBranchAndBound(TestOuterApproximation):
    @pytest.fixture
    def fit(self, n_nonzero: int, gamma: float, gap_tolerance: float) -> CentredBranchAndBound:
        return CentredBranchAndBound(n_nonzero=n_nonzero, gamma=gamma, gap_tolerance=gap_tolerance)
