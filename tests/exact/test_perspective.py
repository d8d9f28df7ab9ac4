from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest
from exact_cases import brute_force, draw_case, objective, planted
from scipy.optimize import minimize

from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram
from backbone_dask.exact.perspective import Relaxation, penalty, solve_relaxation


def relax(gram: Gram, n_nonzero: int, gamma: float, start: np.ndarray | None = None) -> Relaxation:
    return solve_relaxation(gram, Face.whole(gram.n_features, n_nonzero), gamma, start=start)


def value_at(gram: Gram, z: np.ndarray, gamma: float) -> tuple[float, np.ndarray]:
    """c(z) and its gradient, straight from the definition: the ridge fit with weights z."""
    root = np.sqrt(np.maximum(z, 0.0))
    system = root[:, None] * gram.G * root + np.eye(z.size) / gamma
    weights = root * np.linalg.solve(system, root * gram.b)
    return 0.5 * (gram.yy - gram.b @ weights), -gamma / 2 * (gram.b - gram.G @ weights) ** 2


def independent_optimum(gram: Gram, k: int, gamma: float) -> float:
    unit = gram.yy
    found = minimize(
        lambda z: value_at(gram, z, gamma)[0] / unit,
        np.full(gram.n_features, k / gram.n_features),
        jac=lambda z: value_at(gram, z, gamma)[1] / unit,
        bounds=[(0.0, 1.0)] * gram.n_features,
        constraints={"type": "ineq", "fun": lambda z: k - z.sum(), "jac": lambda z: -np.ones_like(z)},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    return float(found.fun * unit)


@pytest.mark.parametrize("rho", [0.0, 0.7, 0.95])
@pytest.mark.parametrize("gamma", [1e-4, 1e-2, 1.0])
def test_an_independent_convex_solver_finds_the_same_value(rho: float, gamma: float) -> None:
    X, y, _ = planted(14, 4, 80, rho=rho, seed=3)
    gram = Gram.of(X, y)
    relaxation = relax(gram, 4, gamma)
    expected = independent_optimum(gram, 4, gamma)
    assert relaxation.objective == pytest.approx(expected, rel=2e-6)
    assert relaxation.bound <= expected * (1 + 1e-9)
    assert relaxation.bound == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("seed", range(60))
def test_the_bound_never_exceeds_the_best_support(seed: int) -> None:
    case = draw_case(seed)
    keep = case.X[case.X.any(axis=1)]
    if len(keep) <= case.n_nonzero:
        pytest.skip("nothing to choose")
    relaxation = relax(Gram.of(keep, case.y - case.y.mean()), case.n_nonzero, case.gamma)
    assert relaxation.bound <= brute_force(case)
    assert relaxation.z.sum() <= case.n_nonzero + 1e-9


@pytest.mark.parametrize("gamma", [1e-8, 1 / 2000, 1 / np.sqrt(2000), 1.0, 1e8])
def test_value_and_bound_meet_within_a_second(gamma: float) -> None:
    X, y, _ = planted(200, 20, 2000, seed=1)
    started = time.monotonic()
    relaxation = relax(Gram.of(X, y), 20, gamma)
    assert relaxation.objective - relaxation.bound <= 1e-6 * relaxation.objective
    assert time.monotonic() - started < 5


def test_a_start_at_the_optimum_is_recognised_at_once() -> None:
    X, y, _ = planted(60, 8, 400, seed=2)
    gram = Gram.of(X, y)
    first = relax(gram, 8, 0.01)
    assert relax(gram, 8, 0.01, start=first.weights).rounds == 0


def test_duplicates_share_one_weight() -> None:
    X, y, _ = planted(10, 3, 100, seed=4)
    gram, doubled = Gram.of(X, y), Gram.of(np.vstack([X, X]), y)
    assert relax(doubled, 3, 0.1).bound <= relax(gram, 3, 0.1).objective * (1 + 1e-9)
    relaxation = relax(doubled, 3, 0.1)
    assert relaxation.objective - relaxation.bound <= 1e-6 * relaxation.objective


def test_shares_sum_to_the_size_and_the_penalty_is_least_there() -> None:
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(30)
    z = Face.whole(30, 5).shares(np.abs(weights), 0.0)
    assert z.sum() == pytest.approx(5)
    for _ in range(50):
        other = rng.dirichlet(np.ones(30)) * 5
        if other.max() <= 1:
            assert penalty(weights, Face.whole(30, 5)) <= (weights**2 / other).sum() * (1 + 1e-12)


def test_few_weights_get_a_whole_share_each() -> None:
    np.testing.assert_array_equal(Face.whole(4, 3).shares(np.array([0.0, 2.0, 0.1, 0.0]), 0.0), [0.0, 1.0, 1.0, 0.0])


@pytest.mark.parametrize("seed", range(10))
def test_on_a_face_the_bound_holds_for_its_supports(seed: int) -> None:
    X, y, _ = planted(9, 3, 40, seed=seed)
    gram, decided = Gram.of(X, y), np.array([1, 4, 6])
    relaxation = solve_relaxation(gram, Face.whole(9, 3).fix(decided, np.array([4])), 0.1)
    inside = [s for s in combinations(range(9), 3) if 4 in s and 1 not in s and 6 not in s]
    best = min(objective(X, y, support, 0.1) for support in inside)
    assert relaxation.bound <= best
    assert relaxation.bound >= relax(gram, 3, 0.1).bound * (1 - 1e-6)
    assert (relaxation.z[1], relaxation.z[4], relaxation.z[6]) == (0, 1, 0)


def test_a_face_with_one_support_left_gives_its_value() -> None:
    X, y, _ = planted(9, 3, 40, seed=1)
    support = np.array([0, 3, 8])
    relaxation = solve_relaxation(Gram.of(X, y), Face.whole(9, 3).fix(np.arange(9), support), 0.1)
    assert relaxation.bound == pytest.approx(objective(X, y, support, 0.1), rel=1e-6)


def test_a_goal_out_of_reach_ends_early_and_on_the_right_side() -> None:
    X, y, _ = planted(60, 8, 400, seed=2)
    gram, whole = Gram.of(X, y), Face.whole(60, 8)
    full = solve_relaxation(gram, whole, 0.01)
    above = solve_relaxation(gram, whole, 0.01, goal=1.05 * full.objective)
    below = solve_relaxation(gram, whole, 0.01, goal=0.9 * full.objective)
    assert above.objective < 1.05 * full.objective
    assert below.bound >= 0.9 * full.objective
    assert max(above.rounds, below.rounds) < full.rounds


@pytest.mark.parametrize("seed", range(20))
def test_shares_survive_sizes_of_every_magnitude(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-320, 10, 12) * (rng.random(12) < 0.8)
    size[:4] = 10.0 ** rng.uniform(-18, 0, 4)
    for offset in (0.0, 1e-10, 1e6):
        z = Face.whole(12, 3).shares(size, offset)
        assert z.sum() <= 3 + 1e-9
        assert ((z >= 0) & (z <= 1)).all()
