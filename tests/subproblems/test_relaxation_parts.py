"""What SR-REL is made of: products, swaps, starts and the averaged z."""

from __future__ import annotations

import itertools

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
)

from backbone_dask.errors import InvalidSettingError
from backbone_dask.subproblems.ascent import ascend
from backbone_dask.subproblems.products import correlate, largest
from backbone_dask.subproblems.relaxation import fit_relaxation, refine, started
from backbone_dask.subproblems.swaps import Neighbours, best_partners
from backbone_dask.subproblems.task import Task


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=12), st.integers(1, 14))
def test_largest_is_a_stable_sort(scores: list[float], count: int) -> None:
    order = sorted(range(len(scores)), key=lambda j: (-scores[j], j))[:count]
    expected = sorted(j for j in order if scores[j] > 0)
    assert largest(np.array(scores), count).tolist() == expected


@pytest.mark.parametrize("n", [1, 7, 8, 33, 1_000])
def test_correlate_is_the_product(n: int) -> None:
    rng = np.random.default_rng(n)
    X, a = rng.standard_normal((13, n)).astype(np.float32), rng.standard_normal(n)
    np.testing.assert_allclose(correlate(X, a), X.astype(float) @ a, atol=1e-5 * n**0.5)


def test_the_bits_of_a_product_do_not_depend_on_the_other_rows() -> None:
    X, y, _ = planted(20, n=333, p=11, k=2, rho=0.5, snr=2.0)
    together = correlate(X, y)
    for rows in ([3], [10, 3], [0, 1, 2, 4, 3], list(range(10, -1, -1))):
        assert correlate(X[rows], y).tobytes() == together[rows].tobytes()


def test_falls_of_all_swaps_are_those_of_the_refits() -> None:
    X, y, _ = planted(21, n=30, p=12, k=3, rho=0.7, snr=1.0)
    task = Task(X, y, 3, 0.2)
    members = np.array([1, 5, 8])
    choice = task.choose(task.pool(members), np.arange(3))
    scores = correlate(X, task.residual(choice))
    places, falls = best_partners(task, choice, Neighbours.none(X).of(X, members), scores)
    for j in np.setdiff1d(np.arange(12), members):
        after = [literal_objective(X, y, np.append(np.delete(members, i), j), 0.2) for i in range(3)]
        assert places[j] == int(np.argmin(after))
        assert falls[j] == pytest.approx(choice.fit.objective - min(after), abs=1e-5 * choice.fit.objective)
    assert falls[members].tolist() == [0, 0, 0]


def test_neighbours_of_another_support_are_those_made_afresh() -> None:
    X, _, _ = planted(22, n=30, p=12, k=3, rho=0.7, snr=1.0)
    first, second = np.array([1, 5, 8]), np.array([0, 5, 7, 8])
    after = Neighbours.none(X).of(X, first).of(X, second)
    np.testing.assert_allclose(after.products, X @ X[second].T, rtol=1e-5, atol=1e-4)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.lists(st.integers(0, 24), max_size=12))
@settings(max_examples=40, deadline=None)
def test_a_start_of_any_size_is_matched_or_beaten(seed: int, k: int, start: list[int]) -> None:
    X, y, _ = planted(seed, n=20, p=25, k=4, rho=0.8, snr=1.0)
    found = fit_relaxation(X, y, n_nonzero=k, gamma=0.3, seed=0, start=np.array(start, np.int64))
    check_promises(X, y, k, 0.3, found)
    if len(set(start)) <= k:
        assert found.objective <= literal_objective(X, y, np.unique(start).astype(int), 0.3) * (1 + 1e-6)


@pytest.mark.parametrize("seed", [76, 90, 250, 382])
def test_the_best_of_all_supports_is_kept_where_the_search_alone_misses_it(seed: int) -> None:
    X, y, _ = planted(seed, n=16, p=12, k=4, rho=0.95, snr=1.0)
    best = min(itertools.combinations(range(12), 4), key=lambda s: literal_objective(X, y, np.array(s), 0.5))
    assert fit(X, y, 4, 0.5).support.tolist() != list(best)
    warm = fit_relaxation(X, y, n_nonzero=4, gamma=0.5, seed=0, start=np.array(best))
    assert warm.support.tolist() == list(best)


def test_a_start_that_is_too_small_grows_and_one_too_large_shrinks() -> None:
    X, y, _ = planted(23, n=40, p=12, k=3, rho=0.3, snr=2.0)
    X[4] = 0
    task = Task(X, y, 3, 0.2)
    assert started(task, np.array([], np.int64)).columns.tolist() == np.sort(np.argsort(-np.abs(X @ y))[:3]).tolist()
    assert started(task, np.array([4, 7])).columns.size == 3
    rows = X.astype(float)
    inverse = np.linalg.inv(rows @ rows.T + np.eye(12) / 0.2)
    costs = (inverse @ rows @ y) ** 2 / np.diagonal(inverse)
    assert started(task, np.arange(12)).columns.tolist() == np.sort(np.argsort(-costs)[:3]).tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.lists(st.integers(0, 24), max_size=12))
@settings(max_examples=25, deadline=None)
def test_refining_a_start_ends_where_no_swap_helps(seed: int, k: int, start: list[int]) -> None:
    X, y, _ = planted(seed, n=20, p=25, k=4, rho=0.8, snr=1.0)
    found = refine(X, y, n_nonzero=k, gamma=0.3, start=np.array(start, np.int64))
    check_promises(X, y, k, 0.3, found)
    assert best_after_one_swap(X, y, found.support, 0.3) >= found.objective - 1e-6 * float(np.sum(y**2))
    assert refine(X, 0 * y, n_nonzero=k, gamma=0.3, start=np.array(start, np.int64)).support.size == 0


@pytest.mark.parametrize("start", [[-1], [2, 12]])
def test_a_start_outside_of_the_columns_is_refused(start: list[int]) -> None:
    X, y, _ = planted(24, n=40, p=12, k=3, rho=0.3, snr=2.0)
    with pytest.raises(InvalidSettingError, match="12 columns"):
        fit_relaxation(X, y, n_nonzero=3, gamma=None, seed=0, start=np.array(start))


def test_the_averaged_z_is_a_point_of_the_relaxation() -> None:
    X, y, truth = planted(25, n=200, p=300, k=5, rho=0.5, snr=5.0)
    z = ascend(Task(X, y, 5, 0.05)).z
    assert z.shape == (300,)
    assert z.min() >= 0
    assert z.max() <= 1
    assert z.sum() <= 5 * (1 + 1e-12)
    assert (z[truth] > 0.5).all()


def test_the_averaged_z_counts_the_supports_of_the_rounds() -> None:
    """One round proves a single column that explains everything; it is then all of the average."""
    X, _, _ = planted(26, n=30, p=4, k=1, rho=0.0, snr=1.0)
    assert ascend(Task(X, X[2].astype(float), 1, 1e9)).z.tolist() == [0, 0, 1, 0]
