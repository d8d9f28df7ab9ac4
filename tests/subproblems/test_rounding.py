"""Randomised rounding against its own words: coins of weight z, a union, the largest weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.subproblems.ascent import ascend
from backbone_dask.subproblems.rounding import fit_rounding, rounded
from backbone_dask.subproblems.task import normalised
from backbone_dask.testing.planted import planted, with_constants
from backbone_dask.values import SparseFit


def fit(X: np.ndarray, y: np.ndarray, k: int, *, gamma: float | None = None, seed: int = 0, **more: int) -> SparseFit:
    return fit_rounding(X, y, n_nonzero=k, gamma=gamma, seed=seed, **more)


def ridge(X: np.ndarray, y: np.ndarray, support: np.ndarray, gamma: float) -> tuple[np.ndarray, float]:
    rows = X[support].astype(float)
    weights = np.linalg.solve(rows @ rows.T + np.eye(len(rows)) / gamma, rows @ y)
    residual = y - weights @ rows
    return weights, float(0.5 * residual @ residual + weights @ weights / (2 * gamma))


def test_coins_fall_by_their_weights() -> None:
    z = np.array([0.0, 0.1, 0.5, 1.0])
    for draws in (1, 3):
        counts = np.zeros(4)
        for seed in range(2_000):
            counts[rounded(z, draws, seed)] += 1
        expected = 1 - (1 - z) ** draws
        np.testing.assert_allclose(counts / 2_000, expected, atol=4 * math.sqrt(0.25 / 2_000))
        assert counts[0] == 0
        assert counts[3] == 2_000


@given(st.lists(st.sampled_from([0.0, 0.2, 1.0]), max_size=20), st.integers(1, 5), st.integers(0, 2**64 - 1))
def test_what_is_rounded_up_is_possible_and_what_is_certain_is_rounded_up(
    z: list[float], draws: int, seed: int
) -> None:
    chosen = rounded(np.array(z), draws, seed)
    assert (np.diff(chosen) > 0).all()
    assert all(z[j] > 0 for j in chosen)
    assert {j for j, share in enumerate(z) if share == 1} <= set(chosen.tolist())


@pytest.mark.parametrize("seed", range(3))
def test_room_for_the_whole_union_keeps_all_of_it(seed: int) -> None:
    table = planted(n_samples=80, n_features=150, n_relevant=5, rho=0.7, snr=1, seed=seed)
    y = table.y - table.y.mean()
    z = ascend(normalised(table.X, y, 5, 0.1).task).z
    union = rounded(z, 6, seed)
    found = fit(table.X, y, 5, gamma=0.1, seed=seed, draws=6, keep=150)
    assert found.support.tolist() == union.tolist()
    weights, objective = ridge(table.X, y, union, 0.1)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-6, atol=1e-9)
    assert found.objective == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_one_feature_too_many_leaves_by_its_weight(seed: int) -> None:
    table = planted(n_samples=80, n_features=150, n_relevant=5, rho=0.7, snr=1, seed=seed)
    y = table.y - table.y.mean()
    union = fit(table.X, y, 5, gamma=0.1, seed=seed, keep=150).support
    weights, _ = ridge(table.X, y, union, 0.1)
    found = fit(table.X, y, 5, gamma=0.1, seed=seed, keep=union.size - 1)
    assert found.support.tolist() == np.delete(union, np.abs(weights).argmin()).tolist()
    assert found.objective == pytest.approx(ridge(table.X, y, found.support, 0.1)[1], rel=1e-9)


def test_more_draws_find_no_less() -> None:
    table = planted(n_samples=60, n_features=200, n_relevant=8, rho=0.8, snr=0.5, seed=4)
    y = table.y - table.y.mean()
    sizes = [fit(table.X, y, 8, draws=draws, keep=200).support.size for draws in (1, 10, 200)]
    assert sizes[0] < sizes[1] < sizes[2]


def test_draws_come_from_the_seed() -> None:
    table = planted(n_samples=60, n_features=200, n_relevant=8, rho=0.8, snr=0.5, seed=4)
    y = table.y - table.y.mean()
    supports = [fit(table.X, y, 8, seed=seed, draws=1, keep=200).support.tobytes() for seed in (0, 0, 1)]
    assert supports[0] == supports[1] != supports[2]


def test_relevant_features_are_found() -> None:
    table = planted(n_samples=500, n_features=3_000, n_relevant=10, rho=0.5, snr=5, seed=5)
    found = fit(table.X, table.y - table.y.mean(), 10, keep=30)
    assert np.isin(table.truth, found.support).all()


def test_the_same_bits_whatever_the_threads() -> None:
    table = planted(n_samples=300, n_features=900, n_relevant=5, rho=0.8, snr=1, seed=6)
    runs = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found = fit(table.X, table.y - table.y.mean(), 20, seed=5)
        runs.append((found.support.tobytes(), found.weights.tobytes(), found.objective))
    assert runs[0] == runs[1]


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 9), st.integers(1, 12), st.floats(-3, 3))
@settings(max_examples=40, deadline=None)
def test_any_data_give_a_model(seed: int, n: int, p: int, k: int, log_gamma: float) -> None:
    rng = np.random.default_rng(seed)
    X = planted(n_samples=n, n_features=p, n_relevant=1, dtype="int8", seed=seed).X
    y = rng.integers(-3, 4, n) * 1.0
    y -= y.mean()
    found = fit(X, y, k, gamma=10**log_gamma, seed=seed)
    assert found.support.size <= k
    assert X[found.support].any(axis=1).all()
    assert found.objective == pytest.approx(ridge(X, y, found.support, 10**log_gamma)[1], rel=1e-5, abs=1e-7)


def test_nothing_to_choose_from() -> None:
    table = with_constants(planted(n_samples=20, n_features=10, n_relevant=2))
    assert fit(np.zeros((4, 20), np.float32), table.y, 3).support.size == 0
    assert fit(table.X, np.zeros(20), 3).objective == 0
    assert fit(table.X, table.y, 50).support.size <= 8


def test_bad_input_is_refused() -> None:
    table = planted(n_samples=20, n_features=10, n_relevant=2)
    for wrong in ({"draws": 0}, {"keep": 0}, {"gamma": 0.0}):
        with pytest.raises(InvalidSettingError):
            fit(table.X, table.y, 3, **wrong)
    with pytest.raises(InvalidSettingError):
        fit(table.X, table.y, 0)
    with pytest.raises(InvalidDataError):
        fit(table.X, table.y[:-1], 3)
