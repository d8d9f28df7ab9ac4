"""Structured classification against all sets of groups, each solved by L-BFGS-B on the samples."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logistic_exact_cases import Case, draw_case, planted

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.exact.face import Face
from backbone_dask.exact.logistic_incumbent import improve
from backbone_dask.exact.logistic_outer_approximation import fit_logistic_outer_approximation
from backbone_dask.exact.logistic_perspective import solve_logistic_relaxation
from backbone_dask.exact.structured_logistic import LogisticGroups, fit_structured_logistic_outer_approximation
from backbone_dask.losses.logistic import Margin
from backbone_dask.structure import Structure
from backbone_dask.testing.literal import least_logistic
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import Outcome, SparseFit, Termination

NOWHERE = np.empty(0, np.int64)
TOLERANCE = 1e-6
PROVABLE = 1 + 1e-11
"""The literal value is an upper bound; its own sum rounds."""


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with one_blas_thread():
        yield


def literal(case: Case, columns: np.ndarray, nonnegative: bool) -> float:
    return least_logistic(case.margin, case.X[columns].astype(float), case.gamma, nonnegative=nonnegative)


def brute_force(case: Case, structure: Structure) -> float:
    sets = combinations(range(structure.n_groups), min(case.n_nonzero, structure.n_groups))
    return min(literal(case, structure.columns_of(np.array(s)), structure.nonnegative) for s in sets)


def grouped(seed: int, case: Case, nonnegative: bool) -> Structure:
    rng = np.random.default_rng([7, seed])
    drawn = rng.integers(0, max(len(case.X) - int(rng.integers(0, 4)), 1), len(case.X))
    return Structure(np.unique(drawn, return_inverse=True)[1].astype(np.int64), nonnegative)


def troubled(seed: int) -> Case:
    """As other cases, and some with every column twice, some with samples that do not count."""
    case, rng = draw_case(seed), np.random.default_rng([5, seed])
    X = np.concatenate([case.X[:4], case.X[:4]]) if seed % 3 == 1 else case.X
    weights = case.margin.weights * (rng.random(case.margin.y.size) > 0.4 * (seed % 4 == 1))
    weights[:2] = 1.0
    return replace(case, X=X, margin=Margin.of(case.margin.y, weights, case.margin.basis))


def solve(
    case: Case, structure: Structure, *, warm_start: np.ndarray = NOWHERE, seconds: float = 20.0
) -> Outcome[SparseFit]:
    return fit_structured_logistic_outer_approximation(
        case.X,
        case.margin,
        structure,
        n_nonzero=case.n_nonzero,
        gamma=case.gamma,
        warm_start=warm_start,
        seconds=seconds,
        gap_tolerance=TOLERANCE,
    )


def groups_of(case: Case, structure: Structure) -> LogisticGroups:
    return LogisticGroups.restricted(case.X, case.margin, case.gamma, structure, np.flatnonzero(case.X.any(axis=1)))


def check_promises(case: Case, structure: Structure, outcome: Outcome[SparseFit]) -> None:
    model = outcome.model
    assert structure.groups_of(model.support).size <= case.n_nonzero
    assert (np.diff(model.support) > 0).all()
    assert (model.weights > 0).all() if structure.nonnegative else (model.weights != 0).all()
    assert case.X[model.support].any(axis=1).all()
    offset = model.weights @ case.X[model.support].astype(float)
    loss = least_logistic(case.margin, case.X[:0], case.gamma, offset=offset)
    penalty = model.weights @ model.weights / (2 * case.gamma)
    assert outcome.objective == model.objective == pytest.approx(loss + penalty, rel=1e-8, abs=1e-9)
    assert 0 <= outcome.bound <= outcome.objective
    assert (outcome.termination is Termination.PROVEN) == (outcome.gap <= TOLERANCE)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_brute_force_agrees(seed: int, nonnegative: bool) -> None:
    case = troubled(seed)
    structure = grouped(seed, case, nonnegative)
    best = brute_force(case, structure)
    outcome = solve(case, structure)
    check_promises(case, structure, outcome)
    assert outcome.bound <= best * PROVABLE
    assert outcome.objective == pytest.approx(best, rel=1e-4)
    assert outcome.objective <= best * (1 + 2 * TOLERANCE) or outcome.termination is not Termination.PROVEN


@pytest.mark.parametrize("nonnegative", [False, True])
def test_most_small_problems_are_proven(nonnegative: bool) -> None:
    cases = [(seed, draw_case(seed)) for seed in range(100, 120)]
    ended = [solve(case, grouped(seed, case, nonnegative)).termination for seed, case in cases]
    assert ended.count(Termination.PROVEN) >= 18


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([1e-12, 1e-6, 1.0, 1e6, 1e12]), st.booleans())
def test_bounds_hold_at_every_gamma(seed: int, gamma: float, nonnegative: bool) -> None:
    case = replace(troubled(seed), gamma=gamma)
    structure = grouped(seed, case, nonnegative)
    outcome = solve(case, structure, seconds=0.3)
    best = brute_force(case, structure)
    check_promises(case, structure, outcome)
    assert outcome.bound <= best * PROVABLE
    if gamma < 1:  # 1e-9: where the basis separates the labels, the least value is 0
        assert outcome.objective == pytest.approx(best, rel=1e-4, abs=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.booleans())
def test_every_relaxation_lies_below_every_point_of_its_face(seed: int, other: int, nonnegative: bool) -> None:
    case = troubled(seed)
    data = groups_of(case, grouped(seed, case, nonnegative))
    rng, count = np.random.default_rng(other), data.n_features
    support = np.sort(rng.choice(count, min(case.n_nonzero, count), replace=False))
    face = Face.whole(count, case.n_nonzero).fix(rng.permutation(count)[: rng.integers(0, count + 1)], support)
    found = solve_logistic_relaxation(data, face)
    value = least_logistic(case.margin, data.X[data.columns_of(support)], case.gamma, nonnegative=nonnegative)
    assert found.bound <= value * PROVABLE
    assert found.cut.intercept - found.cut.slopes[support].sum() <= value * PROVABLE


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_cut_of_a_fit_touches_its_groups_and_lies_below_all_others(seed: int, nonnegative: bool) -> None:
    case = troubled(seed)
    data = groups_of(case, grouped(seed, case, nonnegative))
    size = min(case.n_nonzero, data.n_features)
    cut = data.cut_at(data.evaluate(np.arange(size)))
    for chosen in combinations(range(data.n_features), size):
        rows = data.X[data.columns_of(np.array(chosen))]
        value = least_logistic(case.margin, rows, case.gamma, nonnegative=nonnegative)
        height = cut.intercept - cut.slopes[list(chosen)].sum()
        assert height <= value * PROVABLE
        if chosen == tuple(range(size)):
            assert height == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("gamma", [1e-3, 0.05, 1.0])
def test_the_relaxation_is_solved(gamma: float, nonnegative: bool) -> None:
    X, margin, _ = planted(60, 8, 150, seed=4)
    case = Case(X, margin, 5, gamma)
    data = groups_of(case, grouped(4, case, nonnegative))
    found = solve_logistic_relaxation(data, Face.whole(data.n_features, 5), tolerance=1e-6)
    assert 0 <= found.objective - found.bound <= 1e-6 * found.objective
    assert found.z.sum() <= 5 * (1 + 1e-9)


@pytest.mark.parametrize("gamma", [1e-3, 0.05, 1.0])
def test_without_structure_it_agrees_with_the_plain_solver(gamma: float) -> None:
    X, margin, _ = planted(16, 3, 100, seed=3)
    case = Case(X, margin, 3, gamma)
    found = solve(case, Structure.single(16))
    limits = {"warm_start": NOWHERE, "seconds": 20.0, "gap_tolerance": TOLERANCE}
    plain = fit_logistic_outer_approximation(X, margin, n_nonzero=3, gamma=gamma, **limits)
    np.testing.assert_array_equal(plain.model.support, found.model.support)
    assert plain.termination is found.termination
    assert plain.objective == pytest.approx(found.objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_no_swap_of_groups_improves_an_incumbent(seed: int) -> None:
    X, margin, _ = planted(14, 4, 60, seed=seed)
    case = Case(X, margin, 2, 0.1)
    data = groups_of(case, grouped(seed, case, False))
    found = improve(data, np.arange(data.n_features), 2, np.inf)
    for entering in np.setdiff1d(np.arange(data.n_features), found.support):
        for leaving in range(found.support.size):
            swapped = np.append(np.delete(found.support, leaving), entering)
            value = least_logistic(margin, data.X[data.columns_of(swapped)], 0.1)
            assert value >= found.objective * (1 - 1e-3)


@pytest.mark.parametrize(("seconds", "nonnegative"), [(0.0, False), (0.0, True), (0.3, False)])
def test_the_time_limit_is_kept_and_never_called_a_proof(seconds: float, nonnegative: bool) -> None:
    X, margin, truth = planted(240, 20, 150, seed=7)
    structure = Structure(np.arange(240) // 2, nonnegative)
    case = Case(X, margin, 20, 1.0)
    solve(replace(case, X=X[:6]), structure.restrict(np.arange(6)))  # compilation is not the search's time
    started = time.monotonic()
    outcome = solve(case, structure, seconds=seconds, warm_start=truth)
    assert time.monotonic() - started < seconds + 2
    assert outcome.termination is Termination.TIME_LIMIT
    assert outcome.gap > TOLERANCE
    known = literal(case, structure.columns_of(structure.groups_of(truth)), nonnegative)
    assert outcome.bound <= outcome.objective <= known * (1 + 1e-9)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_one_group_and_room_for_all(k: int, nonnegative: bool) -> None:
    X, margin, _ = planted(10, 3, 60, seed=10)
    X[2] = 0
    case, structure = Case(X, margin, k, 0.1), Structure(np.array([0, 0, 1, 1, 2, 3, 3, 3, 2, 0]), nonnegative)
    outcome = solve(case, structure)
    assert outcome.termination is Termination.PROVEN
    assert outcome.objective == pytest.approx(brute_force(case, structure), rel=2e-6)
    assert 2 not in outcome.model.support
    if k >= 4:
        assert outcome.rounds == 0


@pytest.mark.parametrize("k", [2, 4])
def test_columns_that_all_speak_against_the_labels_give_the_empty_model(k: int) -> None:
    X, _, _ = planted(8, 2, 30, seed=7)
    X = X * np.sign(X @ X[0])[:, None]
    margin = Margin.of(np.where(X.sum(axis=0) < 0, 1.0, -1.0))
    assert (X @ (margin.y - margin.y.mean()) < 0).all()
    outcome = solve(Case(X, margin, k, 1.0), Structure(np.arange(8) // 2, True))
    assert outcome.model.support.size == 0
    assert outcome.objective == pytest.approx(literal(Case(X, margin, k, 1.0), NOWHERE, True))
    assert outcome.termination is Termination.PROVEN


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_good_warm_start_is_never_lost(nonnegative: bool) -> None:
    X, margin, _ = planted(80, 10, 60, seed=9)
    structure = Structure(np.random.default_rng(9).permutation(80) // 3, nonnegative)
    case = Case(X, margin, 5, 1.0)
    known = solve(case, structure, seconds=0.5)
    again = solve(case, structure, warm_start=known.model.support[::-1], seconds=0)
    assert again.objective <= known.objective * (1 + 1e-9)
    check_promises(case, structure, solve(case, structure, warm_start=np.arange(80), seconds=0))


@pytest.mark.parametrize("nonnegative", [False, True])
def test_labels_of_one_class_are_honestly_left_open(nonnegative: bool) -> None:
    X, _, _ = planted(8, 2, 40, seed=14)
    outcome = solve(Case(X, Margin.of(np.ones(40)), 2, 1.0), Structure(np.arange(8) // 2, nonnegative), seconds=1.0)
    assert 0 <= outcome.bound <= outcome.objective < 1e-6


def test_equal_inputs_give_equal_bits() -> None:
    X, margin, _ = planted(25, 4, 100, seed=6)
    structure = Structure(np.arange(25) // 2, True)
    first, second = (solve(Case(X, margin, 3, 0.05), structure) for _ in range(2))
    np.testing.assert_array_equal(first.model.support, second.model.support)
    np.testing.assert_array_equal(first.model.weights, second.model.weights)
    assert (first.bound, first.rounds, first.termination) == (second.bound, second.rounds, second.termination)


def test_bad_input_is_refused() -> None:
    X, margin, _ = planted(6, 2, 20, seed=11)
    with pytest.raises(InvalidDataError, match="restrict"):
        solve(Case(X, margin, 2, 1.0), Structure.single(5))
    with pytest.raises(InvalidDataError, match="does not fit 20 labels"):
        solve(Case(X[:, :10], margin, 2, 1.0), Structure.single(6))
    for k, gamma in ((0, 1.0), (2, np.inf)):
        with pytest.raises(InvalidSettingError):
            solve(Case(X, margin, k, gamma), Structure.single(6))
