"""Certificates over all columns: the converged bound against a convex solver, and every bound against all supports."""

from __future__ import annotations

import time
from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest

from backbone_dask import BackboneClassifier, BackboneRegressor
from backbone_dask.certificate import Ended
from backbone_dask.problems.certifying import Certifier

N, P, K = 40, 60, 3
LOSING = {"screen_size": 15, "n_subproblems": 1, "subproblem_fraction": 0.4, "backbone_max": 6}
TO_THE_END = {"passes": 60, "tolerance": 0.0}


def table(seed: int, n: int = N, p: int = P) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Correlated columns of different scales, and a response of three of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.7 * rng.standard_normal((n, 1))
    y = X[:, [1, p // 2, p - 2]] @ [1.0, -1.0, 0.8] + rng.standard_normal(n)
    return X * 10.0 ** rng.uniform(-3, 3, p) + rng.uniform(-5, 5, p), y, rng


def without(rows: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Rows (any, samples) without their part in the span of `free` (samples, any)."""
    return rows - (free @ np.linalg.lstsq(free, rows.T, rcond=None)[0]).T


def relaxed(loss: cp.Expression, w: cp.Variable, k: int, gamma: float) -> float:
    """The perspective relaxation of a loss of weights w, by an interior-point method."""
    z = cp.Variable(w.size)
    ridge = cp.sum([cp.quad_over_lin(w[j], z[j]) for j in range(w.size)])
    problem = cp.Problem(cp.Minimize(loss + ridge / (2 * gamma)), [z >= 0, z <= 1, cp.sum(z) <= k])
    accuracy = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    return float(problem.solve(solver=cp.CLARABEL, **accuracy))


@pytest.mark.parametrize("gamma", [0.3 / N, 1 / N, 5 / N])
@pytest.mark.parametrize("adjusted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_converged_squared_bound_is_the_relaxation_over_all_columns(seed, adjusted, gamma):
    X, y, rng = table(seed)
    extras = {"sample_weight": rng.uniform(0.5, 2, N), "covariates": rng.standard_normal((N, 2))} if adjusted else {}
    weights = extras.get("sample_weight", np.ones(N))
    model = BackboneRegressor(n_nonzero=K, gamma=gamma, certify=TO_THE_END, executor="serial", **LOSING)
    model.fit(X, y, **extras)
    root = np.sqrt(weights)
    free = root[:, None] * np.column_stack([np.ones(N), extras.get("covariates", np.empty((N, 0)))])
    rows, target = without(root * X.T, free), without((root * y)[None], free)[0]
    rows *= np.sqrt(weights.sum()) / np.linalg.norm(rows, axis=1, keepdims=True)
    w = cp.Variable(P)
    best = relaxed(cp.sum_squares(target - rows.T @ w) / 2, w, K, gamma)
    assert model.certificate_.ended is Ended.NO_COLUMN_LEFT
    assert model.global_bound_ == pytest.approx(best, rel=1e-6)
    assert model.certificate_.relaxed == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_converged_logistic_bound_is_the_relaxation_over_all_columns(seed, weighted):
    X, response, rng = table(seed)
    y, gamma = np.where(response > 0, 1.0, -1.0), 4 / N
    weights = rng.uniform(0.5, 2, N) if weighted else np.ones(N)
    model = BackboneClassifier(n_nonzero=K, gamma=gamma, certify=TO_THE_END, executor="serial", **LOSING)
    model.fit(X, y, sample_weight=weights)
    share = weights / weights.sum()
    rows = X.T - (X.T @ share)[:, None]
    rows /= np.sqrt(rows**2 @ share)[:, None]
    w, b = cp.Variable(P), cp.Variable()
    best = relaxed(weights @ cp.logistic(cp.multiply(-y, rows.T @ w + b)), w, K, gamma)
    (certificate,), (bound,) = model.certificate_, model.global_bound_
    assert certificate.ended is Ended.NO_COLUMN_LEFT
    assert bound == pytest.approx(best, rel=1e-6)


SITUATIONS = ["plain", "one column a pass", "missing", "zero weights", "no intercept", "covariates"]


def situated(situation: str, seed: int) -> tuple[np.ndarray, np.ndarray, dict, dict, np.ndarray, np.ndarray]:
    """A table, what a fit is asked and given, and the same as rows and target that lack free rows and weights."""
    X, y, rng = table(seed, n=20, p=14)
    y, asked, given = y * 10.0 ** rng.uniform(-5, 5), {}, {}
    weights, free = np.ones(20), np.ones((20, 1))
    values = X.copy()
    if situation == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
        values, asked = np.where(np.isnan(X), np.nanmean(X, axis=0), X), {"missing": "mean"}
    if situation == "zero weights":
        weights = np.where(rng.random(20) < 0.3, 0.0, rng.uniform(0.5, 2, 20))
        given = {"sample_weight": weights}
    if situation == "no intercept":
        free, asked = np.empty((20, 0)), {"fit_intercept": False}
    if situation == "covariates":
        free = np.column_stack([free, rng.standard_normal((20, 2))])
        given = {"covariates": free[:, 1:]}
    root = np.sqrt(weights)
    rows, target = (without(each, root[:, None] * free) for each in (root * values.T, (root * y)[None]))
    rows *= np.sqrt(weights.sum()) / np.linalg.norm(rows, axis=1, keepdims=True)
    return X, y, asked, given, rows, target[0]


def best_support(rows: np.ndarray, target: np.ndarray, k: int, gamma: float) -> float:
    """The least cost of any k rows, one least-squares problem for each support."""
    longer = np.append(target, np.zeros(k))

    def cost(support: tuple[int, ...]) -> float:
        stacked = np.vstack([rows[list(support)].T, np.eye(k) / np.sqrt(gamma)])
        rest = longer - stacked @ np.linalg.lstsq(stacked, longer, rcond=None)[0]
        return float(rest @ rest) / 2

    return min(cost(support) for support in combinations(range(len(rows)), k))


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("seed", range(5))
def test_bound_optimum_and_objective_are_in_this_order(seed, situation):
    X, y, asked, given, rows, target = situated(situation, seed)
    rng = np.random.default_rng([seed, 1])
    k = int(rng.integers(1, 4))
    asked |= LOSING | {"n_nonzero": k, "gamma": 10.0 ** rng.uniform(-4, 2), "screen_size": 5, "backbone_max": k}
    certify = {"columns": 1} if situation == "one column a pass" else True
    plain = BackboneRegressor(executor="serial", **asked).fit(X, y, **given)
    model = BackboneRegressor(executor="serial", certify=certify, **asked).fit(X, y, **given)
    best, passes = best_support(rows, target, k, asked["gamma"]), model.certificate_.passes
    assert 0 < model.global_bound_ <= best * (1 + 1e-12)
    assert best <= model.objective_ * (1 + 1e-6)
    assert model.objective_ <= plain.objective_
    assert set(plain.backbone_) <= set(model.backbone_)
    assert [each.bound for each in passes] == sorted(each.bound for each in passes)
    assert [each.objective for each in passes] == sorted((each.objective for each in passes), reverse=True)


@pytest.mark.parametrize("seed", range(5))
def test_a_response_that_covariates_explain_is_bounded_with_the_rounding_of_what_is_left(seed):
    rng = np.random.default_rng(seed)
    X, free = rng.standard_normal((30, 6)), rng.standard_normal((30, 2))
    y = 1e5 * free[:, 0] + rng.standard_normal(30) / 1e5
    asked = {"n_nonzero": 1, "gamma": 1e-14, "certify": {"tolerance": 0.0}, "executor": "serial"}
    model = BackboneRegressor(**asked).fit(X, y, covariates=free)
    left = y.astype(np.longdouble)
    for row in orthogonal(np.column_stack([np.ones(30), free]).T.astype(np.longdouble)):
        left = left - (left @ row) * row
    # A ridge as strong as this leaves the columns next to nothing: all of |y|^2 / 2 is there but for n gamma of it.
    assert 0 < model.global_bound_ <= float(left @ left) / 2


def orthogonal(rows: np.ndarray) -> list[np.ndarray]:
    """Gram and Schmidt, twice, in the precision that is given."""
    basis: list[np.ndarray] = []
    for row in rows:
        for known in basis * 2:
            row = row - (row @ known) * known
        basis.append(row / np.sqrt(row @ row))
    return basis


# The screen warns of squares that overflow, and goes on.
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")
@pytest.mark.parametrize("given", [{}, {"sample_weight": np.linspace(0.5, 2, N)}])
def test_columns_whose_squares_overflow_are_priced(given):
    X, y, _ = table(0)
    X[:, 5] *= 1e200
    model = BackboneRegressor(n_nonzero=K, gamma=1 / N, certify=True, executor="serial", **LOSING).fit(X, y, **given)
    assert 0 < model.global_gap_ < 0.2


@pytest.mark.parametrize("seed", range(4))
def test_a_repair_that_the_time_limit_ends_is_still_an_answer(seed):
    rng = np.random.default_rng([9, seed])
    X = rng.normal(size=(60, 40))
    y = X[:, :6] @ rng.normal(size=6) + rng.normal(size=60)
    asked = {"n_nonzero": 6, "gamma": 1.0, "n_subproblems": 1, "subproblem_fraction": 0.3, "time_limit": 1e-6}
    model = BackboneRegressor(certify={"passes": 2}, executor="serial", **asked).fit(X, y)
    assert model.certificate_.priced.size
    assert model.certificate_.bound <= model.objective_


def test_advice_is_for_a_gap_that_can_be_told_from_rounding():
    X, y, _ = table(0)
    model = BackboneRegressor(n_nonzero=K, gamma=1.0, certify=TO_THE_END, executor="serial", **LOSING).fit(X, y)
    advised = model.certificate_.advised_gamma
    again = BackboneRegressor(n_nonzero=K, gamma=advised, certify=TO_THE_END, executor="serial", **LOSING).fit(X, y)
    assert advised < 1.0
    assert again.global_gap_ < 5e-3


def test_no_pass_begins_after_the_time_limit(monkeypatch):
    """The relaxation between two passes takes its time, too."""
    X, y, _ = table(0)
    begun, solve = [], Certifier._solved

    def slow(self, *arguments):
        time.sleep(0.2)
        return solve(self, *arguments)

    def noted(self, *arguments):
        begun.append(time.perf_counter())
        return priced(self, *arguments)

    priced = Certifier._pass
    monkeypatch.setattr(Certifier, "_solved", slow)
    monkeypatch.setattr(Certifier, "_pass", noted)
    asked = {**TO_THE_END, "seconds": 0.15}
    model = BackboneRegressor(n_nonzero=K, gamma=1 / N, certify=asked, executor="serial", **LOSING).fit(X, y)
    assert model.certificate_.ended is Ended.TIME_LIMIT
    assert begun[-1] - begun[0] <= 0.15


@pytest.mark.parametrize("gamma", [1e2, 1e6, 1e10])
def test_a_gamma_is_advised_from_however_far(gamma):
    X, y, _ = table(0)
    asked = {"passes": 2, "columns": 10}
    model = BackboneRegressor(n_nonzero=K, gamma=gamma, certify=asked, executor="serial", **LOSING).fit(X, y)
    assert 0 < model.certificate_.advised_gamma < 1


@pytest.mark.parametrize("limit", [{"passes": 1}, {"columns": 2}, {"seconds": 1e-9}])
def test_limits_end_pricing_and_say_so(limit):
    X, y, _ = table(0)
    asked = {**TO_THE_END, **limit}
    model = BackboneRegressor(n_nonzero=K, gamma=1 / N, certify=asked, executor="serial", **LOSING).fit(X, y)
    ended = {"passes": Ended.PASS_LIMIT, "columns": Ended.COLUMN_LIMIT, "seconds": Ended.TIME_LIMIT}
    assert model.certificate_.ended is ended[next(iter(limit))]
    assert model.global_gap_ > 0


def test_without_certify_nothing_is_said_of_all_columns():
    X, y, _ = table(0)
    model = BackboneRegressor(n_nonzero=K, executor="serial").fit(X, y)
    assert (model.global_bound_, model.global_gap_, model.certificate_) == (None, None, None)
