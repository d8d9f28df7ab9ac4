from __future__ import annotations

import pytest

from backbone_dask.problems.linear import FitSubproblem
from backbone_dask.protocols import ExtractRelevant
from backbone_dask.subproblems.relaxation import relevant_of
from backbone_dask.testing.contracts import SubproblemSolverContract


class TestRelaxation(SubproblemSolverContract):
    @pytest.fixture(params=[1, 3, 10])
    def n_nonzero(self, request: pytest.FixtureRequest) -> int:
        return request.param

    @pytest.fixture(params=[0.01, 1.0])
    def fit_subproblem(self, request: pytest.FixtureRequest, n_nonzero: int) -> FitSubproblem:
        return FitSubproblem(n_nonzero=n_nonzero, gamma=request.param)

    @pytest.fixture
    def extract_relevant(self) -> ExtractRelevant:
        return relevant_of
