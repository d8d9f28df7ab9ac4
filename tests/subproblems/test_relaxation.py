"""SR-REL against literal oracles: c(S) by a dense solve, all supports by enumeration, all swaps one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relaxation_cases import (
    best_after_one_swap,
    check_promises,
    fit,
    literal_objective,
    planted,
    standardised,
    value_at,
)
from threadpoolctl import threadpool_limits

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.subproblems.ascent import dual_point
from backbone_dask.subproblems.elastic_net import fit_elastic_net
from backbone_dask.subproblems.relaxation import fit_relaxation, relevant_of
from backbone_dask.subproblems.rounding import fit_rounding
from backbone_dask.subproblems.task import Task
from backbone_dask.values import SparseFit


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(1, 9), st.integers(1, 12), st.floats(-4, 4))
@settings(max_examples=150, deadline=None)
def test_promises_hold_on_any_data(seed: int, n: int, p: int, k: int, log_gamma: float) -> None:
    rng = np.random.default_rng(seed)
    # Small integers make constant, duplicate and dependent columns common.
    X = standardised(rng.integers(-1, 2, (p, n)).astype(float))
    y = rng.integers(-3, 4, n) * 10.0 ** rng.integers(-5, 6)
    y -= y.mean()
    found = fit(X, y, k, 10**log_gamma)
    check_promises(X, y, k, 10**log_gamma, found)
    assert found.objective <= 0.5 * float(np.sum(y**2)) * (1 + 1e-12)


@given(st.integers(0, 2**32 - 1), st.floats(-3, 2))
@settings(max_examples=25, deadline=None)
def test_no_single_swap_helps_at_return(seed: int, log_gamma: float) -> None:
    X, y, _ = planted(seed, n=20, p=25, k=4, rho=0.8, snr=1.0)
    found = fit(X, y, 4, 10**log_gamma)
    rounding = 1e-6 * float(np.sum(y**2))
    assert best_after_one_swap(X, y, found.support, 10**log_gamma) >= found.objective - rounding


@pytest.mark.parametrize("k", [1, 2, 3])
def test_near_the_best_of_all_supports(k: int) -> None:
    exact = 0
    for seed in range(12):
        X, y, _ = planted(seed, n=25, p=12, k=3, rho=0.7, snr=1.0)
        gamma = 1 / math.sqrt(25)
        best = min(literal_objective(X, y, np.array(s), gamma) for s in itertools.combinations(range(12), k))
        found = fit(X, y, k)
        assert found.objective <= best * 1.05
        exact += found.objective <= best * (1 + 1e-6)
    assert exact >= 11


def test_one_feature_is_the_most_correlated() -> None:
    X, y, _ = planted(3, n=40, p=60, k=5, rho=0.5, snr=1.0)
    assert fit(X, y, 1).support.tolist() == [int(np.abs(X @ y).argmax())]


def test_dual_bounds_lie_below_every_support() -> None:
    X, y, _ = planted(4, n=15, p=8, k=2, rho=0.5, snr=2.0)
    best = min(literal_objective(X, y, np.array(s), 0.3) for s in itertools.combinations(range(8), 2))
    rng = np.random.default_rng(0)
    for a in rng.standard_normal((50, 15)):
        assert dual_point(Task(X, y, 2, 0.3), a).bound <= best * (1 + 1e-5)


@pytest.mark.parametrize("rho", [0.0, 0.9])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_recovers_ten_of_ten(rho: float, seed: int) -> None:
    X, y, truth = planted(seed, n=500, p=5_000, k=10, rho=rho, snr=3.0)
    assert fit(X, y, 10).support.tolist() == truth.tolist()


def test_finds_all_relevant_features_that_are_present() -> None:
    X, y, truth = planted(5, n=2_000, p=3_000, k=20, rho=0.9, snr=2.0)
    absent = truth[::3]
    X = np.delete(X, absent, axis=0)
    present = np.setdiff1d(truth, absent)
    present = present - np.searchsorted(absent, present)
    assert np.isin(present, fit(X, y, 20).support).all()


def test_more_features_than_columns_gives_the_ridge_fit_on_all() -> None:
    X, y, _ = planted(6, n=30, p=7, k=3, rho=0.3, snr=1.0)
    found = fit(X, y, 50, 0.1)
    rows = X.astype(float)
    weights = np.linalg.solve(rows @ rows.T + np.eye(7) / 0.1, rows @ y)
    assert found.support.tolist() == list(range(7))
    np.testing.assert_allclose(found.weights, weights, rtol=1e-9)


def test_more_features_than_samples() -> None:
    X, y, _ = planted(7, n=10, p=60, k=3, rho=0.3, snr=1.0)
    for gamma in (1e-3, 1.0, 1e6, 1e200):
        check_promises(X, y, 30, gamma, fit(X, y, 30, gamma))


@pytest.mark.parametrize("gamma", [1e-150, 1e8, 1e12])
@pytest.mark.parametrize("solver", [fit_relaxation, fit_rounding, fit_elastic_net])
def test_the_objective_is_that_of_the_weights_at_the_gamma_asked_for(solver: Callable, gamma: float) -> None:
    if solver is fit_elastic_net:
        pytest.importorskip("glmnet")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 1000)).astype(np.float32)
    y = X[:3].astype(float).sum(axis=0)
    found = solver(X, y, n_nonzero=10, gamma=gamma, seed=0)
    assert found.objective == pytest.approx(value_at(X, y, found, gamma), rel=1e-6)


def test_constant_columns_are_never_chosen() -> None:
    X, y, _ = planted(8, n=30, p=6, k=3, rho=0.3, snr=1.0)
    X[[0, 3, 5]] = 0
    assert fit(X, y, 6).support.tolist() == [1, 2, 4]


def test_nothing_to_choose_from() -> None:
    y = np.arange(5.0)
    for X in (np.zeros((4, 5), np.float32), np.zeros((0, 5), np.float32)):
        found = fit(X, y, 3)
        assert found.support.size == 0
        assert found.objective == pytest.approx(0.5 * 30.0)


def test_a_target_of_zeros_gives_the_empty_support() -> None:
    X, _, _ = planted(9, n=30, p=6, k=3, rho=0.3, snr=1.0)
    found = fit(X, np.zeros(30), 3)
    assert (found.support.size, found.objective) == (0, 0.0)


def test_duplicate_columns() -> None:
    X, y, _ = planted(10, n=40, p=20, k=2, rho=0.0, snr=5.0)
    X = np.concatenate([X, X, X])
    for gamma in (1e-2, 1.0, 1e8, 1e300):
        check_promises(X, y, 10, gamma, fit(X, y, 10, gamma))


def test_columns_without_effect_stay_out() -> None:
    X = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [0, 0, 0, 0]], np.float32)
    assert fit(X, X[0] * 3.0, 3).support.tolist() == [0]


def test_two_samples() -> None:
    X = np.array([[1, -1], [-1, 1], [0, 0]], np.float32)
    found = fit(X, np.array([3.0, 5.0]), 1)
    assert found.support.size == 1
    assert found.objective == pytest.approx(literal_objective(X, np.array([3.0, 5.0]), found.support, 1 / math.sqrt(2)))


def test_a_suppressor_uncorrelated_with_the_target_is_found() -> None:
    # y = u + v with u, v in the table only as u and u - v, and u - v at right angles to y.
    u, v = np.array([1.0, 1, -1, -1, 1, 1, -1, -1]), np.array([1.0, -1, 1, -1, 1, -1, 1, -1])
    X = standardised(np.array([u, u - v]))
    found = fit(X, u + v, 2, 1e6)
    assert found.support.tolist() == [0, 1]
    assert found.objective < 1e-5


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-20, 1e20, 1e150, 1e300])
def test_the_scale_of_the_target_changes_only_the_scale_of_the_weights(scale: float) -> None:
    X, y, _ = planted(11, n=50, p=80, k=4, rho=0.5, snr=2.0)
    plain, scaled = fit(X, y, 4), fit(X, y * scale, 4)
    np.testing.assert_array_equal(scaled.support, plain.support)
    np.testing.assert_allclose(scaled.weights / scale, plain.weights, rtol=1e-6)
    assert not math.isnan(scaled.objective)


def test_a_level_of_the_target_is_explained_where_columns_can_explain_it() -> None:
    """Columns under sample weights have no mean of 0; nothing is centred behind their back."""
    X, y, _ = planted(12, n=50, p=80, k=4, rho=0.5, snr=2.0)
    X[7] = 1
    found = fit(X, y + 5, 5)
    assert 7 in found.support
    check_promises(X, y + 5, 5, 1 / math.sqrt(50), found)


def test_gamma_none_is_one_over_the_root_of_the_samples() -> None:
    X, y, _ = planted(13, n=64, p=30, k=4, rho=0.5, snr=2.0)
    assert fit(X, y, 4).objective == fit(X, y, 4, 0.125).objective


def test_tiny_gamma_chooses_by_correlation() -> None:
    X, y, _ = planted(14, n=64, p=30, k=4, rho=0.5, snr=2.0)
    expected = np.sort(np.argsort(-np.abs(X @ y))[:4])
    for gamma in (1e-9, 1e-30, 1e-310):
        assert fit(X, y, 4, gamma).support.tolist() == expected.tolist()


def test_the_same_bits_whatever_the_threads() -> None:
    X, y, _ = planted(15, n=400, p=2_000, k=15, rho=0.8, snr=1.0)
    runs = []
    for threads in (1, 2, 2):
        with threadpool_limits(threads):
            found = fit(X, y, 15)
        runs.append((found.support.tobytes(), found.weights.tobytes(), found.objective))
    assert runs[0] == runs[1] == runs[2]


def test_layout_and_read_only_memory_do_not_matter() -> None:
    X, y, _ = planted(16, n=60, p=90, k=4, rho=0.5, snr=2.0)
    frozen = X.copy()
    frozen.flags.writeable = False
    for other in (frozen, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        assert fit(other, y, 4).weights.tobytes() == fit(X, y, 4).weights.tobytes()


def test_inputs_are_left_alone() -> None:
    X, y, _ = planted(17, n=60, p=90, k=4, rho=0.5, snr=2.0)
    before = X.copy(), y.copy()
    fit(X, y, 4)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


def test_relevant_of_marks_the_support() -> None:
    mask = relevant_of(SparseFit(5, np.array([1, 4]), np.array([0.5, -1.0]), 1.0))
    assert mask.tolist() == [False, True, False, False, True]


@pytest.mark.parametrize(("k", "gamma"), [(0, 1.0), (-1, None), (2, 0.0), (2, -1.0), (2, math.nan), (2, math.inf)])
def test_settings_out_of_range_are_refused(k: int, gamma: float | None) -> None:
    X, y, _ = planted(18, n=20, p=5, k=2, rho=0.5, snr=2.0)
    with pytest.raises(InvalidSettingError):
        fit(X, y, k, gamma)


def test_unusable_data_are_refused() -> None:
    X, y, _ = planted(19, n=20, p=5, k=2, rho=0.5, snr=2.0)
    broken = X.copy()
    broken[2, 3] = np.nan
    for data, target in ((X, y[:-1]), (X[0], y), (X, np.append(y[:-1], np.inf)), (broken, y)):
        with pytest.raises(InvalidDataError):
            fit(data, target, 2)
