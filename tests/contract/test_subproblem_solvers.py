from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from backbone_dask.losses.logistic import Margin
from backbone_dask.problems.linear import FitSubproblem
from backbone_dask.protocols import ExtractRelevant
from backbone_dask.subproblems.logistic_relaxation import fit_logistic_relaxation
from backbone_dask.subproblems.relaxation import relevant_of
from backbone_dask.testing.contracts import SubproblemSolverContract
from backbone_dask.values import SparseFit, Standardised, Target


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


def fit_labels(X: Standardised, y: Target, *, seed: int, **settings: Any) -> SparseFit:
    return fit_logistic_relaxation(X, Margin.of(y), seed=seed, **settings)


class TestLogisticRelaxation(SubproblemSolverContract):
    @pytest.fixture(params=[1, 3, 10])
    def n_nonzero(self, request: pytest.FixtureRequest) -> int:
        return request.param

    @pytest.fixture(params=[0.01, 1.0])
    def fit_subproblem(self, request: pytest.FixtureRequest, n_nonzero: int) -> partial[SparseFit]:
        return partial(fit_labels, n_nonzero=n_nonzero, gamma=request.param)

    @pytest.fixture
    def extract_relevant(self) -> ExtractRelevant:
        return relevant_of

    def target(self, response: Target) -> Target:
        return np.where(response > np.median(response), 1.0, -1.0)
