from __future__ import annotations

import pytest

from backbone_dask.problems.linear import FitReduced
from backbone_dask.testing.contracts import ExactSolverContract


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
