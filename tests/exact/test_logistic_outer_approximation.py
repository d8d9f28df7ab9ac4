from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logistic_exact_cases import Case, draw_case, planted
from scipy.optimize import minimize

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.exact.face import Face
from backbone_dask.exact.logistic_data import LogisticData
from backbone_dask.exact.logistic_outer_approximation import fit_logistic_outer_approximation
from backbone_dask.exact.logistic_perspective import solve_logistic_relaxation
from backbone_dask.losses.logistic import Margin, fit, free_part
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import Outcome, SparseFit, Termination

NOWHERE = np.empty(0, np.int64)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with one_blas_thread():
        yield


def objective(case: Case, support: tuple[int, ...] | np.ndarray) -> float:
    return fit(case.margin, case.X[list(support)].astype(np.float64), case.gamma).objective


def brute_force(case: Case) -> float:
    size = min(case.n_nonzero, len(case.X))
    return min(objective(case, support) for support in combinations(range(len(case.X)), size))


def solve(case: Case, *, warm_start: np.ndarray = NOWHERE, seconds: float = 20.0) -> Outcome[SparseFit]:
    return fit_logistic_outer_approximation(
        case.X,
        case.margin,
        n_nonzero=case.n_nonzero,
        gamma=case.gamma,
        warm_start=warm_start,
        seconds=seconds,
        gap_tolerance=1e-6,
    )


@pytest.mark.parametrize("seed", range(30))
def test_brute_force_agrees(seed: int) -> None:
    case = draw_case(seed)
    best = brute_force(case)
    outcome = solve(case)
    assert outcome.bound <= best * (1 + 1e-11)
    assert outcome.objective == pytest.approx(objective(case, outcome.model.support), rel=1e-6)
    assert outcome.objective <= best * (1 + 2e-6) or outcome.termination is not Termination.PROVEN
    assert outcome.objective == pytest.approx(best, rel=1e-4)
    assert (outcome.termination is Termination.PROVEN) == (outcome.gap <= 1e-6)
    assert outcome.model.support.size <= case.n_nonzero
    assert case.X[outcome.model.support].any(axis=1).all()


def test_most_small_problems_are_proven() -> None:
    ended = [solve(draw_case(seed)).termination for seed in range(100, 120)]
    assert ended.count(Termination.PROVEN) >= 18


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([1e-12, 1e-6, 1.0, 1e6, 1e12]))
def test_bounds_hold_at_every_gamma(seed: int, gamma: float) -> None:
    case = draw_case(seed)
    case = Case(case.X, case.margin, case.n_nonzero, gamma)
    outcome = solve(case, seconds=0.3)
    best = brute_force(case)
    assert 0 <= outcome.bound <= outcome.objective
    assert outcome.bound <= best * (1 + 1e-11)
    assert (outcome.termination is Termination.PROVEN) == (outcome.gap <= 1e-6)
    if gamma < 1:
        assert outcome.objective == pytest.approx(best, rel=1e-4)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_every_relaxation_lies_below_every_point_of_its_face(seed: int, other: int) -> None:
    case = draw_case(seed)
    data = LogisticData.of(case.X[case.X.any(axis=1)], case.margin, case.gamma)
    rng = np.random.default_rng(other)
    p = data.n_features
    support = np.sort(rng.choice(p, min(case.n_nonzero, p), replace=False))
    face = Face.whole(p, case.n_nonzero).fix(rng.permutation(p)[: rng.integers(0, p + 1)], support)
    found = solve_logistic_relaxation(data, face)
    value = data.evaluate(support).objective
    assert found.bound <= value * (1 + 1e-11)
    chosen = np.zeros(p)
    chosen[support] = 1.0
    assert found.cut.intercept - found.cut.slopes @ chosen <= value * (1 + 1e-11)


def literal_relaxation(case: Case) -> float:
    """min over z of c(z) by a general solver: v_j^2 = z_j, columns scaled by v_j."""
    p = len(case.X)

    def value(z: np.ndarray) -> float:
        rows = case.X.astype(np.float64) * np.sqrt(np.clip(z, 1e-12, 1))[:, None]
        return fit(case.margin, rows, case.gamma).objective

    room = {"type": "ineq", "fun": lambda z: case.n_nonzero - z.sum()}
    start = np.full(p, min(case.n_nonzero / p, 1.0))
    return float(minimize(value, start, bounds=[(0, 1)] * p, constraints=[room], method="SLSQP", tol=1e-10).fun)


