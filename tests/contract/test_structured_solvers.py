"""The structured solvers keep the plain contracts where the structure says nothing, in one form and in another."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import test_exact_solvers
from numpy.typing import NDArray

from backbone_dask.exact.structured_logistic import fit_structured_logistic_outer_approximation
from backbone_dask.exact.structured_outer_approximation import fit_structured_outer_approximation
from backbone_dask.losses.logistic import Margin
from backbone_dask.protocols import ExtractRelevant
from backbone_dask.structure import Structure
from backbone_dask.subproblems.relaxation import relevant_of
from backbone_dask.subproblems.structured import fit_structured
from backbone_dask.subproblems.structured_logistic import fit_structured_logistic
from backbone_dask.testing.contracts import ExactSolverContract, SubproblemSolverContract
from backbone_dask.values import Outcome, SparseFit, Standardised, Target


def centred(fit: Any, X: Standardised, y: Target, structure: Structure, **settings: Any) -> Any:
    return fit(X, y - y.mean(), structure, **settings)


def labelled(fit: Any, X: Standardised, y: Target, structure: Structure, **settings: Any) -> Any:
    """With an intercept."""
    return fit(X, Margin.of(y), structure, **settings)


def single(fit: Any, X: Standardised, y: Target, **settings: Any) -> Any:
    """Every column a group of one, weights of any sign."""
    return fit(X, y, Structure.single(len(X)), **settings)


def signed_pairs(fit: Any, X: Standardised, y: Target, **settings: Any) -> Any:
    """Every column and its negative a group of two, weights not negative: the same problem in other words."""
    pairs = Structure(np.tile(np.arange(len(X)), 2), nonnegative=True)
    return _merged(fit(np.concatenate([X, -X]), y, pairs, **settings))


def _merged(found: Outcome[SparseFit] | SparseFit) -> Outcome[SparseFit] | SparseFit:
    if isinstance(found, Outcome):
        return replace(found, model=_merged(found.model))
    half = found.n_columns // 2
    columns = found.support % half
    assert np.unique(columns).size == columns.size, "a column and its negative both have weights"
    weights: NDArray[np.float64] = np.where(found.support < half, found.weights, -found.weights)
    order = np.argsort(columns)
    return SparseFit(half, columns[order], weights[order], found.objective)


class TestStructured(SubproblemSolverContract):
    @pytest.fixture(params=[1, 3, 10])
    def n_nonzero(self, request: pytest.FixtureRequest) -> int:
        return request.param

    @pytest.fixture
    def extract_relevant(self) -> ExtractRelevant:
        return relevant_of

    @pytest.fixture(params=[single, signed_pairs])
    def fit_subproblem(self, request: pytest.FixtureRequest, n_nonzero: int) -> partial[SparseFit]:
        return partial(request.param, partial(centred, fit_structured), n_nonzero=n_nonzero, gamma=0.1)


class TestStructuredOuterApproximation(ExactSolverContract):
    @pytest.fixture
    def n_nonzero(self) -> int:
        return 3

    @pytest.fixture
    def gamma(self) -> float:
        return 0.1

    @pytest.fixture(params=[single, signed_pairs])
    def fit(
        self, request: pytest.FixtureRequest, n_nonzero: int, gamma: float, gap_tolerance: float
    ) -> partial[Outcome[SparseFit]]:
        settings = {"n_nonzero": n_nonzero, "gamma": gamma, "gap_tolerance": gap_tolerance}
        return partial(request.param, partial(centred, fit_structured_outer_approximation), **settings)


class TestStructuredLogistic(TestStructured):
    @pytest.fixture(params=[1, 10])
    def n_nonzero(self, request: pytest.FixtureRequest) -> int:
        return request.param

    @pytest.fixture(params=[single, signed_pairs])
    def fit_subproblem(self, request: pytest.FixtureRequest, n_nonzero: int) -> partial[SparseFit]:
        return partial(request.param, partial(labelled, fit_structured_logistic), n_nonzero=n_nonzero, gamma=0.1)

    def target(self, response: Target) -> Target:
        return np.where(response > np.median(response), 1.0, -1.0)


class TestStructuredLogisticOuterApproximation(test_exact_solvers.TestLogisticOuterApproximation):
    @pytest.fixture
    def n_nonzero(self) -> int:
        return 3

    @pytest.fixture(params=[signed_pairs])
    def fit(
        self, request: pytest.FixtureRequest, n_nonzero: int, gamma: float, gap_tolerance: float
    ) -> partial[Outcome[SparseFit]]:
        settings = {"n_nonzero": n_nonzero, "gamma": gamma, "gap_tolerance": gap_tolerance}
        return partial(request.param, partial(labelled, fit_structured_logistic_outer_approximation), **settings)
