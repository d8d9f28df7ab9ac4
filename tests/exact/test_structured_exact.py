"""The structured exact solver against all sets of groups, each solved by scipy on the samples."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from exact_cases import Case, draw_case, planted
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from backbone_dask.errors import InvalidDataError
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram
from backbone_dask.exact.outer_approximation import fit_outer_approximation
from backbone_dask.exact.perspective import solve_relaxation
from backbone_dask.exact.structured_gram import GroupedGram
from backbone_dask.exact.structured_incumbent import improve_groups
from backbone_dask.exact.structured_outer_approximation import fit_structured_outer_approximation
from backbone_dask.exact.structured_perspective import solve_group_relaxation
from backbone_dask.structure import Structure
from backbone_dask.values import Outcome, SparseFit, Termination

NOWHERE = np.empty(0, np.int64)


def literal(case: Case, columns: np.ndarray, nonnegative: bool) -> float:
    """c(S) as least squares with extra rows."""
    if len(columns) == 0:
        return 0.5 * float(case.y @ case.y)
    rows = case.X[columns].astype(float)
    design = np.vstack([rows.T, np.eye(len(rows)) / math.sqrt(case.gamma)])
    target = np.concatenate([case.y, np.zeros(len(rows))])
    weights = nnls(design, target)[0] if nonnegative else np.linalg.lstsq(design, target)[0]
    return 0.5 * float(np.sum((target - design @ weights) ** 2))


def brute_force(case: Case, structure: Structure) -> float:
    sets = combinations(range(structure.n_groups), min(case.n_nonzero, structure.n_groups))
    return min(literal(case, structure.columns_of(np.array(s)), structure.nonnegative) for s in sets)


def grouped(seed: int, case: Case, nonnegative: bool) -> Structure:
    rng = np.random.default_rng([7, seed])
    drawn = rng.integers(0, max(len(case.X) - int(rng.integers(0, 4)), 1), len(case.X))
    return Structure(np.unique(drawn, return_inverse=True)[1].astype(np.int64), nonnegative)


@cache
def problem(seed: int, nonnegative: bool) -> tuple[Case, Structure]:
    case = draw_case(seed)
    return case, grouped(seed, case, nonnegative)


def solve(
    case: Case, structure: Structure, *, warm_start: np.ndarray = NOWHERE, seconds: float = 30.0
) -> Outcome[SparseFit]:
    return fit_structured_outer_approximation(
        case.X,
        case.y,
        structure,
        n_nonzero=case.n_nonzero,
        gamma=case.gamma,
        warm_start=warm_start,
        seconds=seconds,
        gap_tolerance=1e-6,
    )


def check_promises(case: Case, structure: Structure, outcome: Outcome[SparseFit]) -> None:
    model = outcome.model
    assert structure.groups_of(model.support).size <= case.n_nonzero
    assert (np.diff(model.support) > 0).all()
    assert (model.weights > 0).all() if structure.nonnegative else (model.weights != 0).all()
    assert case.X[model.support].any(axis=1).all()
    residual = case.y - model.weights @ case.X[model.support].astype(float)
    objective = 0.5 * residual @ residual + model.weights @ model.weights / (2 * case.gamma)
    assert outcome.objective == model.objective == pytest.approx(objective, rel=1e-12)
    assert outcome.bound <= outcome.objective
    assert (outcome.termination is Termination.PROVEN) == (outcome.gap <= 1e-6)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_brute_force_agrees(seed: int, nonnegative: bool) -> None:
    case, structure = problem(seed, nonnegative)
    best = brute_force(case, structure)
    outcome = solve(case, structure)
    check_promises(case, structure, outcome)
    assert outcome.bound <= best
    assert outcome.objective == pytest.approx(best, rel=2e-6)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(1, 4), st.floats(-12, 12))
@settings(max_examples=40, deadline=None)
def test_bounds_hold_on_any_data(seed: int, nonnegative: bool, k: int, log_gamma: float) -> None:
    """Small integers make constant, equal and dependent columns, and perfect fits, common."""
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 9)), int(rng.integers(2, 12))
    raw = rng.integers(-1, 2, (p, n)).astype(float)
    raw -= raw.mean(axis=1, keepdims=True)
    spread = raw.std(axis=1, keepdims=True)
    X = np.divide(raw, spread, out=np.zeros_like(raw), where=spread > 1e-9).astype(np.float32)
    case = Case(X, rng.integers(-3, 4, n).astype(float), k, 10**log_gamma)
    structure = grouped(seed, case, nonnegative)
    outcome = solve(case, structure, seconds=2)
    check_promises(case, structure, outcome)
    assert outcome.bound <= brute_force(case, structure) + 1e-12 * float(case.y @ case.y)


@pytest.mark.parametrize("gamma", [1e-3, 0.05, 1.0])
def test_without_structure_it_agrees_with_the_plain_solver(gamma: float) -> None:
    X, y, _ = planted(16, 3, 100, seed=3)
    case = Case(X, y, 3, gamma)
    outcome = solve(case, Structure.single(16))
    plain = fit_outer_approximation(X, y, n_nonzero=3, gamma=gamma, warm_start=NOWHERE, seconds=30, gap_tolerance=1e-6)
    assert plain.termination is outcome.termination
    np.testing.assert_array_equal(plain.model.support, outcome.model.support)
    assert plain.objective == pytest.approx(outcome.objective, rel=1e-9)
    whole, gram = Face.whole(16, 3), Gram.of(X, y)
    ours = solve_group_relaxation(GroupedGram.of(gram, Structure.single(16)), whole, gamma)
    assert ours.bound == pytest.approx(solve_relaxation(gram, whole, gamma).bound, rel=1e-5)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("gamma", [1e-3, 0.05, 1.0, 1e3])
def test_the_relaxation_is_solved(gamma: float, nonnegative: bool) -> None:
    X, y, _ = planted(60, 8, 150, seed=4)
    grouping = grouped(4, Case(X, y, 8, gamma), nonnegative)
    found = solve_group_relaxation(
        GroupedGram.of(Gram.of(X, y), grouping), Face.whole(grouping.n_groups, 5), gamma, tolerance=1e-6
    )
    assert 0 <= found.objective - found.bound <= 1e-6 * found.objective
    assert found.z.sum() <= 5 * (1 + 1e-9)
    assert found.rounds < 100


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_a_cut_at_any_weights_lies_below_the_value_of_every_set(seed: int, nonnegative: bool) -> None:
    case, structure = problem(seed, nonnegative)
    data = GroupedGram.of(Gram.of(case.X, case.y), structure)
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal(len(case.X)) * np.sqrt(data.gram.yy / data.gram.n_samples)
    cuts = [data.cut(weights, case.gamma), data.best_length_cut(weights, case.gamma, Face.whole(data.n_features, 1))]
    for chosen in combinations(range(data.n_features), min(case.n_nonzero, data.n_features)):
        value = literal(case, structure.columns_of(np.array(chosen)), nonnegative)
        assert all(cut.intercept - cut.slopes[list(chosen)].sum() <= value for cut in cuts)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_cut_of_a_fit_touches_its_groups(seed: int, nonnegative: bool) -> None:
    case, structure = problem(seed, nonnegative)
    data = GroupedGram.of(Gram.of(case.X, case.y), structure)
    groups = np.arange(min(case.n_nonzero, data.n_features))
    cut = data.cut(data.evaluate(groups, case.gamma).weights, case.gamma)
    value = literal(case, structure.columns_of(groups), nonnegative)
    assert cut.intercept - cut.slopes[groups].sum() == pytest.approx(value, rel=1e-6, abs=1e-9 * data.gram.yy)


@pytest.mark.parametrize("noise", [0.0, 1e-9])
@pytest.mark.parametrize("seed", range(5))
def test_slopes_are_not_below_the_exact_ones(seed: int, noise: float) -> None:
    """Near-cancelling products, in exact rational arithmetic: rounding must not make a positive X_j'a negative."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.standard_normal((1, 30)), 6, axis=0) + 1e-6 * rng.standard_normal((6, 30))
    X, y = X.astype(np.float32), 3 * X[0]
    if noise:
        X[1:3] = X[0]
        y = 3 * X[0].astype(float) + noise * rng.standard_normal(30)
    structure = Structure(np.array([0, 1, 0, 2, 2, 2]), True)
    weights = np.array([1e8, -1e8, 3.0, 0.0, 0.0, 0.0])
    cut = GroupedGram.of(Gram.of(X, y), structure).cut(weights, 1.0)
    rows = [[Fraction(float(value)) for value in row] for row in X]
    a = [
        Fraction(float(y[i])) - sum(Fraction(float(w)) * row[i] for w, row in zip(weights, rows, strict=True))
        for i in range(30)
    ]
    exact = [max(sum(x * r for x, r in zip(row, a, strict=True)), Fraction(0)) ** 2 / 2 for row in rows]
    for group in range(3):
        total = sum(exact[j] for j in structure.columns_of(np.array([group])))
        assert Fraction(float(cut.slopes[group])) >= total


