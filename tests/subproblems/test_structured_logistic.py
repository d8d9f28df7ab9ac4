"""SR-REL for structured classification against all sets of groups, each solved by L-BFGS-B on the samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.losses.logistic import Margin
from backbone_dask.losses.logistic_dual import feasible
from backbone_dask.structure import Structure
from backbone_dask.subproblems.logistic_ascent import dual_point
from backbone_dask.subproblems.logistic_relaxation import fit_logistic_relaxation
from backbone_dask.subproblems.structured_logistic import GroupCurved, GroupTask, fit_structured_logistic
from backbone_dask.testing.literal import least_logistic
from backbone_dask.testing.planted import planted
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import SparseFit


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with one_blas_thread():
        yield


def table(seed: int, n: int, p: int, k: int, rho: float = 0.7, snr: float = 2.0) -> tuple[np.ndarray, Margin]:
    made = planted(n_samples=n, n_features=p, n_relevant=k, rho=rho, snr=snr, seed=seed)
    return made.X, Margin.of(np.where(made.y > np.median(made.y), 1.0, -1.0))


def mixed_groups(seed: int, n_columns: int, n_groups: int, nonnegative: bool) -> Structure:
    drawn = np.random.default_rng(seed).integers(0, n_groups, n_columns)
    return Structure(np.unique(drawn, return_inverse=True)[1].astype(np.int64), nonnegative)


def literal(X: np.ndarray, margin: Margin, columns: np.ndarray, gamma: float, nonnegative: bool) -> float:
    return least_logistic(margin, X[columns].astype(float), gamma, nonnegative=nonnegative)


def best_of_all(X: np.ndarray, margin: Margin, structure: Structure, k: int, gamma: float) -> float:
    sets = combinations(range(structure.n_groups), min(k, structure.n_groups))
    return min(literal(X, margin, structure.columns_of(np.array(s)), gamma, structure.nonnegative) for s in sets)


def fit(
    X: np.ndarray, margin: Margin, structure: Structure, k: int, gamma: float, start: np.ndarray | None = None
) -> SparseFit:
    return fit_structured_logistic(X, margin, structure, n_nonzero=k, gamma=gamma, start=start, seed=0)


def check_promises(X: np.ndarray, margin: Margin, structure: Structure, k: int, gamma: float, found: SparseFit) -> None:
    assert found.n_columns == X.shape[0]
    assert structure.groups_of(found.support).size <= k
    assert (np.diff(found.support) > 0).all()
    assert np.isfinite(found.weights).all()
    assert (found.weights > 0).all() if structure.nonnegative else (found.weights != 0).all()
    assert X[found.support].any(axis=1).all()
    loss = least_logistic(margin, X[:0], gamma, offset=found.weights @ X[found.support].astype(float))
    assert found.objective == pytest.approx(loss + found.weights @ found.weights / (2 * gamma), rel=1e-6, abs=1e-7)
    groups = structure.columns_of(structure.groups_of(found.support))
    expected = literal(X, margin, groups, gamma, structure.nonnegative)
    assert found.objective == pytest.approx(expected, rel=1e-5, abs=1e-6)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(3, 14),
    st.integers(1, 9),
    st.integers(1, 9),
    st.floats(-4, 4),
    st.booleans(),
)
@settings(max_examples=80)
def test_promises_hold_on_any_data(seed: int, n: int, p: int, k: int, log_gamma: float, nonnegative: bool) -> None:
    rng = np.random.default_rng(seed)
    # Small integers make constant, duplicate and dependent columns common, and so are labels that a column separates.
    raw = rng.integers(-1, 2, (p, n)).astype(float)
    raw -= raw.mean(axis=1, keepdims=True)
    spread = raw.std(axis=1, keepdims=True)
    X = np.divide(raw, spread, out=np.zeros_like(raw), where=spread > 1e-9).astype(np.float32)
    y, weights = rng.choice([-1.0, 1.0], n), rng.uniform(0.5, 1.5, n) * (rng.random(n) > 0.2)
    y[:2], weights[:2] = (1.0, -1.0), 1.0
    margin, structure = Margin.of(y, weights), mixed_groups(seed, p, int(rng.integers(1, p + 1)), nonnegative)
    found = fit(X, margin, structure, k, 10**log_gamma)
    check_promises(X, margin, structure, k, 10**log_gamma, found)
    assert found.objective <= literal(X, margin, np.empty(0, np.int64), 1.0, nonnegative) * (1 + 1e-9)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_near_the_best_of_all_sets_of_groups(k: int, nonnegative: bool) -> None:
    exact = 0
    for seed in range(12):
        X, margin = table(seed, 40, 12, 4)
        structure = mixed_groups(seed, 12, 8, nonnegative)
        best = best_of_all(X, margin, structure, k, 0.2)
        found = fit(X, margin, structure, k, 0.2)
        assert best * (1 - 1e-6) <= found.objective <= best * 1.05
        exact += found.objective <= best * (1 + 1e-6)
    assert exact >= 11


@pytest.mark.parametrize("seed", range(12))
def test_groups_of_one_are_as_good_as_the_plain_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, k, gamma = int(rng.integers(30, 200)), int(rng.integers(1, 9)), 10 ** rng.uniform(-3, 0)
    X, margin = table(seed, int(rng.integers(60, 150)), p, k, rho=float(rng.choice([0, 0.5, 0.9])))
    plain = fit_logistic_relaxation(X, margin, n_nonzero=k, gamma=gamma, seed=0)
    found = fit(X, margin, Structure.single(p), k, gamma)
    np.testing.assert_array_equal(found.support, plain.support)
    assert found.objective == pytest.approx(plain.objective, rel=1e-9)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_planted_groups_are_recovered_with_covariates_and_weights(nonnegative: bool) -> None:
    n, rng = 1500, np.random.default_rng(5)
    X, _ = table(5, n, 400, 1, rho=0.5)
    structure = Structure(np.arange(400) // 4, nonnegative)
    truth = np.sort(rng.choice(100, 4, replace=False))
    columns, age = structure.columns_of(truth), rng.standard_normal(n)
    signs = 1.0 if nonnegative else rng.choice([-1.0, 1.0], columns.size)
    odds = (signs * rng.uniform(0.5, 1, columns.size)) @ X[columns] + 3 * age
    y = np.where(odds + rng.logistic(size=n) > 1, 1.0, -1.0)
    margin = Margin.of(y, rng.integers(0, 3, n).astype(float), np.stack([np.ones(n), age]))
    assert structure.groups_of(fit(X, margin, structure, 4, 0.05).support).tolist() == truth.tolist()


@pytest.mark.parametrize("nonnegative", [False, True])
def test_no_dual_point_lies_above_any_set_of_groups(nonnegative: bool) -> None:
    X, margin = table(4, 40, 9, 2)
    structure = mixed_groups(4, 9, 5, nonnegative)
    best, task = best_of_all(X, margin, structure, 2, 0.3), GroupTask(X, margin, 2, 0.3, structure)
    for q in np.random.default_rng(0).random((30, 40)):
        assert dual_point(task, feasible(margin, margin.y * q).a).bound <= best * (1 + 1e-5)


@pytest.mark.parametrize("room", [0, 1])
def test_swaps_are_those_of_the_quadratic_model(room: int) -> None:
    """The fall of the best swap of every group, from the model's minimum on the features after it."""
    X, margin = table(3, 60, 10, 2)
    structure = Structure(np.array([0, 1, 1, 2, 0, 3, 3, 3, 4, 2]), False)
    task = GroupTask(X, margin, 2 + room, 0.5, structure)
    choice = task.choose(np.array([1, 3]), task.nothing())
    curved = GroupCurved.within(task, choice).of(X, choice.columns)
    places, falls = curved.best_partners(task, choice, X.astype(float) @ choice.fit.dual)
    pool = task.pool(choice, np.array([0, 2, 4]))
    for group in (0, 2, 4):
        kept = [np.array([1, 3])] if room else [np.array([3]), np.array([1])]
        expected = [task.proposal(pool, np.append(left, group)).fall for left in kept]
        assert falls[group] == pytest.approx(max(expected), rel=1e-3, abs=1e-5)
        if room == 0 and abs(expected[0] - expected[1]) > 1e-3:
            assert places[group] == np.argmax(expected)
    assert not falls[[1, 3]].any()


