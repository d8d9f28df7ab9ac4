from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from exact_cases import Case, brute_force, draw_case, objective, planted

from backbone_dask.exact.outer_approximation import fit_outer_approximation
from backbone_dask.values import Outcome, SparseFit, Termination

NOWHERE = np.empty(0, np.int64)


def solve(case: Case, *, warm_start: np.ndarray = NOWHERE, seconds: float = 30.0) -> Outcome[SparseFit]:
    return fit_outer_approximation(
        case.X,
        case.y - case.y.mean(),
        n_nonzero=case.n_nonzero,
        gamma=case.gamma,
        warm_start=warm_start,
        seconds=seconds,
        gap_tolerance=1e-6,
    )


@pytest.mark.parametrize("seed", range(60))
def test_brute_force_agrees(seed: int) -> None:
    case = draw_case(seed)
    best = brute_force(case)
    outcome = solve(case)
    assert outcome.bound <= best
    assert outcome.objective == pytest.approx(objective(case.X, case.y, outcome.model.support, case.gamma), rel=1e-6)
    assert outcome.objective == pytest.approx(best, rel=2e-6)
    assert outcome.gap > 0
    assert (outcome.termination is Termination.PROVEN) == (outcome.gap <= 1e-6)
    assert outcome.model.support.size <= case.n_nonzero
    assert case.X[outcome.model.support].any(axis=1).all()
    assert (outcome.model.weights != 0).all()


@pytest.mark.parametrize("gamma", [1.0, 1e4, 1e8])
def test_an_almost_perfect_fit_is_proven_or_honestly_left_open(gamma: float) -> None:
    X, _, truth = planted(10, 2, 30, seed=13)
    case = Case(X, np.ones(2) @ X[truth].astype(np.float64), 2, gamma)
    outcome = solve(case)
    assert outcome.bound <= brute_force(case)
    np.testing.assert_array_equal(outcome.model.support, truth)
    assert (outcome.termination is Termination.PROVEN) == (outcome.gap <= 1e-6)


def test_most_small_problems_are_proven() -> None:
    ended = [solve(draw_case(seed)).termination for seed in range(100, 120)]
    assert ended.count(Termination.PROVEN) >= 19


def test_the_planted_truth_is_matched_or_beaten_and_the_gap_is_small() -> None:
    X, y, truth = planted(150, 20, 2000, seed=5)
    gamma = 1 / np.sqrt(2000)
    outcome = solve(Case(X, y, 20, gamma))
    assert outcome.objective <= objective(X, y, truth, gamma) * (1 + 1e-9)
    assert 0 < outcome.gap < 0.05
    assert outcome.termination is not Termination.TIME_LIMIT
    assert outcome.seconds < 20


def test_equal_inputs_give_equal_bits() -> None:
    X, y, _ = planted(25, 4, 100, seed=6)
    first, second = solve(Case(X, y, 4, 0.05)), solve(Case(X, y, 4, 0.05))
    np.testing.assert_array_equal(first.model.support, second.model.support)
    np.testing.assert_array_equal(first.model.weights, second.model.weights)
    assert (first.bound, first.rounds, first.termination) == (second.bound, second.rounds, second.termination)


@pytest.mark.parametrize("seconds", [0.0, 0.15])
def test_the_time_limit_is_kept_and_never_called_a_proof(seconds: float) -> None:
    X, y, _ = planted(200, 20, 300, seed=7)
    solve(Case(X[:5], y, 2, 1.0))  # imports and the first solve are not the search's time
    started = time.monotonic()
    outcome = solve(Case(X, y, 20, 1.0), seconds=seconds)
    assert time.monotonic() - started < seconds + 1.5
    assert outcome.termination is Termination.TIME_LIMIT
    assert outcome.gap > 1e-6


def test_threads_of_one_process_wait_for_each_other_and_end() -> None:
    X, y, _ = planted(30, 5, 100, seed=8)
    outcomes: list[Outcome[SparseFit]] = []
    threads = [threading.Thread(target=lambda: outcomes.append(solve(Case(X, y, 5, 0.01)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(outcomes) == 3
    assert len({outcome.bound for outcome in outcomes}) == 1


def test_a_good_warm_start_is_never_lost() -> None:
    X, y, truth = planted(80, 10, 60, seed=9)
    outcome = solve(Case(X, y, 10, 1.0), warm_start=np.concatenate([truth, [3, 5, 7]]), seconds=2)
    assert outcome.objective <= objective(X, y, truth, 1.0) * (1 + 1e-9)


@pytest.mark.parametrize("gamma", [1e-8, 1.0, 1e8])
def test_room_for_every_column_is_proven_without_a_search(gamma: float) -> None:
    X, y, _ = planted(5, 2, 40, seed=10)
    X[2] = 0
    outcome = solve(Case(X, y, 4, gamma))
    np.testing.assert_array_equal(outcome.model.support, [0, 1, 3, 4])
    assert outcome.termination is Termination.PROVEN
    assert outcome.objective == pytest.approx(objective(X, y, [0, 1, 3, 4], gamma))
    assert outcome.bound <= outcome.objective


@pytest.mark.parametrize("y", [np.zeros(20), np.full(20, 7.0)])
def test_a_target_without_variance_needs_no_feature(y: np.ndarray) -> None:
    X, _, _ = planted(6, 2, 20, seed=11)
    outcome = solve(Case(X, y, 2, 1.0))
    assert outcome.model.support.size == 0
    assert (outcome.objective, outcome.gap, outcome.termination) == (0.0, 0.0, Termination.PROVEN)


def test_constant_columns_alone_give_the_empty_model() -> None:
    y = np.arange(20.0)
    outcome = solve(Case(np.zeros((4, 20), np.float32), y, 2, 1.0))
    assert outcome.model.support.size == 0
    assert outcome.objective == pytest.approx(0.5 * y.var() * 20)
    assert outcome.termination is Termination.PROVEN


def test_of_two_equal_columns_the_gap_is_still_proven() -> None:
    X, y, _ = planted(8, 2, 50, seed=12)
    outcome = solve(Case(np.vstack([X, X]), y, 2, 1.0))
    assert outcome.objective == pytest.approx(brute_force(Case(np.vstack([X, X]), y, 2, 1.0)))
    assert outcome.termination is Termination.PROVEN
