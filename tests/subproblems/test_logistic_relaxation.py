"""SR-REL with logistic loss against literal oracles: c(S) by scikit-learn or BFGS, all supports by enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.losses.logistic import Margin, curvature, dual_vector, fit, free_part
from backbone_dask.losses.logistic_dual import feasible
from backbone_dask.subproblems.logistic_ascent import ascend, dual_point
from backbone_dask.subproblems.logistic_relaxation import fit_logistic_relaxation
from backbone_dask.subproblems.logistic_swaps import Curved, weighted_squares
from backbone_dask.subproblems.logistic_task import Task
from backbone_dask.subproblems.relaxation import relevant_of
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import SparseFit


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with one_blas_thread():
        yield


def standardised(raw: np.ndarray) -> np.ndarray:
    centred = raw - raw.mean(axis=1, keepdims=True)
    scale = centred.std(axis=1, keepdims=True)
    return np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 1e-9).astype(np.float32)


def planted(seed: int, n: int, p: int, k: int, rho: float, snr: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((p, n))
    for j in range(1, p):
        X[j] = rho * X[j - 1] + math.sqrt(1 - rho**2) * X[j]
    truth = np.sort(rng.choice(p, k, replace=False))
    signal = rng.choice([-1.0, 1.0], k) @ X[truth]
    noisy = signal + rng.standard_normal(n) * signal.std() / math.sqrt(snr)
    return standardised(X), np.where(noisy > 0, 1.0, -1.0), truth


def solve(
    X: np.ndarray, margin: Margin, k: int, gamma: float | None = None, start: np.ndarray | None = None
) -> SparseFit:
    return fit_logistic_relaxation(X, margin, n_nonzero=k, gamma=gamma, start=start, seed=0)


def value(X: np.ndarray, margin: Margin, support: np.ndarray | tuple[int, ...], gamma: float) -> float:
    return fit(margin, X[list(support)].astype(float), gamma).objective


@given(st.integers(0, 2**32 - 1), st.integers(3, 14), st.integers(1, 9), st.integers(1, 12), st.floats(-4, 4))
@settings(max_examples=60)
def test_promises_hold_on_any_data(seed: int, n: int, p: int, k: int, log_gamma: float) -> None:
    rng = np.random.default_rng(seed)
    # Small integers make constant, duplicate and dependent columns common, and so are labels that a column separates.
    X = standardised(rng.integers(-1, 2, (p, n)).astype(float))
    y = rng.choice([-1.0, 1.0], n)
    y[:2] = 1.0, -1.0
    margin, gamma = Margin.of(y, rng.uniform(0.5, 1.5, n)), 10**log_gamma
    found = solve(X, margin, k, gamma)
    assert found.n_columns == p
    assert found.support.size == found.weights.size <= k
    assert (np.diff(found.support) > 0).all()
    assert np.isfinite(found.weights).all()
    assert X[found.support].any(axis=1).all()
    assert found.objective == pytest.approx(value(X, margin, found.support, gamma), rel=1e-6)
    assert found.objective <= value(X, margin, (), gamma) * (1 + 1e-9)


def test_the_objective_is_that_of_scikit_learn_on_the_support() -> None:
    X, y, _ = planted(0, 300, 40, 4, 0.5, 5)
    found = solve(X, Margin.of(y), 4, 0.1)
    rows = X[found.support].astype(float)
    peer = LogisticRegression(C=0.1, tol=1e-12).fit(rows.T, y)
    u = peer.coef_[0] @ rows + peer.intercept_
    literal = np.log1p(np.exp(-y * u)).sum() + (peer.coef_**2).sum() / 0.2
    assert found.objective == pytest.approx(literal, rel=1e-8)
    np.testing.assert_allclose(free_part(Margin.of(y), found.weights @ rows), peer.intercept_, atol=1e-4)


@pytest.mark.parametrize("seed", range(9))
def test_no_single_swap_is_better(seed: int) -> None:
    X, y, _ = planted(seed, 80, 14, 3, 0.8, 3)
    margin, gamma = Margin.of(y), [0.01, 0.1, 1.0][seed % 3]
    found = solve(X, margin, 3, gamma)
    outside = np.setdiff1d(np.arange(14), found.support)
    swapped = [np.append(np.delete(found.support, i), j) for i in range(3) for j in outside]
    assert found.objective <= min(value(X, margin, support, gamma) for support in swapped) * (1 + 1e-3)


def test_enumeration_agrees_nearly_always() -> None:
    hits = 0
    for seed in range(100, 115):
        X, y, _ = planted(seed, 60, 10, 3, 0.8, 3)
        margin = Margin.of(y)
        best = min(value(X, margin, support, 0.1) for support in itertools.combinations(range(10), 3))
        hits += solve(X, margin, 3, 0.1).objective <= best * (1 + 1e-8)
    assert hits >= 13


@pytest.mark.parametrize("seed", range(3))
def test_planted_features_are_found(seed: int) -> None:
    X, y, truth = planted(seed, 2000, 1000, 10, 0.9, 10)
    assert relevant_of(solve(X, Margin.of(y), 10))[truth].sum() >= 9


@pytest.mark.parametrize("seed", range(3))
def test_never_worse_than_a_lasso_of_the_same_size(seed: int) -> None:
    X, y, _ = planted(seed, 300, 200, 8, 0.7, 2)
    margin, gamma = Margin.of(y), 1 / math.sqrt(300)
    found = solve(X, margin, 8, gamma)
    for c in np.geomspace(0.01, 1, 15):
        lasso = LogisticRegression(l1_ratio=1, C=c, solver="liblinear", tol=1e-4, random_state=0).fit(X.T, y)
        support = np.flatnonzero(lasso.coef_[0])
        if support.size <= 8:
            assert found.objective <= value(X, margin, support, gamma) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_no_dual_point_lies_above_any_support(seed: int) -> None:
    X, y, _ = planted(seed, 60, 10, 3, 0.5, 2)
    task = Task(X, Margin.of(y), 3, 0.1)
    best = min(value(X, task.margin, support, 0.1) for support in itertools.combinations(range(10), 3))
    rng = np.random.default_rng(seed)
    for _ in range(20):
        point = dual_point(task, feasible(task.margin, y * rng.random(60)).a)
        assert point.bound <= best * (1 + 1e-6)
        assert abs(point.a.sum()) < 1e-8


def test_the_ascent_rises() -> None:
    X, y, truth = planted(1, 500, 100, 5, 0.5, 5)
    task = Task(X, Margin.of(y), 5, 0.05)
    first = dual_point(task, task.nothing().fit.dual)
    start = task.choose(first.support, task.nothing())
    best = ascend(task)
    assert best.fit.objective <= start.fit.objective
    assert np.isin(truth, best.columns).sum() >= 4


@pytest.mark.parametrize("with_covariate", [False, True])
def test_the_swap_table_is_the_quadratic_model(with_covariate: bool) -> None:
    """Every swap's fall, from the literal minimum of the second-order expansion at the fit."""
    X, y, _ = planted(3, 50, 7, 2, 0.6, 2)
    basis = np.stack([np.ones(50), np.arange(50) / 25 - 1])[: 1 + with_covariate]
    task = Task(X, Margin.of(y, basis=basis), 2, 0.5)
    choice = task.choose(np.array([1, 4]), task.nothing())
    curved = Curved.at(task, choice).of(X, choice.columns)
    places, falls = curved.best_partners(task, choice, X.astype(float) @ choice.fit.dual)
    u, h = choice.fit.predictor, curvature(task.margin, choice.fit.predictor)

    def model(support: list[int]) -> float:
        design = np.concatenate([X[support].astype(float), basis])

        def height(point: np.ndarray) -> float:
            move = point @ design - u
            ridge = (point[: len(support)] ** 2).sum() / (2 * task.gamma)
            return float(-choice.fit.dual @ move + 0.5 * h @ move**2 + ridge)

        return float(minimize(height, np.zeros(len(design)), tol=1e-12).fun)

    for j in (0, 2, 3, 5, 6):
        table = [model([1, 4]) - model([j, 4]), model([1, 4]) - model([1, j])]
        assert falls[j] == pytest.approx(max(table), rel=1e-3, abs=1e-5)
        if abs(table[0] - table[1]) > 1e-3:
            assert places[j] == np.argmax(table)
    assert not falls[[1, 4]].any()


