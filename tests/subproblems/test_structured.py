"""Structured SR-REL against literal oracles: scipy on the samples, all sets of groups, the plain solver."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.losses.structured import ActiveFit
from backbone_dask.losses.structured_swaps import GroupBlocks, swap_falls
from backbone_dask.structure import Structure
from backbone_dask.subproblems.relaxation import fit_relaxation
from backbone_dask.subproblems.structured import fit_structured
from backbone_dask.subproblems.structured_ascent import group_dual_point
from backbone_dask.subproblems.structured_task import StructuredTask
from backbone_dask.subproblems.task import Task
from backbone_dask.testing.planted import planted
from backbone_dask.values import SparseFit


def literal(X: np.ndarray, y: np.ndarray, columns: np.ndarray, gamma: float, nonnegative: bool) -> float:
    """c(S) as least squares with extra rows."""
    if len(columns) == 0:
        return 0.5 * float(y @ y)
    rows = X[columns].astype(float)
    design = np.vstack([rows.T, np.eye(len(rows)) / math.sqrt(gamma)])
    target = np.concatenate([y, np.zeros(len(rows))])
    weights = nnls(design, target)[0] if nonnegative else np.linalg.lstsq(design, target)[0]
    return 0.5 * float(np.sum((target - design @ weights) ** 2))


def best_of_all(X: np.ndarray, y: np.ndarray, structure: Structure, k: int, gamma: float) -> float:
    sets = combinations(range(structure.n_groups), min(k, structure.n_groups))
    return min(literal(X, y, structure.columns_of(np.array(s)), gamma, structure.nonnegative) for s in sets)


def mixed_groups(seed: int, n_columns: int, n_groups: int, nonnegative: bool) -> Structure:
    drawn = np.random.default_rng(seed).integers(0, n_groups, n_columns)
    return Structure(np.unique(drawn, return_inverse=True)[1].astype(np.int64), nonnegative)


def table(seed: int, n: int, p: int, k: int, rho: float = 0.7, snr: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    made = planted(n_samples=n, n_features=p, n_relevant=k, rho=rho, snr=snr, seed=seed)
    return made.X, made.y - made.y.mean()


def fit(X: np.ndarray, y: np.ndarray, structure: Structure, k: int, gamma: float) -> SparseFit:
    return fit_structured(X, y, structure, n_nonzero=k, gamma=gamma, seed=0)


def check_promises(X: np.ndarray, y: np.ndarray, structure: Structure, k: int, gamma: float, found: SparseFit) -> None:
    assert found.n_columns == X.shape[0]
    assert structure.groups_of(found.support).size <= k
    assert (np.diff(found.support) > 0).all()
    assert np.isfinite(found.weights).all()
    assert (found.weights > 0).all() if structure.nonnegative else (found.weights != 0).all()
    assert X[found.support].any(axis=1).all()
    residual = y - found.weights @ X[found.support].astype(float)
    objective = 0.5 * residual @ residual + found.weights @ found.weights / (2 * gamma)
    assert found.objective == pytest.approx(objective, rel=1e-9, abs=1e-12 * float(y @ y))
    groups = structure.columns_of(structure.groups_of(found.support))
    assert objective == pytest.approx(
        literal(X, y, groups, gamma, structure.nonnegative), rel=1e-6, abs=1e-9 * float(y @ y)
    )


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 12),
    st.integers(1, 9),
    st.integers(1, 9),
    st.floats(-4, 4),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_promises_hold_on_any_data(seed: int, n: int, p: int, k: int, log_gamma: float, nonnegative: bool) -> None:
    rng = np.random.default_rng(seed)
    # Small integers make constant, duplicate and dependent columns common.
    raw = rng.integers(-1, 2, (p, n)).astype(float)
    raw -= raw.mean(axis=1, keepdims=True)
    spread = raw.std(axis=1, keepdims=True)
    X = np.divide(raw, spread, out=np.zeros_like(raw), where=spread > 1e-9).astype(np.float32)
    y = rng.integers(-3, 4, n) * 10.0 ** rng.integers(-5, 6)
    structure = mixed_groups(seed, p, int(rng.integers(1, p + 1)), nonnegative)
    found = fit(X, y, structure, k, 10**log_gamma)
    check_promises(X, y, structure, k, 10**log_gamma, found)
    assert found.objective <= 0.5 * float(y @ y) * (1 + 1e-12)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_near_the_best_of_all_sets_of_groups(k: int, nonnegative: bool) -> None:
    exact = 0
    for seed in range(12):
        X, y = table(seed, 25, 14, 4)
        structure = mixed_groups(seed, 14, 8, nonnegative)
        best = best_of_all(X, y, structure, k, 0.2)
        found = fit(X, y, structure, k, 0.2)
        assert best * (1 - 1e-9) <= found.objective <= best * 1.05
        exact += found.objective <= best * (1 + 1e-6)
    assert exact >= 11


def test_without_structure_it_is_as_good_as_the_plain_solver() -> None:
    """The same moves are made, so the same optimum is found; rounding may part the ways on one of 40 problems."""
    worse = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, p, k = int(rng.integers(20, 80)), int(rng.integers(30, 200)), int(rng.integers(1, 12))
        X, y = table(seed, n, p, k, rho=float(rng.choice([0, 0.5, 0.9])), snr=float(rng.choice([0.5, 2, 10])))
        gamma = 10 ** rng.uniform(-3, 1)
        plain = fit_relaxation(X, y, n_nonzero=k, gamma=gamma, seed=0).objective
        found = fit(X, y, Structure.single(p), k, gamma).objective
        worse += found > plain * (1 + 1e-6)
    assert worse <= 1


@given(st.integers(0, 2**32 - 1), st.floats(-3, 2))
@settings(max_examples=15, deadline=None)
def test_no_single_swap_of_groups_helps_at_return(seed: int, log_gamma: float) -> None:
    X, y = table(seed, 25, 24, 4)
    structure, gamma = mixed_groups(seed, 24, 12, False), 10**log_gamma
    found = fit(X, y, structure, 3, gamma)
    groups = structure.groups_of(found.support)
    for leaving in range(groups.size):
        for entering in np.setdiff1d(np.arange(structure.n_groups), groups):
            swapped = structure.columns_of(np.append(np.delete(groups, leaving), entering))
            assert literal(X, y, swapped, gamma, False) >= found.objective - 1e-6 * float(y @ y)


def test_falls_of_all_swaps_are_those_of_the_refits() -> None:
    X, y = table(21, 30, 12, 3)
    structure, gamma = Structure(np.array([0, 1, 1, 2, 0, 3, 3, 3, 4, 2, 1, 4]), False), 0.2
    rows, members = X.astype(float), np.array([1, 2])
    columns = structure.columns_of(members)
    gram = rows[columns] @ rows[columns].T
    weights = np.linalg.solve(gram + np.eye(columns.size) / gamma, rows[columns] @ y)
    active = ActiveFit.of(gram, weights, gamma, structure.groups[columns])
    scores, products = rows @ (y - weights @ rows[columns]), rows @ rows[columns].T
    of_gram = GroupBlocks.of_gram(rows @ rows.T, structure)
    h = np.random.default_rng(21).random(30)
    of_rows, weighted = GroupBlocks.of_rows(X, structure, h), GroupBlocks.of_gram((rows * h) @ rows.T, structure)
    np.testing.assert_allclose(of_rows.products, weighted.products, rtol=1e-4, atol=1e-4)
    falls = swap_falls(of_gram, active, products, scores, gamma)
    before = literal(X, y, columns, gamma, False)
    for entering in (0, 3, 4):
        kept = [np.array([2]), np.array([1]), members]
        after = [literal(X, y, structure.columns_of(np.append(s, entering)), gamma, False) for s in kept]
        np.testing.assert_allclose(falls[entering], before - np.array(after), rtol=1e-6, atol=1e-9 * before)


def test_a_nonnegative_addition_to_nothing_is_exact() -> None:
    X, y = table(22, 30, 12, 3)
    structure, rows = mixed_groups(22, 12, 5, True), X.astype(float)
    nothing = ActiveFit.of(np.empty((0, 0)), np.empty(0), 0.2, np.empty(0, np.int64))
    blocks = GroupBlocks.of_gram(rows @ rows.T, structure)
    falls = swap_falls(blocks, nothing, rows @ rows[:0].T, rows @ y, 0.2)[:, 0]
    for group in range(structure.n_groups):
        after = literal(X, y, structure.columns_of(np.array([group])), 0.2, True)
        assert falls[group] == pytest.approx(0.5 * float(y @ y) - after, rel=1e-2, abs=1e-9 * float(y @ y))


@pytest.mark.parametrize("nonnegative", [False, True])
def test_dual_bounds_lie_below_every_set_of_groups(nonnegative: bool) -> None:
    X, y = table(4, 15, 9, 2)
    structure = mixed_groups(4, 9, 5, nonnegative)
    best = best_of_all(X, y, structure, 2, 0.3)
    for a in np.random.default_rng(0).standard_normal((50, 15)) + y:
        assert group_dual_point(StructuredTask(Task(X, y, 2, 0.3), structure), a).bound <= best * (1 + 1e-5)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_planted_groups_are_recovered(nonnegative: bool) -> None:
    X, _ = table(5, 400, 1_200, 1, rho=0.8)
    structure = Structure(np.arange(1_200) // 4, nonnegative)
    rng = np.random.default_rng(5)
    truth = np.sort(rng.choice(300, 6, replace=False))
    columns = structure.columns_of(truth)
    signs = 1.0 if nonnegative else rng.choice([-1.0, 1.0], columns.size)
    signal = (signs * rng.uniform(0.5, 1, columns.size)) @ X[columns]
    y = signal + rng.standard_normal(400) * signal.std() / math.sqrt(3)
    found = fit(X, y, structure, 6, 0.05)
    assert structure.groups_of(found.support).tolist() == truth.tolist()


@pytest.mark.parametrize("nonnegative", [False, True])
def test_room_for_every_group_gives_the_fit_on_all(nonnegative: bool) -> None:
    X, y = table(6, 30, 9, 3)
    structure = mixed_groups(6, 9, 5, nonnegative)
    for k in (structure.n_groups, 50):
        expected = literal(X, y, np.arange(9), 0.1, nonnegative)
        assert fit(X, y, structure, k, 0.1).objective == pytest.approx(expected, rel=1e-9)


def test_correlations_that_are_all_negative_give_the_empty_model() -> None:
    X, _ = table(7, 30, 8, 2, rho=0.9)
    X = np.ascontiguousarray(X * np.sign(X @ X[0])[:, None])
    found = fit(X, -X.sum(axis=0).astype(float), mixed_groups(7, 8, 4, True), 2, 1.0)
    assert found.support.size == 0
    assert found.objective == pytest.approx(0.5 * float(np.sum(X.sum(axis=0).astype(float) ** 2)))


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("gamma", [1e-300, 1e-12, 1e12, 1e300])
def test_gamma_may_be_extreme(gamma: float, nonnegative: bool) -> None:
    X, y = table(8, 40, 10, 2)
    X = np.concatenate([X, X])
    structure = mixed_groups(8, 20, 8, nonnegative)
    found = fit(X, y, structure, 3, gamma)
    assert np.isfinite(found.weights).all()
    assert structure.groups_of(found.support).size <= 3
    if gamma in (1e-12, 1e12):
        best = best_of_all(X, y, structure, 3, gamma)
        assert best * (1 - 1e-9) <= found.objective <= best * (1 + min(gamma, 0.05))


def test_a_tiny_gamma_chooses_by_the_sum_of_squared_correlations() -> None:
    X, y = table(9, 40, 20, 2)
    structure = mixed_groups(9, 20, 9, False)
    expected = np.argsort(-structure.sums((X.astype(float) @ y) ** 2))[:3]
    found = fit(X, y, structure, 3, 1e-12)
    assert set(structure.groups_of(found.support)) == set(expected)


def test_a_target_of_zeros_and_columns_of_zeros() -> None:
    X, y = table(10, 20, 6, 2)
    for data, target in ((X, np.zeros(20)), (np.zeros_like(X), y), (X[:0], y)):
        found = fit(data, target, Structure.single(len(data), nonnegative=True), 2, 1.0)
        assert found.support.size == 0
        assert found.objective == pytest.approx(0.5 * float(target @ target))


@pytest.mark.parametrize("scale", [1e-160, 1e-20, 1e20, 1e140])
def test_the_scale_of_the_target_changes_only_the_scale_of_the_weights(scale: float) -> None:
    X, y = table(11, 50, 40, 4)
    structure = mixed_groups(11, 40, 15, True)
    plain, scaled = fit(X, y, structure, 3, 0.1), fit(X, y * scale, structure, 3, 0.1)
    np.testing.assert_array_equal(scaled.support, plain.support)
    np.testing.assert_allclose(scaled.weights / scale, plain.weights, rtol=1e-6)


def test_the_target_is_not_centred() -> None:
    X, y = table(12, 50, 20, 4)
    structure = mixed_groups(12, 20, 8, False)
    level = fit(X, y + 3.0, structure, 2, 0.1).objective - fit(X, y, structure, 2, 0.1).objective
    assert level == pytest.approx(0.5 * 50 * 9.0, rel=1e-4)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_good_start_is_never_lost(nonnegative: bool) -> None:
    X, y = table(13, 30, 120, 5, rho=0.97, snr=100)
    structure = mixed_groups(13, 120, 60, nonnegative)
    for seed in range(5):
        start = np.random.default_rng(seed).choice(120, 4, replace=False)
        value = literal(X, y, structure.columns_of(structure.groups_of(start)), 1.0, nonnegative)
        found = fit_structured(X, y, structure, n_nonzero=4, gamma=1.0, start=start, seed=0)
        assert found.objective <= value * (1 + 1e-9)
    everywhere = fit_structured(X, y, structure, n_nonzero=4, gamma=1.0, start=np.arange(120), seed=0)
    check_promises(X, y, structure, 4, 1.0, everywhere)


def test_wrong_input_is_refused() -> None:
    X, y = table(14, 20, 6, 2)
    structure = Structure.single(6)
    broken = X.copy()
    broken[2, 3] = np.nan
    for data, target, s in (
        (X, y[:-1], structure),
        (X[0], y, structure),
        (X, np.append(y[:-1], np.inf), structure),
        (broken, y, structure),
        (X, y, Structure.single(5)),
    ):
        with pytest.raises(InvalidDataError):
            fit(data, target, s, 2, 1.0)
    for k, gamma in ((0, 1.0), (2, 0.0), (2, -1.0), (2, math.nan), (2, math.inf)):
        with pytest.raises(InvalidSettingError):
            fit(X, y, structure, k, gamma)


@pytest.mark.parametrize("groups", [np.array([0, 2]), np.array([-1, 0]), np.array([[0]]), np.array([0.0])])
def test_groups_with_gaps_or_of_another_kind_are_refused(groups: np.ndarray) -> None:
    with pytest.raises(InvalidDataError, match="groups must be"):
        Structure(groups, False)


@given(st.lists(st.integers(0, 5), max_size=20), st.data())
def test_a_structure_restricted_keeps_who_belongs_together(drawn: list[int], data: st.DataObject) -> None:
    structure = Structure(np.unique(drawn, return_inverse=True)[1].astype(np.int64), True)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(drawn), max_size=len(drawn))), bool)
    part = structure.restrict(np.flatnonzero(mask))
    kept = structure.groups[mask]
    np.testing.assert_array_equal(part.groups[:, None] == part.groups, kept[:, None] == kept)
    assert part.n_columns == mask.sum()
    assert part.n_groups == len(set(kept.tolist()))
    scores = np.arange(len(drawn), dtype=float)
    expected = [scores[structure.groups == g].sum() for g in range(structure.n_groups)]
    assert structure.sums(scores).tolist() == expected
    order, starts = structure.by_group()
    for g in range(structure.n_groups):
        assert order[starts[g] : starts[g + 1]].tolist() == structure.columns_of(np.array([g])).tolist()
