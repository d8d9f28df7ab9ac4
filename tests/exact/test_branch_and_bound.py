from __future__ import annotations

import time

import numpy as np
import pytest
from exact_cases import NOWHERE, Case, draw_case, least, planted, standardised, value
from hypothesis import given, settings
from hypothesis import strategies as st

from backbone_dask.exact.branch_and_bound import fit_branch_and_bound
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram
from backbone_dask.exact.nodes import best_root
from backbone_dask.exact.outer_approximation import fit_outer_approximation
from backbone_dask.exact.perspective import solve_relaxation
from backbone_dask.values import Outcome, SparseFit, Termination


def solve(
    case: Case, *, warm_start: np.ndarray = NOWHERE, seconds: float = 30.0, tolerance: float = 1e-6
) -> Outcome[SparseFit]:
    return fit_branch_and_bound(
        case.X,
        case.y,
        n_nonzero=case.n_nonzero,
        gamma=case.gamma,
        warm_start=warm_start,
        seconds=seconds,
        gap_tolerance=tolerance,
    )


def checked(case: Case, outcome: Outcome[SparseFit], tolerance: float) -> None:
    """Against every support there is."""
    best, slack = least(case), 1e-9 * float(case.y @ case.y)
    assert 0 <= outcome.bound <= best + 1e-3 * slack
    assert outcome.bound <= best * (1 + 1e-9)
    assert outcome.objective >= best - slack
    assert outcome.model.support.size <= case.n_nonzero
    assert (np.diff(outcome.model.support) > 0).all()
    assert case.X[outcome.model.support].any(axis=1).all()
    assert (outcome.termination is Termination.PROVEN) == (outcome.gap <= max(tolerance, 1e-11))
    if outcome.termination is Termination.PROVEN:
        assert outcome.objective <= best * (1 + 2 * tolerance) + slack