def test_weighted_squares_are_literal() -> None:
    X, y, _ = planted(4, 33, 9, 2, 0.6, 2)
    h = curvature(Margin.of(y), np.linspace(-2, 2, 33))
    np.testing.assert_allclose(weighted_squares(X, h), (X.astype(float) ** 2) @ h, rtol=1e-5)


def test_a_metric_is_kept_until_the_curvature_has_moved() -> None:
    X, y, _ = planted(5, 100, 10, 2, 0.3, 5)
    task = Task(X, Margin.of(y), 2, 1.0)
    best = ascend(task)
    curved = Curved.at(task, best)
    assert curved.is_near(task, best)
    assert not curved.is_near(task, task.nothing())
    np.testing.assert_allclose(curved.h, curvature(task.margin, best.fit.predictor))


def test_a_start_is_never_made_worse_and_may_have_any_size() -> None:
    X, y, truth = planted(6, 200, 60, 5, 0.9, 3)
    margin = Margin.of(y)
    for start in ([], truth[:2], truth, np.arange(20), [7]):
        found = solve(X, margin, 5, 0.1, np.array(start, np.int64))
        assert found.support.size == 5
        if len(start) <= 5:
            assert found.objective <= value(X, margin, tuple(start), 0.1) * (1 + 1e-9)


