from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from exact_cases import Case, least, planted, standardised, value

from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram
from backbone_dask.exact.nodes import best_root, children, plain_root
from backbone_dask.exact.nodes_curvature import is_proven, least_curvature, recentred
from backbone_dask.exact.perspective import solve_relaxation


@pytest.mark.parametrize("seed", range(8))
def test_the_plain_root_is_the_perspective_relaxation(seed: int) -> None:
    X, y, _ = planted(30, 5, 100, seed=seed)
    gram, gamma = Gram.of(X, y), 10.0 ** (seed % 4 - 3)
    expected = solve_relaxation(gram, Face.whole(30, 5), gamma, tolerance=1e-9)
    root = plain_root(gram, 5, gamma)
    assert root.node.bound == pytest.approx(expected.objective, rel=1e-6)
    np.testing.assert_allclose(root.node.z, expected.z, atol=1e-3)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_more_columns_than_samples_leave_a_bound_that_is_solved_for(gamma: float) -> None:
    """Pieces with more fractions than samples have many minima."""
    X, y, _ = planted(60, 8, 40, seed=7)
    gram = Gram.of(X, y)
    expected = solve_relaxation(gram, Face.whole(60, 8), gamma / np.sqrt(40))
    assert plain_root(gram, 8, gamma / np.sqrt(40)).node.bound == pytest.approx(expected.objective, rel=1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_no_root_is_below_the_perspective_relaxation(seed: int) -> None:
    """Copies, sums, about as many columns as samples, and ridge weights at which rounding is all that is left."""
    rng = np.random.default_rng([6, seed])
    n = int(rng.integers(15, 60))
    p, k, gamma = n + int(rng.integers(-3, 4)), int(rng.integers(1, 8)), 10.0 ** (seed + 1)
    rows = rng.standard_normal((p, n))
    rows[-1], rows[-2] = rows[0], rows[1] + rows[2]
    X, y = standardised(rows), rows[:k].sum(axis=0) + rng.standard_normal(n)
    gram = Gram.of(X, y)
    expected = solve_relaxation(gram, Face.whole(p, k), gamma).bound
    assert best_root(gram, k, gamma, np.inf).node.bound >= expected * (1 - 1e-3) - 1e-6 * gram.yy


def test_a_child_without_room_has_the_value_of_its_support() -> None:
    """Whatever the fractions of its parent were."""
    X, y, _ = planted(12, 3, 60, seed=4)
    root = best_root(Gram.of(X, y), 1, 5.0, np.inf)
    only = children(root.problem, root.node, np.inf)[0]
    assert only.room == 0
    assert only.bound == pytest.approx(value(X, y, (root.node.branch,), 5.0), rel=1e-9)


def test_a_bound_that_is_no_number_proves_nothing() -> None:
    gram = Gram.of(*planted(8, 2, 30, seed=1)[:2])
    root = plain_root(gram, 2, 0.1)
    broken = root.problem._replace(A=np.full((8, 8), np.nan))
    assert [child.bound for child in children(broken, root.node, root.node.bound * 1.1)] == [root.node.bound] * 2


@pytest.mark.parametrize("seed", range(6))
def test_moved_curvature_tightens_the_root_and_spares_every_support(seed: int) -> None:
    X, y, _ = planted(11, 3, 60, seed=seed)
    gram, gamma = Gram.of(X, y), 0.1
    plain, best = plain_root(gram, 3, gamma).node.bound, best_root(gram, 3, gamma, np.inf).node.bound
    assert plain < best <= least(Case(X, y, 3, gamma))


@pytest.mark.parametrize("copies", [False, True])
def test_what_is_left_of_the_curvature_bends_nowhere_down(copies: bool) -> None:
    X, y, _ = planted(20, 3, 60, seed=3)
    X = np.vstack([X, X[:2]]) if copies else X
    gram = Gram.of(X, y)
    start = least_curvature(gram, 0.1)
    found = recentred(start, np.linspace(0, 1, len(X)), np.inf)
    assert is_proven(gram, found.moved)
    assert np.linalg.eigvalsh(gram.G - np.diag(found.moved))[0] >= -1e-9 * 60
    assert np.linspace(0, 1, len(X)) @ found.moved > np.linspace(0, 1, len(X)) @ start.moved
    assert not is_proven(gram, np.full(len(X), np.linalg.eigvalsh(gram.G)[0] + 1e-6))


def test_children_hold_every_support_that_is_better_than_the_goal() -> None:
    X, y, _ = planted(10, 3, 40, seed=5)
    gamma = 0.1
    root = best_root(Gram.of(X, y), 3, gamma, np.inf)
    values = {support: value(X, y, support, gamma) for support in combinations(range(10), 3)}
    goal = float(np.quantile(list(values.values()), 0.1))
    below = {support for support, at in values.items() if at < goal}
    found = children(root.problem, root.node, goal)
    inside = [
        {s for s in values if all(n.status[list(s)] >= 0) and set(np.flatnonzero(n.status > 0)) <= set(s)}
        for n in found
    ]
    assert below <= inside[0] | inside[1]
    assert not inside[0] & inside[1]
    for node, supports in zip(found, inside, strict=True):
        assert node.bound <= min((values[s] for s in supports), default=np.inf) or node.bound >= goal
