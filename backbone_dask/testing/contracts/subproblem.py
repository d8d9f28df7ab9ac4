"""The contract of `protocols.FitSubproblem` and `protocols.ExtractRelevant`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from backbone_dask.protocols import ExtractRelevant, FitSubproblem
from backbone_dask.testing.planted import Planted, planted, with_constants
from backbone_dask.values import Mask, Standardised, Target


class SubproblemSolverContract:
    """Inherit and provide the fixtures ``fit_subproblem``, ``extract_relevant`` and ``n_nonzero``.

    ``n_nonzero`` is the most features that ``fit_subproblem`` may call relevant. A solver that takes labels overrides
    `target`, which turns a real response into what the solver takes.
    """

    @pytest.fixture
    def fit_subproblem(self) -> FitSubproblem[Any]:
        raise NotImplementedError("provide the fixture `fit_subproblem`: a function of (X, y, *, seed)")

    @pytest.fixture
    def extract_relevant(self) -> ExtractRelevant:
        raise NotImplementedError("provide the fixture `extract_relevant`: a function of (model)")

    @pytest.fixture
    def n_nonzero(self) -> int:
        raise NotImplementedError("provide the fixture `n_nonzero`: the most relevant features of one model")

    @pytest.fixture
    def solve(self, fit_subproblem: FitSubproblem[Any], extract_relevant: ExtractRelevant, n_nonzero: int) -> Solve:
        return Solve(fit_subproblem, extract_relevant, n_nonzero)

    def target(self, response: Target) -> Target:
        """What the solver is given for a real response of shape (samples,)."""
        return response

    def table(self, n_nonzero: int, *, n_samples: int = 150, n_features: int = 60) -> Planted:
        """A strong signal on at most 3 features, among columns of which some are constant."""
        strong = min(n_nonzero, 3)
        table = planted(n_samples=n_samples, n_features=n_features, n_relevant=strong, snr=20, rho=0.3, seed=4)
        return with_constants(table)

    def test_strong_planted_features_are_found(self, solve: Solve, n_nonzero: int) -> None:
        table = self.table(n_nonzero)
        assert solve(table.X, self.target(table.y))[table.truth].all()

    def test_they_are_found_among_more_columns_than_samples(self, solve: Solve, n_nonzero: int) -> None:
        table = self.table(n_nonzero, n_features=600)
        assert solve(table.X, self.target(table.y))[table.truth].all()

    def test_pure_noise_is_no_error(self, solve: Solve) -> None:
        rng = np.random.default_rng(5)
        solve(planted(n_samples=40, n_features=80, n_relevant=1, seed=6).X, self.target(rng.standard_normal(40)))

    def test_constant_columns_are_never_relevant(self, solve: Solve, n_nonzero: int) -> None:
        """Even where nothing else is left to fill the support with."""
        table = self.table(n_nonzero, n_samples=50, n_features=n_nonzero + 4)
        X = np.zeros((n_nonzero + 4, 50), np.float32)
        X[table.truth] = table.X[table.truth]
        assert np.flatnonzero(solve(X, self.target(table.y))).tolist() == table.truth.tolist()

    def test_constant_columns_alone_give_no_relevant_feature(self, solve: Solve) -> None:
        y = self.target(np.random.default_rng(7).standard_normal(30))
        assert not solve(np.zeros((4, 30), np.float32), y).any()

    def test_fewer_columns_than_n_nonzero(self, solve: Solve, n_nonzero: int) -> None:
        table = planted(n_samples=60, n_features=max(n_nonzero - 1, 1), n_relevant=1, snr=20, seed=8)
        assert solve(table.X, self.target(table.y))[table.truth].all()

    def test_of_duplicate_columns_at_least_one_is_found(self, solve: Solve, n_nonzero: int) -> None:
        table = self.table(n_nonzero)
        mask = solve(np.concatenate([table.X, table.X]), self.target(table.y))
        assert (mask[:60] | mask[60:])[table.truth].all()

    def test_columns_that_are_all_equal(self, solve: Solve) -> None:
        table = planted(n_samples=60, n_features=1, n_relevant=1, snr=20, seed=9)
        assert solve(np.repeat(table.X, 20, axis=0), self.target(table.y)).any()

    @pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
    def test_equal_input_gives_equal_bits(self, solve: Solve, n_nonzero: int, seed: int) -> None:
        table = self.table(n_nonzero, n_samples=40)
        first, second = (solve.bits(table.X, self.target(table.y), seed) for _ in range(2))
        assert first == second

    def test_nothing_is_written_to_the_input(self, solve: Solve, n_nonzero: int) -> None:
        table = self.table(n_nonzero)
        X, y = table.X, self.target(table.y)
        before = X.copy(), y.copy()
        solve(X, y)
        np.testing.assert_array_equal(X, before[0])
        np.testing.assert_array_equal(y, before[1])

    def test_read_only_input_is_accepted(self, solve: Solve, n_nonzero: int) -> None:
        """Arrays that reached a worker over the network can't be written to."""
        table = self.table(n_nonzero)
        X, y = table.X, self.target(table.y)
        X.flags.writeable = y.flags.writeable = False
        assert solve(X, y)[table.truth].all()


class Solve:
    """Fits and extracts, and checks what must hold of every answer."""

    def __init__(self, fit: FitSubproblem[Any], extract: ExtractRelevant, n_nonzero: int) -> None:
        self._fit, self._extract, self._n_nonzero = fit, extract, n_nonzero

    def __call__(self, X: Standardised, y: Target, seed: int = 0) -> Mask:
        return self._mask(self._fit(X, y, seed=seed), X)

    def bits(self, X: Standardised, y: Target, seed: int) -> tuple[bytes, ...]:
        """The relevant features, and the weights and the objective of a model that has them."""
        model = self._fit(X, y, seed=seed)
        numbers = [getattr(model, name, 0.0) for name in ("weights", "objective")]
        return self._mask(model, X).tobytes(), *(np.asarray(number).tobytes() for number in numbers)

    def _mask(self, model: Any, X: Standardised) -> Mask:
        mask = self._extract(model)
        assert isinstance(mask, np.ndarray)
        assert mask.dtype == np.bool_
        assert mask.shape == (X.shape[0],)
        assert np.count_nonzero(mask) <= self._n_nonzero
        assert X[mask].any(axis=1).all(), "a column of zeros is relevant"
        return mask