def test_starts_lead_along_k_to_as_good_an_end() -> None:
    X, y, _ = planted(7, 400, 100, 6, 0.8, 4)
    margin, support = Margin.of(y), np.empty(0, np.int64)
    for k in (2, 4, 6):
        support = solve(X, margin, k, 0.05, support).support
    assert value(X, margin, support, 0.05) <= solve(X, margin, 6, 0.05).objective * 1.005


@pytest.mark.parametrize("gamma", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("k", [1, 5])
def test_extreme_gammas(gamma: float, k: int) -> None:
    X, y, truth = planted(8, 60, 30, 1, 0.2, 50)
    X = np.concatenate([X, X[:3]])
    found = solve(X, Margin.of(y), k, gamma)
    assert np.isfinite(found.weights).all()
    assert found.support.size >= 1
    if gamma <= 1e-6:
        assert found.support.size == k
        assert truth[0] in found.support or truth[0] + 30 in found.support


def test_more_features_than_samples_in_the_model() -> None:
    X, y, _ = planted(9, 10, 60, 2, 0.2, 2)
    found = solve(X, Margin.of(y), 15, 100.0)
    assert 0 < found.objective < 1
    assert found.support.size <= 15


def test_one_sample_of_a_class() -> None:
    X, _, _ = planted(10, 60, 30, 2, 0.2, 2)
    y = np.where(np.arange(60) == 5, 1.0, -1.0)
    found = solve(X, Margin.of(y), 2, 0.1)
    assert found.objective < value(X, Margin.of(y), (), 0.1)


def test_labels_of_one_class_are_no_error() -> None:
    X, _, _ = planted(11, 40, 30, 2, 0.2, 2)
    assert solve(X, Margin.of(np.ones(40)), 3, 1.0).objective < 1e-6


def test_covariates_are_in_every_model() -> None:
    """A covariate that explains the labels leaves nothing for its own column to add."""
    X, _, _ = planted(12, 300, 30, 2, 0.0, 2)
    signal = 2 * X[3].astype(float) + X[8]
    y = np.where(signal + np.random.default_rng(0).logistic(size=300) > 0, 1.0, -1.0)
    basis = np.stack([np.ones(300), X[3].astype(float)])
    assert solve(X, Margin.of(y, basis=basis), 1, 0.1).support.tolist() == [8]
    assert solve(X, Margin.of(y), 1, 0.1).support.tolist() == [3]


def test_without_a_basis_there_is_no_intercept() -> None:
    X, y, _ = planted(13, 60, 12, 2, 0.2, 2)
    margin = Margin.of(y, basis=np.empty((0, 60)))
    found = solve(X, margin, 2, 0.1)
    best = min(value(X, margin, support, 0.1) for support in itertools.combinations(range(12), 2))
    assert found.objective == pytest.approx(best, rel=1e-8)
    np.testing.assert_allclose(
        found.weights, 0.1 * X[found.support] @ dual_vector(margin, found.weights @ X[found.support]), rtol=1e-3
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_bits_do_not_depend_on_threads(threads: int) -> None:
    X, y, _ = planted(14, 500, 200, 5, 0.9, 2)
    alone = solve(X, Margin.of(y), 5)
    with threadpool_limits(threads):
        again = solve(X, Margin.of(y), 5)
    assert alone.weights.tobytes() == again.weights.tobytes()
    assert alone.objective == again.objective


def test_bad_input_is_refused() -> None:
    X, y, _ = planted(15, 20, 5, 2, 0.2, 2)
    margin = Margin.of(y)
    with pytest.raises(InvalidDataError, match="does not fit 20 labels"):
        solve(X[:, :10], margin, 2)
    for k, gamma in ((0, 1.0), (2, 0.0), (2, np.inf), (2, np.nan)):
        with pytest.raises(InvalidSettingError):
            solve(X, margin, k, gamma)
    X[2, 3] = np.nan
    for start in (None, np.array([0])):
        with pytest.raises(InvalidDataError, match="not finite"):
            solve(X, margin, 2, 1.0, start)