@pytest.mark.parametrize("seed", range(8))
def test_no_swap_of_groups_improves_an_incumbent(seed: int) -> None:
    case, structure = problem(seed, False)
    case = Case(case.X, case.y, case.n_nonzero, min(case.gamma, 1e3))
    data = GroupedGram.of(Gram.of(case.X, case.y), structure)
    found = improve_groups(data, np.arange(data.n_features), case.n_nonzero, case.gamma)
    outside = np.setdiff1d(np.arange(data.n_features), found.support)
    for entering in outside:
        for leaving in range(found.support.size):
            swapped = structure.columns_of(np.append(np.delete(found.support, leaving), entering))
            assert literal(case, swapped, False) >= found.objective - 1e-9 * data.gram.yy


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("gamma", [1e-12, 1e12])
@pytest.mark.parametrize("copies", [1, 2])
def test_gamma_may_be_extreme_and_columns_equal(gamma: float, nonnegative: bool, copies: int) -> None:
    X, y, _ = planted(8, 2, 50, seed=12)
    case = Case(np.concatenate([X] * copies), y, 2, gamma)
    structure = grouped(12, case, nonnegative)
    outcome = solve(case, structure)
    check_promises(case, structure, outcome)
    best = brute_force(case, structure)
    assert outcome.bound <= best * (1 + 1e-12)
    assert outcome.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_one_group_and_room_for_all(k: int, nonnegative: bool) -> None:
    X, y, _ = planted(10, 3, 60, seed=10)
    X[2] = 0
    case, structure = Case(X, y, k, 0.1), Structure(np.array([0, 0, 1, 1, 2, 3, 3, 3, 2, 0]), nonnegative)
    outcome = solve(case, structure)
    assert outcome.termination is Termination.PROVEN
    assert outcome.objective == pytest.approx(brute_force(case, structure), rel=2e-6)
    if k >= 4:
        assert outcome.rounds == 0