@pytest.mark.parametrize("nonnegative", [False, True])
def test_room_for_every_group_gives_the_fit_on_all(nonnegative: bool) -> None:
    X, margin = table(6, 40, 9, 3)
    structure = mixed_groups(6, 9, 5, nonnegative)
    for k in (structure.n_groups, 50):
        expected = literal(X, margin, np.arange(9), 0.1, nonnegative)
        assert fit(X, margin, structure, k, 0.1).objective == pytest.approx(expected, rel=1e-6)


def test_columns_that_all_speak_against_the_labels_give_the_empty_model() -> None:
    X, _ = table(7, 30, 8, 2, rho=0.9)
    X = np.ascontiguousarray(X * np.sign(X @ X[0])[:, None])
    margin = Margin.of(np.where(X.sum(axis=0) < 0, 1.0, -1.0))
    found = fit(X, margin, mixed_groups(7, 8, 4, True), 2, 1.0)
    assert found.support.size == 0
    assert found.objective == pytest.approx(literal(X, margin, np.empty(0, np.int64), 1.0, True))


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("gamma", [1e-12, 1e12])
def test_gamma_may_be_extreme_and_columns_equal(gamma: float, nonnegative: bool) -> None:
    X, margin = table(8, 60, 6, 2)
    X = np.concatenate([X, X])
    structure = mixed_groups(8, 12, 6, nonnegative)
    found = fit(X, margin, structure, 2, gamma)
    check_promises(X, margin, structure, 2, gamma, found)
    best = best_of_all(X, margin, structure, 2, gamma)
    assert best * (1 - 1e-6) <= found.objective <= best * (1 + min(gamma, 0.05))


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_start_is_never_made_worse_and_may_have_any_size(nonnegative: bool) -> None:
    X, margin = table(13, 60, 120, 5, rho=0.97, snr=50)
    structure = mixed_groups(13, 120, 60, nonnegative)
    for seed in range(5):
        start = np.random.default_rng(seed).choice(120, 4, replace=False)
        value = literal(X, margin, structure.columns_of(structure.groups_of(start)), 1.0, nonnegative)
        assert fit(X, margin, structure, 4, 1.0, start).objective <= value * (1 + 1e-9)
    everywhere = fit(X, margin, structure, 4, 1.0, np.arange(120))
    check_promises(X, margin, structure, 4, 1.0, everywhere)


def test_labels_of_one_class_and_columns_of_zeros_are_no_error() -> None:
    X, margin = table(10, 20, 6, 2)
    structure = Structure(np.arange(6) // 2, True)
    assert fit(X, Margin.of(np.ones(20)), structure, 2, 1.0).objective < 1e-6
    for data in (np.zeros_like(X), X[:0]):
        assert fit(data, margin, Structure.single(len(data), nonnegative=True), 2, 1.0).support.size == 0


def test_wrong_input_is_refused() -> None:
    X, margin = table(14, 20, 6, 2)
    broken = X.copy()
    broken[2, 3] = np.nan
    for data, structure in ((X[:, :10], Structure.single(6)), (broken, Structure.single(6)), (X, Structure.single(5))):
        with pytest.raises(InvalidDataError):
            fit(data, margin, structure, 2, 1.0)
    for k, gamma in ((0, 1.0), (2, 0.0), (2, math.nan), (2, math.inf)):
        with pytest.raises(InvalidSettingError):
            fit(X, margin, Structure.single(6), k, gamma)