@st.composite
def troubled_cases(draw: st.DrawFn) -> Case:
    """Few samples, copies, sums of columns, constants, and ridge weights of every size."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    p, n = draw(st.integers(1, 11)), draw(st.integers(3, 40))
    common = draw(st.sampled_from([0.0, 0.6, 0.99]))
    rows = np.sqrt(1 - common**2) * rng.standard_normal((p, n)) + common * rng.standard_normal(n)
    for trouble in draw(st.sets(st.sampled_from(["copy", "sum", "constant", "opposite"]))):
        i, j, k = rng.integers(0, p, 3)
        rows[i] = {"copy": rows[j], "sum": rows[j] + rows[k], "constant": 0 * rows[j], "opposite": -rows[j]}[trouble]
    signal = (rng.standard_normal(p) * (rng.random(p) < 0.4)) @ rows
    y = signal + draw(st.sampled_from([0.1, 1.0])) * rng.standard_normal(n) + draw(st.sampled_from([0.0, 2.0]))
    gamma = 10.0 ** draw(st.integers(-6, 4))
    return Case(standardised(rows), y * 10.0 ** draw(st.integers(-5, 5)), draw(st.integers(1, p)), gamma)


@given(troubled_cases(), st.sampled_from([1e-6, 1e-3, 0.1]))
@settings(max_examples=100, deadline=None)
def test_no_support_is_better_than_the_bound_says(case: Case, tolerance: float) -> None:
    checked(case, solve(case, tolerance=tolerance), tolerance)


@given(troubled_cases())
@settings(max_examples=60, deadline=None)
def test_a_loose_tolerance_does_not_claim_more_than_it_looked_at(case: Case) -> None:
    """What is given up for the tolerance may hold supports better than the incumbent."""
    outcome = solve(case, tolerance=0.5)
    assert outcome.bound <= least(case) * (1 + 1e-9) + 1e-12 * float(case.y @ case.y)


@pytest.mark.parametrize("seed", range(40))
def test_brute_force_agrees(seed: int) -> None:
    case = draw_case(seed)
    outcome = solve(case)
    checked(case, outcome, 1e-6)
    if case.gamma < 1e4:
        assert outcome.termination is Termination.PROVEN


@pytest.mark.parametrize("gamma", [1e-12, 1e12])
@pytest.mark.parametrize("seed", range(6))
def test_ridge_weights_at_both_ends_of_the_scale(gamma: float, seed: int) -> None:
    case = draw_case(seed)
    case = Case(case.X, case.y, case.n_nonzero, gamma)
    outcome = solve(case, tolerance=1e-3)
    checked(case, outcome, 1e-3)
    assert outcome.termination is Termination.PROVEN


@pytest.mark.parametrize("gamma", [1e8, 1e12])
def test_a_copy_of_a_column_is_no_obstacle_at_any_ridge_weight(gamma: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((16, 1000)).astype(np.float32)
    X[-1] = X[0]
    case = Case(X, X[:5].sum(0) + rng.standard_normal(1000), 5, gamma)
    outcome = solve(case, tolerance=1e-4)
    checked(case, outcome, 1e-4)
    assert outcome.termination is Termination.PROVEN


def test_a_root_that_proves_more_than_was_asked_is_not_kept_secret() -> None:
    X, y, _ = planted(60, 8, 1000, seed=0)
    case = Case(X, y, 8, 1 / np.sqrt(1000))
    outcome = solve(case, tolerance=0.2)
    root = best_root(Gram.of(X, y), 8, case.gamma, np.inf).node.bound
    assert root > 0.9 * outcome.objective
    assert outcome.bound == pytest.approx(root, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_solvers_agree_where_both_prove(seed: int) -> None:
    X, y, _ = planted(30, 5, 200, seed=seed)
    gamma = [0.01, 0.1, 1.0, 10.0][seed % 4] / np.sqrt(200)
    ours = solve(Case(X, y, 5, gamma))
    other = fit_outer_approximation(X, y, n_nonzero=5, gamma=gamma, warm_start=NOWHERE, seconds=1.5, gap_tolerance=1e-6)
    assert ours.termination is Termination.PROVEN
    assert ours.bound <= other.objective
    assert other.bound <= ours.objective
    if other.termination is Termination.PROVEN:
        assert other.objective == pytest.approx(ours.objective, rel=2e-6)


def test_a_problem_of_sixty_columns_is_proven_in_seconds() -> None:
    X, y, truth = planted(60, 8, 1000, seed=1)
    outcome = solve(Case(X, y, 8, 1 / np.sqrt(1000)), tolerance=1e-4)
    assert outcome.termination is Termination.PROVEN
    assert outcome.objective <= value(X, y, tuple(truth), 1 / np.sqrt(1000)) * (1 + 1e-9)
    assert outcome.seconds < 20


def test_an_equal_problem_gives_equal_bits() -> None:
    X, y, _ = planted(40, 6, 80, seed=6)
    first, second = solve(Case(X, y, 6, 0.5)), solve(Case(X, y, 6, 0.5))
    np.testing.assert_array_equal(first.model.support, second.model.support)
    np.testing.assert_array_equal(first.model.weights, second.model.weights)
    assert (first.bound, first.rounds, first.termination) == (second.bound, second.rounds, second.termination)
    assert first.rounds > 10


@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_the_time_limit_is_kept_and_never_called_a_proof(seconds: float) -> None:
    X, y, _ = planted(200, 20, 100, seed=7)
    solve(Case(X[:9], y, 2, 1.0))  # loading the compiled kernels is not the search's time
    started = time.monotonic()
    outcome = solve(Case(X, y, 20, 1.0), seconds=seconds)
    assert time.monotonic() - started < seconds + 1.5
    assert outcome.termination is Termination.TIME_LIMIT
    assert outcome.gap > 1e-6


def test_without_time_the_bound_is_still_that_of_the_relaxation() -> None:
    X, y, _ = planted(100, 10, 500, seed=8)
    outcome = solve(Case(X, y, 10, 0.01), seconds=0.0)
    relaxed = solve_relaxation(Gram.of(X, y), Face.whole(100, 10), 0.01)
    assert outcome.bound >= relaxed.bound * (1 - 1e-6)


def test_too_many_open_nodes_end_it_at_the_same_node_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backbone_dask.exact.branch_and_bound._MOST_BYTES", 30_000)
    X, y, _ = planted(80, 12, 60, seed=9)
    first, second = solve(Case(X, y, 12, 1.0)), solve(Case(X, y, 12, 1.0))
    assert first.termination is Termination.ROUND_LIMIT
    assert (first.bound, first.rounds) == (second.bound, second.rounds)


def test_a_good_warm_start_is_never_lost() -> None:
    X, y, truth = planted(80, 10, 60, seed=9)
    outcome = solve(Case(X, y, 10, 1.0), warm_start=np.concatenate([truth, [3, 5, 7]]), seconds=0.5)
    assert outcome.objective <= value(X, y, tuple(truth), 1.0) * (1 + 1e-9)


@pytest.mark.parametrize("gamma", [1e-12, 1e-8, 1.0, 1e8, 1e12])
def test_room_for_every_column_is_proven_without_a_search(gamma: float) -> None:
    X, y, _ = planted(5, 2, 40, seed=10)
    X[2] = 0
    outcome = solve(Case(X, y, 4, gamma))
    np.testing.assert_array_equal(outcome.model.support, [0, 1, 3, 4])
    assert outcome.termination is Termination.PROVEN
    assert outcome.objective == pytest.approx(value(X, y, (0, 1, 3, 4), gamma))


def test_the_target_is_taken_as_it_is() -> None:
    X, y, _ = planted(6, 2, 40, seed=11)
    outcome = solve(Case(X, y + 5, 2, 1.0))
    assert outcome.objective == pytest.approx(least(Case(X, y + 5, 2, 1.0)), rel=1e-6)
    assert outcome.objective > 0.5 * 40 * 25


def test_a_target_of_zeros_needs_no_feature() -> None:
    X, _, _ = planted(6, 2, 20, seed=11)
    outcome = solve(Case(X, np.zeros(20), 2, 1.0))
    assert outcome.model.support.size == 0
    assert (outcome.objective, outcome.gap, outcome.termination) == (0.0, 0.0, Termination.PROVEN)


def test_constant_columns_alone_give_the_empty_model() -> None:
    y = np.arange(20.0)
    outcome = solve(Case(np.zeros((4, 20), np.float32), y, 2, 1.0))
    assert outcome.model.support.size == 0
    assert outcome.objective == pytest.approx(0.5 * y @ y)
    assert outcome.termination is Termination.PROVEN


def test_fewer_samples_than_features_in_the_model() -> None:
    X, y, _ = planted(12, 3, 5, seed=12)
    case = Case(X, y, 8, 0.5)
    outcome = solve(case)
    checked(case, outcome, 1e-6)
    assert outcome.termination is Termination.PROVEN


@pytest.mark.parametrize("gamma", [1.0, 1e4, 1e8])
def test_an_almost_perfect_fit_is_proven_or_honestly_left_open(gamma: float) -> None:
    X, _, truth = planted(10, 2, 30, seed=13)
    case = Case(X, np.ones(2) @ X[truth].astype(np.float64), 2, gamma)
    outcome = solve(case, seconds=3)
    assert outcome.bound <= least(case)
    np.testing.assert_array_equal(outcome.model.support, truth)
