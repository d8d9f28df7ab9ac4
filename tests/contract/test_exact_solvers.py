from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from backbone_dask.exact.catalogue import exact_solvers
from backbone_dask.exact.logistic_outer_approximation import fit_logistic_outer_approximation
from backbone_dask.losses.logistic import Margin
from backbone_dask.problems.linear import FitReduced
from backbone_dask.testing.contracts import ExactSolverContract
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target


class TestOuterApproximation(ExactSolverContract):
    solver = "outer-approximation"

    def target(self, response: Target) -> Target:
        return response - response.mean()

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
        return FitReduced(exact_solvers[self.solver], n_nonzero=n_nonzero, gamma=gamma, gap_tolerance=gap_tolerance)


class TestBranchAndBound(TestOuterApproximation):
    solver = "branch-and-bound"


def fit_labels(X: Standardised, y: Target, *, warm_start: CandidateIds, seconds: float, **settings: Any) -> Any:
    return fit_logistic_outer_approximation(X, Margin.of(y), warm_start=warm_start, seconds=seconds, **settings)


class TestLogisticOuterApproximation(ExactSolverContract):
    """With an intercept; the literal fit is Newton's method, without any of the solver's care."""

    @pytest.fixture(params=[1, 3])
    def n_nonzero(self, request: pytest.FixtureRequest) -> int:
        return request.param

    @pytest.fixture(params=[0.3])
    def gamma(self, request: pytest.FixtureRequest) -> float:
        return request.param

    @pytest.fixture
    def gap_tolerance(self) -> float:
        return 1e-5

    @pytest.fixture
    def fit(self, n_nonzero: int, gamma: float, gap_tolerance: float) -> partial[Outcome[SparseFit]]:
        return partial(fit_labels, n_nonzero=n_nonzero, gamma=gamma, gap_tolerance=gap_tolerance)

    def target(self, response: Target) -> Target:
        return np.where(response > np.median(response), 1.0, -1.0)

    def objective(self, rows: NDArray[np.float64], y: Target, weights: NDArray[np.float64], gamma: float) -> float:
        def loss(b: float) -> float:
            return float(np.log1p(np.exp(-y * (weights @ rows + b))).sum())

        return minimize_scalar(loss, bracket=(-1, 1), tol=1e-12).fun + weights @ weights / (2 * gamma)

    def best_weights(self, rows: NDArray[np.float64], y: Target, gamma: float) -> NDArray[np.float64]:
        design = np.concatenate([rows, np.ones((1, y.size))])
        ridge = np.append(np.full(len(rows), 1 / gamma), 0.0)
        point = np.zeros(ridge.size)
        for _ in range(12):
            q = 1 / (1 + np.exp(y * (point @ design)))
            slope = ridge * point - design @ (y * q)
            point -= np.linalg.solve((design * (q * (1 - q))) @ design.T + np.diag(ridge), slope)
        return point[:-1]
