"""The contract of `protocols.Fit` for models on a support."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from backbone_dask.protocols import Fit
from backbone_dask.testing.contracts.trace import MOST_POINTS, check_trace
from backbone_dask.testing.planted import planted, with_constants
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target, Termination, TracePoint
from backbone_dask.watching import watched_by

NOWHERE = np.empty(0, np.int64)
SECONDS = 30.0


class ExactSolverContract:
    """Inherit and provide the fixtures ``fit``, ``n_nonzero`` and ``gamma``, the last two as ``fit`` has them.

    ``gap_tolerance`` is the relative gap at which ``fit`` calls a model proven. A solver of another loss than the
    squared one overrides `target`, `objective` and `best_weights`.
    """

    overtime: float = 2.0
    """Seconds that a solve may take beyond its limit: one factorisation, one call of a library."""

    @pytest.fixture
    def fit(self) -> Fit[SparseFit]:
        raise NotImplementedError("provide the fixture `fit`: a function of (X, y, *, warm_start, seconds)")

    @pytest.fixture
    def n_nonzero(self) -> int:
        raise NotImplementedError("provide the fixture `n_nonzero`: the most features of the model")

    @pytest.fixture
    def gamma(self) -> float:
        raise NotImplementedError("provide the fixture `gamma`: the ridge weight")

    @pytest.fixture
    def gap_tolerance(self) -> float:
        return 1e-4

    @pytest.fixture
    def solve(self, fit: Fit[SparseFit], n_nonzero: int, gamma: float, gap_tolerance: float) -> Solve:
        return Solve(self, fit, n_nonzero, gamma, gap_tolerance)

    def target(self, response: Target) -> Target:
        """What the solver is given for a real response of shape (samples,)."""
        return response

    def objective(self, rows: NDArray[np.float64], y: Target, weights: NDArray[np.float64], gamma: float) -> float:
        """The literal objective of weights on the rows of a support: loss plus |w|^2 / (2 gamma)."""
        residual = y - y.mean() - weights @ rows
        return float(0.5 * residual @ residual + weights @ weights / (2 * gamma))

    def best_weights(self, rows: NDArray[np.float64], y: Target, gamma: float) -> NDArray[np.float64]:
        """The weights of the least objective on the rows of a support."""
        return np.linalg.solve(rows @ rows.T + np.eye(len(rows)) / gamma, rows @ (y - y.mean()))

    def value(self, X: Standardised, y: Target, support: Any, gamma: float) -> float:
        """c(S): the least objective on a support."""
        rows = X[np.asarray(support, np.int64)].astype(np.float64)
        return self.objective(rows, y, self.best_weights(rows, y, gamma), gamma)

    def problem(self, seed: int, *, n_samples: int = 40, n_features: int = 12) -> tuple[Standardised, Target]:
        """Correlated columns, a few of them constant, and a target that is half noise."""
        relevant = min(3, n_features)
        table = planted(
            n_samples=n_samples, n_features=n_features, n_relevant=relevant, rho=0.7, snr=1, seed=100 + seed
        )
        return with_constants(table).X, self.target(table.y)

    @pytest.mark.parametrize("seed", range(6))
    def test_brute_force_agrees(self, solve: Solve, n_nonzero: int, gamma: float, seed: int) -> None:
        X, y = self.problem(seed)
        outcome = solve(X, y)
        supports = combinations(range(12), min(n_nonzero, 12))
        best = min(self.value(X, y, support, gamma) for support in supports)
        assert outcome.bound <= best * (1 + 1e-9)
        assert outcome.objective <= best * (1 + 1e-9) / (1 - outcome.gap)
        if outcome.termination is Termination.PROVEN:
            assert outcome.objective == pytest.approx(best, rel=2 * solve.gap_tolerance)

    @pytest.mark.parametrize("seed", range(2))
    def test_small_problems_are_proven(self, solve: Solve, seed: int) -> None:
        assert solve(*self.problem(seed)).termination is Termination.PROVEN

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("seconds", [0.0, 0.3])
    def test_never_worse_than_the_warm_start(
        self, solve: Solve, n_nonzero: int, gamma: float, seed: int, seconds: float
    ) -> None:
        """The truth among columns so alike, and so few samples, that a search may well miss it."""
        table = planted(n_samples=40, n_features=150, n_relevant=n_nonzero, rho=0.97, snr=100, seed=seed)
        y = self.target(table.y)
        outcome = solve(table.X, y, warm_start=table.truth, seconds=seconds)
        assert outcome.objective <= self.value(table.X, y, table.truth, gamma) * (1 + 1e-9)

    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("seconds", [0.0, 0.3])
    def test_the_bound_lies_below_supports_that_the_search_missed(
        self, solve: Solve, n_nonzero: int, gamma: float, seed: int, seconds: float
    ) -> None:
        table = planted(n_samples=40, n_features=150, n_relevant=n_nonzero, rho=0.97, snr=100, seed=seed)
        y = self.target(table.y)
        outcome = solve(table.X, y, seconds=seconds)
        assert outcome.bound <= self.value(table.X, y, table.truth, gamma) * (1 + 1e-9)

    def test_a_warm_start_may_be_any_support(self, solve: Solve) -> None:
        X, y = self.problem(9)
        for start in ([], [3], list(range(12))):
            solve(X, y, warm_start=np.array(start, np.int64))

    def test_equal_input_gives_equal_bits(self, solve: Solve) -> None:
        X, y = self.problem(10)
        first, second = solve(X, y), solve(X, y)
        np.testing.assert_array_equal(first.model.support, second.model.support)
        np.testing.assert_array_equal(first.model.weights, second.model.weights)
        assert (first.objective, first.bound) == (second.objective, second.bound)
        assert (first.rounds, first.termination) == (second.rounds, second.termination)

    def test_the_trace_shows_how_objective_and_bound_came_closer(self, solve: Solve) -> None:
        outcome = solve(*self.problem(19, n_samples=60, n_features=20))
        assert 2 <= len(outcome.trace) <= MOST_POINTS
        first = outcome.trace[0]
        assert first.objective - first.bound > outcome.objective - outcome.bound

    def test_nobody_need_watch(self, solve: Solve) -> None:
        X, y = self.problem(20)
        told: list[TracePoint] = []
        with watched_by(told.append):
            seen = solve(X, y)
        unseen = solve(X, y)
        assert told
        assert (seen.objective, seen.bound, seen.rounds) == (unseen.objective, unseen.bound, unseen.rounds)
        np.testing.assert_array_equal(seen.model.weights, unseen.model.weights)

    def test_a_warm_start_on_constant_columns_is_no_error(self, solve: Solve) -> None:
        X, y = self.problem(11)
        constant = np.flatnonzero(~X.any(axis=1))
        assert constant.size
        solve(X, y, warm_start=constant)

    def test_constant_columns_alone_give_the_empty_model(self, solve: Solve, gamma: float) -> None:
        X, y = np.zeros((3, 40), np.float32), self.problem(12)[1]
        outcome = solve(X, y)
        assert outcome.model.support.size == 0
        assert outcome.objective == pytest.approx(self.value(X, y, NOWHERE, gamma))

    def test_constant_columns_never_fill_up_the_support(self, solve: Solve, n_nonzero: int, gamma: float) -> None:
        """Neither where every column has room, nor where only the constant ones are left."""
        for constant in (1, n_nonzero + 4):
            table = planted(n_samples=40, n_features=1, n_relevant=1, seed=18)
            X, y = np.zeros((constant + 1, 40), np.float32), self.target(table.y)
            X[1] = table.X[0]
            outcome = solve(X, y)
            assert outcome.model.support.tolist() == [1]
            assert outcome.objective == pytest.approx(self.value(X, y, [1], gamma))

    def test_duplicate_columns_are_no_error(self, solve: Solve) -> None:
        X, y = self.problem(13, n_features=6)
        outcome = solve(np.concatenate([X, X]), y)
        assert outcome.objective <= solve(X, y).objective * (1 + solve.gap_tolerance)

    def test_one_column(self, solve: Solve, gamma: float) -> None:
        table = planted(n_samples=40, n_features=1, n_relevant=1, seed=14)
        X, y = table.X, self.target(table.y)
        outcome = solve(X, y)
        assert outcome.objective == pytest.approx(self.value(X, y, [0], gamma))

    def test_nothing_is_written_to_the_input(self, solve: Solve) -> None:
        X, y = self.problem(15)
        X.flags.writeable = y.flags.writeable = False
        solve(X, y)

    @pytest.mark.parametrize("seconds", [0.0, 0.3])
    def test_the_time_limit_is_kept(self, solve: Solve, seconds: float) -> None:
        solve(*self.problem(16))  # imports and compilation are not the search's time
        X, y = self.problem(17, n_samples=60, n_features=150)
        began = time.monotonic()
        outcome = solve(X, y, seconds=seconds)
        assert time.monotonic() - began <= seconds + self.overtime
        assert outcome.seconds <= seconds + self.overtime


class Solve:
    """Calls `fit`, and checks what must hold of every outcome."""

    def __init__(
        self, contract: ExactSolverContract, fit: Fit[SparseFit], n_nonzero: int, gamma: float, gap_tolerance: float
    ) -> None:
        self._contract, self._fit, self._n_nonzero, self._gamma = contract, fit, n_nonzero, gamma
        self.gap_tolerance = gap_tolerance

    def __call__(
        self, X: Standardised, y: Target, *, warm_start: CandidateIds = NOWHERE, seconds: float = SECONDS
    ) -> Outcome[SparseFit]:
        outcome = self._fit(X, y, warm_start=warm_start, seconds=seconds)
        self._check_support(outcome.model, X)
        self._check_numbers(outcome, X, y)
        return outcome

    def _check_support(self, model: SparseFit, X: Standardised) -> None:
        assert model.n_columns == X.shape[0]
        assert model.support.shape == model.weights.shape
        assert model.support.size <= self._n_nonzero
        assert (np.diff(model.support) > 0).all(), "the support is not sorted, or not unique"
        assert X[model.support].any(axis=1).all(), "a column of zeros is in the support"
        assert np.isfinite(model.weights).all()

    def _check_numbers(self, outcome: Outcome[SparseFit], X: Standardised, y: Target) -> None:
        model = outcome.model
        rows = X[model.support].astype(np.float64)
        literal = self._contract.objective(rows, y, model.weights, self._gamma)
        assert outcome.objective == pytest.approx(literal, rel=1e-9, abs=1e-12)
        assert model.objective == outcome.objective
        assert np.isfinite(outcome.bound)
        assert outcome.bound <= outcome.objective
        assert outcome.gap >= 0
        assert isinstance(outcome.termination, Termination)
        assert outcome.rounds >= 0
        assert outcome.seconds >= 0
        if outcome.termination is Termination.PROVEN:
            assert outcome.gap <= self.gap_tolerance * (1 + 1e-6)
        else:
            assert outcome.gap > self.gap_tolerance * (1 - 1e-6), "it is proven, but does not say so"
        check_trace(outcome)
