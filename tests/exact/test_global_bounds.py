"""A bound is a proof: over thousands of small problems no bound by prices exceeds the best support there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from backbone_dask.exact.logistic_restricted import LogisticLoss
from backbone_dask.exact.prices import Prices, prices_of
from backbone_dask.exact.restricted import SquaredLoss
from backbone_dask.losses.logistic import Margin

SMALLEST, LARGEST = -8, 8


def table(rng, p, n):
    """Standardised columns in float32, some of them copies, near copies, sums of others, or constant."""
    X = rng.standard_normal((p, n)) * 10.0 ** rng.uniform(-2, 2, (p, 1))
    kind = rng.integers(0, 5, p)
    for j in range(1, p):
        if kind[j] == 0:
            X[j] = X[j - 1] * rng.choice([1.0, -3.0])
        elif kind[j] == 1:
            X[j] = X[j - 1] * (1 + 1e-6 * rng.standard_normal(n))
        elif kind[j] == 2:
            X[j] = X[:j].sum(axis=0)
    X[rng.random(p) < 0.1] = 0.0
    X -= X.mean(axis=1, keepdims=True)
    lengths = np.sqrt((X**2).mean(axis=1, keepdims=True))
    return np.divide(X, lengths, out=np.zeros_like(X), where=lengths > 1e-9).astype(np.float32)


def best_squared(X, y, k, gamma):
    """Every support, by an augmented least-squares problem."""
    rows = X.astype(np.float64)

    def cost(support):
        A = np.vstack([rows[support].T, np.eye(len(support)) / np.sqrt(gamma)])
        w = np.linalg.lstsq(A, np.append(y, np.zeros(len(support))), rcond=None)[0]
        return 0.5 * np.sum((y - w @ rows[support]) ** 2) + w @ w / (2 * gamma)

    return min(cost(list(support)) for support in combinations(range(len(X)), min(k, len(X))))


def vectors(rng, loss, X, y):
    """Dual vectors of every kind: the relaxation's on some of the columns, the target, and any other."""
    some = np.sort(rng.choice(len(X), size=rng.integers(1, len(X) + 1), replace=False))
    solved = loss.solve(X[some], np.zeros(some.size), np.empty(0, np.int64))
    yield solved.a
    yield y
    yield y + rng.standard_normal(y.size) * np.abs(y).max()


@pytest.mark.parametrize("gamma", [1e-3, 0.05, 1.0])
@pytest.mark.parametrize("task", ["squared", "logistic"])
def test_the_relaxation_of_many_columns_by_those_of_few_is_that_of_all(task, gamma):
    """Value and bound are no worse than those of all columns solved at once, and meet where those do."""
    rng = np.random.default_rng(0)
    n, p, k = 60, 500, 4
    X = rng.standard_normal((p, n)).astype(np.float32)
    signal = X[:k].sum(axis=0, dtype=np.float64) + 2 * rng.standard_normal(n)
    if task == "squared":
        loss = SquaredLoss(signal - signal.mean(), k, gamma)
    else:
        loss = LogisticLoss.of(Margin.of(np.where(signal > 0, 1.0, -1.0), np.ones(n), np.ones((1, n))), k, gamma)
    whole = loss._solved(X, np.zeros(p), np.arange(2))
    proven = loss.bound(whole.a, all_prices(X, whole.a).heaviest(k))
    met = whole.value - proven <= 1e-6 * whole.value
    assert met or gamma == 1.0
    for start in (np.zeros(p), np.where(np.arange(p) % 9 == 0, 0.1, 0.0)):
        found = loss.solve(X, start, np.arange(2))
        assert found.value <= whole.value * (1 + 1e-9)
        bound = loss.bound(found.a, all_prices(X, found.a).heaviest(k))
        assert proven * (1 - 1e-5) <= bound <= found.value * (1 + 1e-9)
        assert not met or bound == pytest.approx(found.value, rel=1e-4)
        assert (found.weights.shape, found.z.shape) == ((p,), (p,))
        assert found.z.sum() == pytest.approx(k)
        assert found.objective >= found.value * (1 - 1e-9)


def all_prices(X, a):
    return Prices(np.arange(len(X)), prices_of(X, a), 0.0, 0)