@pytest.mark.parametrize("k", [1, 3])
def test_a_target_of_zeros_needs_no_feature(k: int) -> None:
    X, _, _ = planted(6, 2, 20, seed=11)
    outcome = solve(Case(X, np.zeros(20), k, 1.0), Structure(np.arange(6) // 2, True))
    assert outcome.model.support.size == 0
    assert (outcome.objective, outcome.gap, outcome.termination) == (0.0, 0.0, Termination.PROVEN)


@pytest.mark.parametrize("k", [2, 4])
def test_correlations_that_are_all_negative_give_the_empty_model(k: int) -> None:
    X, _, _ = planted(8, 2, 30, seed=7)
    X = X * np.sign(X @ X[0])[:, None]
    y = -X.sum(axis=0).astype(float)
    assert (X @ y < 0).all()
    outcome = solve(Case(X, y, k, 1.0), Structure(np.arange(8) // 2, True))
    assert outcome.model.support.size == 0
    assert outcome.objective == pytest.approx(0.5 * float(y @ y))
    assert outcome.termination is Termination.PROVEN


def test_the_target_is_not_centred() -> None:
    X, y, _ = planted(8, 2, 50, seed=14)
    structure = Structure(np.arange(8) // 2, False)
    plain, raised = solve(Case(X, y, 2, 0.1), structure), solve(Case(X, y + 3.0, 2, 0.1), structure)
    assert raised.objective - plain.objective == pytest.approx(0.5 * 50 * 9.0, rel=1e-4)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_the_time_limit_is_kept_and_never_called_a_proof(seconds: float, nonnegative: bool) -> None:
    X, y, _ = planted(200, 20, 300, seed=7)
    structure = Structure(np.arange(200) // 3, nonnegative)
    solve(Case(X[:12], y, 2, 1.0), structure.restrict(np.arange(12)))  # compilation is not the search's time
    started = time.monotonic()
    case = Case(X, y, 10, 1.0)
    outcome = solve(case, structure, seconds=seconds)
    assert time.monotonic() - started < seconds + 2.0
    check_promises(case, structure, outcome)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_good_warm_start_is_never_lost(nonnegative: bool) -> None:
    X, y, _ = planted(80, 10, 60, seed=9)
    structure = Structure(np.random.default_rng(9).permutation(80) // 3, nonnegative)
    case = Case(X, y, 5, 1.0)
    known = solve(case, structure, seconds=1)
    again = solve(case, structure, warm_start=known.model.support[::-1], seconds=0)
    assert again.objective <= known.objective * (1 + 1e-9)
    check_promises(case, structure, solve(case, structure, warm_start=np.arange(80), seconds=0))


def test_equal_inputs_give_equal_bits() -> None:
    X, y, _ = planted(25, 4, 100, seed=6)
    structure = Structure(np.arange(25) // 2, True)
    first, second = (solve(Case(X, y, 3, 0.05), structure) for _ in range(2))
    np.testing.assert_array_equal(first.model.support, second.model.support)
    np.testing.assert_array_equal(first.model.weights, second.model.weights)
    assert (first.bound, first.rounds, first.termination) == (second.bound, second.rounds, second.termination)


def test_a_structure_of_other_columns_is_refused() -> None:
    X, y, _ = planted(6, 2, 20, seed=11)
    with pytest.raises(InvalidDataError, match="restrict"):
        solve(Case(X, y, 2, 1.0), Structure.single(5))
