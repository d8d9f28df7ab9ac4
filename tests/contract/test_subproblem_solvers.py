from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from backbone_dask.losses.logistic import Margin
from backbone_dask.protocols import ExtractRelevant
from backbone_dask.subproblems.elastic_net import fit_elastic_net, fit_logistic_elastic_net
from backbone_dask.subproblems.gammas import GammaGrid, OneGamma
from backbone_dask.subproblems.holdout import LogisticLearner
from backbone_dask.subproblems.logistic_relaxation import fit_logistic_relaxation
from backbone_dask.subproblems.relaxation import relevant_of
from backbone_dask.subproblems.rounding import fit_rounding
from backbone_dask.subproblems.support_size import FitChosenSize, FixedSize, IncrementalSize, SizeGrid
from backbone_dask.testing.contracts import SubproblemSolverContract
from backbone_dask.values import SparseFit, Standardised, Target


class TestRelaxation(SubproblemSolverContract):
    @pytest.fixture(params=[1, 3, 10])
    def n_nonzero(self, request: pytest.FixtureRequest) -> int:
        return request.param

    @pytest.fixture(params=[0.01, 1.0])
    def fit_subproblem(self, request: pytest.FixtureRequest, n_nonzero: int) -> FitChosenSize:
        return FitChosenSize(FixedSize(n_nonzero), OneGamma(request.param))

    def target(self, response: Target) -> Target:
        return response - response.mean()

    @pytest.fixture
    def extract_relevant(self) -> ExtractRelevant:
        return relevant_of


def fit_labels(X: Standardised, y: Target, *, seed: int, **settings: Any) -> SparseFit:
    return fit_logistic_relaxation(X, Margin.of(y), seed=seed, **settings)


class TestLogisticRelaxation(SubproblemSolverContract):
    @pytest.fixture(params=[1, 10])
    def n_nonzero(self, request: pytest.FixtureRequest) -> int:
        return request.param

    @pytest.fixture(params=[0.1])
    def fit_subproblem(self, request: pytest.FixtureRequest, n_nonzero: int) -> partial[SparseFit]:
        return partial(fit_labels, n_nonzero=n_nonzero, gamma=request.param)

    @pytest.fixture
    def extract_relevant(self) -> ExtractRelevant:
        return relevant_of

    def target(self, response: Target) -> Target:
        return np.where(response > np.median(response), 1.0, -1.0)


class _OfCentredTargets(SubproblemSolverContract):
    @pytest.fixture(params=[1, 3, 10])
    def n_nonzero(self, request: pytest.FixtureRequest) -> int:
        return request.param

    @pytest.fixture
    def extract_relevant(self) -> ExtractRelevant:
        return relevant_of

    def target(self, response: Target) -> Target:
        return response - response.mean()


class TestChosenSize(_OfCentredTargets):
    @pytest.fixture(params=["fixed", "thirds", "incremental", "gammas", "samples"])
    def fit_subproblem(self, request: pytest.FixtureRequest, n_nonzero: int) -> FitChosenSize:
        return {
            "fixed": FitChosenSize(FixedSize(n_nonzero), OneGamma(0.1)),
            "thirds": FitChosenSize(SizeGrid.thirds(n_nonzero)),
            "incremental": FitChosenSize(IncrementalSize.up_to(n_nonzero)),
            "gammas": FitChosenSize(FixedSize(n_nonzero), GammaGrid(3)),
            "samples": FitChosenSize(FixedSize(n_nonzero), sample_fraction=0.8),
        }[request.param]


class TestRounding(_OfCentredTargets):
    @pytest.fixture
    def fit_subproblem(self, n_nonzero: int) -> partial[SparseFit]:
        return partial(fit_rounding, n_nonzero=n_nonzero, gamma=None)


class TestElasticNet(_OfCentredTargets):
    @pytest.fixture
    def fit_subproblem(self, n_nonzero: int) -> partial[SparseFit]:
        pytest.importorskip("glmnet")
        return partial(fit_elastic_net, n_nonzero=n_nonzero)


class TestLogisticElasticNet(_OfCentredTargets):
    # The path ends with n_nonzero features, and a net takes both of two equal columns: 3 are no room for 3 pairs.
    @pytest.fixture(params=[1, 8, 20])
    def n_nonzero(self, request: pytest.FixtureRequest) -> int:
        return request.param

    @pytest.fixture
    def fit_subproblem(self, n_nonzero: int) -> Callable[..., SparseFit]:
        pytest.importorskip("glmnet")
        return lambda X, y, *, seed: fit_logistic_elastic_net(X, Margin.of(y), n_nonzero=n_nonzero, seed=seed)

    def target(self, response: Target) -> Target:
        return np.where(response > np.median(response), 1.0, -1.0)


class TestLogisticChosenSize(_OfCentredTargets):
    @pytest.fixture
    def fit_subproblem(self, n_nonzero: int) -> Callable[..., SparseFit]:
        def fit(X: Standardised, y: Target, *, seed: int) -> SparseFit:
            learner = LogisticLearner(np.ones(y.size), np.ones((1, y.size)))
            return FitChosenSize(SizeGrid.thirds(n_nonzero), learner=learner)(X, y, seed=seed)

        return fit

    def target(self, response: Target) -> Target:
        return np.where(response > np.median(response), 1.0, -1.0)