@pytest.mark.parametrize("seed", range(30))
def test_squared_bounds_never_exceed_the_optimum(seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        p, n, k = rng.integers(2, 8), rng.integers(4, 12), rng.integers(1, 4)
        X = table(rng, p, n)
        y = (rng.standard_normal(n) + rng.integers(0, 2) * 3 * X[0]) * 10.0 ** rng.uniform(SMALLEST, LARGEST)
        y = y - y.mean()
        gamma = 10.0 ** rng.uniform(SMALLEST, LARGEST)
        loss, best = SquaredLoss(y, int(k), gamma), best_squared(X, y, k, gamma)
        for a in vectors(rng, loss, X, y):
            bound = loss.bound(a, all_prices(X, a).heaviest(int(k)))
            # The oracle has digits of its own to lose: those of y'y.
            assert bound <= best + 1e-14 * (y @ y)


def best_logistic(X, margin, k, gamma):
    """Every support, by Newton's method with step halving on the intercept and the weights."""

    def cost(support):
        rows = np.vstack([np.ones((1, margin.y.size)), X[support].astype(np.float64)])
        ridge = np.append(0.0, np.full(len(support), 1 / gamma))
        v = np.zeros(len(rows))

        def value(v):
            u = v @ rows
            return margin.weights @ np.logaddexp(0, -margin.y * u) + v @ (ridge * v) / 2

        for _ in range(200):
            q = 1 / (1 + np.exp(np.clip(margin.y * (v @ rows), -700, 700)))
            slope = -rows @ (margin.weights * margin.y * q) + ridge * v
            hessian = (rows * (margin.weights * q * (1 - q))) @ rows.T + np.diag(ridge + 1e-14)
            step, length = np.linalg.lstsq(hessian, slope, rcond=None)[0], 1.0
            while value(v - length * step) > value(v) and length > 1e-8:
                length /= 2
            v = v - length * step
            if length <= 1e-8 or abs(slope @ step) < 1e-15 * value(v):
                break
        return value(v)

    return min(cost(list(support)) for support in combinations(range(len(X)), min(k, len(X))))


@pytest.mark.parametrize("seed", range(10))
def test_logistic_bounds_never_exceed_the_optimum(seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        p, n, k = rng.integers(2, 6), rng.integers(6, 14), rng.integers(1, 3)
        X = table(rng, p, n)
        y = np.where(rng.standard_normal(n) + X[0] > 0, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        weights = rng.choice([1.0, 2.0, 1e-3, 50.0], n) if rng.random() < 0.5 else np.ones(n)
        gamma = 10.0 ** rng.uniform(-6, 3)
        margin = Margin.of(y, weights)
        loss, best = LogisticLoss.of(margin, int(k), gamma), best_logistic(X, margin, k, gamma)
        for a in vectors(rng, loss, X, y * weights / 2):
            assert loss.bound(a, all_prices(X, a).heaviest(int(k))) <= best * (1 + 1e-12)


def test_a_bound_of_prices_that_are_too_low_is_found_out():
    """What the tests above can see: a price that is left out, or a share of it, makes bounds that are wrong."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(50):
        X = table(rng, 6, 10)
        y = rng.standard_normal(10)
        y -= y.mean()
        loss = SquaredLoss(y, 2, 1.0)
        a = loss.solve(X, np.zeros(6), np.empty(0, np.int64)).a
        wrong += loss.bound(a, 0.9 * all_prices(X, a).heaviest(2)) > best_squared(X, y, 2, 1.0)
    assert wrong > 5


def test_columns_that_are_known_by_no_name_count_as_the_dearest_of_them():
    prices = Prices(np.array([2, 5, 9]), np.array([3.0, 1.0, 2.0]), 1.5, 10)
    assert prices.heaviest(1) == pytest.approx(9)
    assert prices.heaviest(3) == pytest.approx(9 + 4 + 1.5**2)
    assert prices.heaviest(4) == pytest.approx(9 + 4 + 2 * 1.5**2)
    assert Prices(prices.ids, prices.prices, 1.5, 1).heaviest(4) == pytest.approx(9 + 4 + 1.5**2 + 1)


def test_columns_enter_that_reach_the_price_inside():
    prices = Prices(np.arange(6), np.array([5.0, 1.0, 2.0, 4.0, 2.0, 3.0]), 0.0, 0)
    assert prices.entering(np.array([0, 2]), 2).tolist() == [3, 5, 4]
    assert prices.entering(np.array([0, 2]), 1).tolist() == []
    assert prices.entering(np.array([0, 2]), 3).tolist() == [3, 5, 4, 1]