@pytest.mark.parametrize("seed", [1, 2, 5, 7, 10, 11])
def test_the_relaxation_is_solved(seed: int) -> None:
    case = draw_case(seed)
    data = LogisticData.of(case.X, case.margin, case.gamma)
    found = solve_logistic_relaxation(data, Face.whole(data.n_features, case.n_nonzero))
    assert found.bound == pytest.approx(found.objective, rel=2e-6)
    assert found.objective == pytest.approx(literal_relaxation(case), rel=1e-4)


def test_the_planted_truth_is_matched_or_beaten_and_the_gap_is_small() -> None:
    X, margin, truth = planted(100, 10, 1000, seed=5)
    case = Case(X, margin, 10, 1 / np.sqrt(1000))
    outcome = solve(case)
    assert outcome.objective <= objective(case, truth) * (1 + 1e-9)
    assert 0 < outcome.gap < 0.03
    assert outcome.termination is not Termination.TIME_LIMIT


@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_the_time_limit_is_kept_and_never_called_a_proof(seconds: float) -> None:
    X, margin, truth = planted(200, 20, 300, seed=7)
    solve(Case(X[:5], margin, 2, 1.0))  # imports and the first solve are not the search's time
    started = time.monotonic()
    case = Case(X, margin, 20, 1.0)
    outcome = solve(case, seconds=seconds, warm_start=truth)
    assert time.monotonic() - started < seconds + 2
    assert outcome.termination is Termination.TIME_LIMIT
    assert outcome.gap > 1e-6
    assert outcome.objective <= objective(case, truth) * (1 + 1e-9)


@pytest.mark.parametrize("gamma", [1e-12, 1e-3, 1.0, 1e3])
def test_room_for_every_column_is_proven_without_a_search(gamma: float) -> None:
    X, margin, _ = planted(5, 2, 80, seed=10)
    X[2] = 0
    outcome = solve(Case(X, margin, 4, gamma))
    np.testing.assert_array_equal(outcome.model.support, [0, 1, 3, 4])
    assert outcome.termination is Termination.PROVEN
    assert outcome.rounds == 0


def test_fewer_samples_than_features_in_the_model() -> None:
    X, margin, _ = planted(30, 3, 8, seed=12)
    outcome = solve(Case(X, margin, 12, 1e4), seconds=1.0)
    assert 0 <= outcome.bound <= outcome.objective < 0.1


def test_one_sample_of_a_class_is_enough() -> None:
    X, _, _ = planted(8, 2, 60, seed=13)
    case = Case(X, Margin.of(np.where(np.arange(60) == 7, 1.0, -1.0)), 2, 0.1)
    outcome = solve(case)
    assert outcome.objective == pytest.approx(brute_force(case), rel=1e-5)
    assert outcome.bound <= brute_force(case)


def test_labels_of_one_class_are_honestly_left_open() -> None:
    X, _, _ = planted(8, 2, 40, seed=14)
    outcome = solve(Case(X, Margin.of(np.ones(40)), 2, 1.0), seconds=2.0)
    assert 0 <= outcome.bound <= outcome.objective < 1e-6


def test_without_a_basis() -> None:
    X, margin, _ = planted(8, 2, 60, seed=15)
    case = Case(X, Margin.of(margin.y, basis=np.empty((0, 60))), 2, 0.1)
    outcome = solve(case)
    assert outcome.objective == pytest.approx(brute_force(case), rel=1e-5)
    assert outcome.termination is Termination.PROVEN
    assert free_part(case.margin, np.zeros(60)).shape == (0,)


def test_equal_inputs_give_equal_bits() -> None:
    X, margin, _ = planted(25, 4, 100, seed=6)
    first, second = solve(Case(X, margin, 4, 0.02)), solve(Case(X, margin, 4, 0.02))
    np.testing.assert_array_equal(first.model.weights, second.model.weights)
    assert (first.bound, first.rounds, first.termination) == (second.bound, second.rounds, second.termination)


def test_bad_input_is_refused() -> None:
    X, margin, _ = planted(5, 2, 20, seed=16)
    with pytest.raises(InvalidDataError, match="does not fit 20 labels"):
        solve(Case(X[:, :10], margin, 2, 1.0))
    with pytest.raises(InvalidSettingError, match="n_nonzero"):
        solve(Case(X, margin, 0, 1.0))
    with pytest.raises(InvalidSettingError, match="gamma"):
        solve(Case(X, margin, 2, np.inf))
