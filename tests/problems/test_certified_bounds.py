"""From raw tables to bounds over all columns: none exceeds the best support, in long doubles and by brute force."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from backbone_dask import BackboneClassifier, BackboneRegressor

Rows = np.ndarray
KINDS = ("plain", "scales", "far from zero", "very far", "near copies", "bytes", "float32", "constant")
GIVEN = ("nothing", "weights", "zero weights", "covariates", "both", "no intercept", "missing")
LONG = np.longdouble


def raw(rng: np.random.Generator, kind: str, n: int, p: int) -> Rows:
    """A table of a kind; "plain" ones are normal."""
    X = rng.standard_normal((n, p))
    if kind == "near copies":
        for j in range(1, p):
            X[:, j] = X[:, rng.integers(j)] * rng.choice([1, -2]) + 10.0 ** rng.uniform(-7, -1) * X[:, j]
    if kind == "constant":
        X[:, 1:][:, rng.random(p - 1) < 0.5] = rng.choice([0.0, 7.3, 1e10])
    if kind == "bytes":
        return rng.integers(0, 3, (n, p)).astype(np.int8)
    spread, centre = {
        "scales": (10.0 ** rng.uniform(-8, 12, p), 0.0),
        "far from zero": (10.0 ** rng.uniform(-3, 3, p), rng.choice([-1, 1], p) * 10.0 ** rng.uniform(0, 8, p)),
        "very far": (1.0, 10.0 ** rng.uniform(9, 13, p)),
        "float32": (10.0 ** rng.uniform(-3, 3, p), rng.uniform(-1e3, 1e3, p)),
    }.get(kind, (1.0, 0.0))
    return (X * spread + centre).astype(np.float32 if kind == "float32" else np.float64)


def extras(rng: np.random.Generator, what: str, n: int) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if what in ("weights", "both"):
        given["sample_weight"] = 10.0 ** rng.uniform(-2, 2, n)
    if what == "zero weights":
        given["sample_weight"] = np.where(np.arange(n) % 4 == 1, 0.0, rng.uniform(0.5, 2, n))
    if what in ("covariates", "both"):
        given["covariates"] = rng.standard_normal((n, 2)) * 10.0 ** rng.uniform(-3, 6, 2)
    return given


def least(X: Rows, y: Rows, k: int, gamma: float, given: dict[str, Any], *, intercept: bool) -> float:
    """The least objective of all supports: columns and target without free parts and weights, one solve for each."""
    root = np.sqrt(given.get("sample_weight", np.ones(y.size)).astype(LONG))
    free = [np.ones(y.size, LONG)] * intercept + list(given.get("covariates", np.empty((y.size, 0))).T.astype(LONG))
    basis = orthogonal([root * row for row in free])
    # The mean as a double leaves differences that are exact; what it lacks is taken out with the intercept.
    near = X.astype(LONG) - X.mean(axis=0).astype(LONG) * intercept
    columns = [taken_out(root * column, basis) for column in near.T]
    left, whole = (np.array([np.sqrt(each @ each) for each in some]) for some in (columns, root * X.T.astype(LONG)))
    varying = np.flatnonzero(left > 1e-16 * whole)
    rows = [np.sqrt((root**2).sum()) / left[j] * columns[j] for j in varying]
    target = taken_out(root * y.astype(LONG), basis)
    costs = [cost(np.array(few), target, gamma) for few in combinations(rows, min(k, len(rows))) if few]
    return float(min([target @ target, *costs]) / 2)


def cost(rows: Rows, target: Rows, gamma: float) -> Any:
    """|y|^2 - b'(G + I/gamma)^-1 b for one row or two, as the squares of what is left: no digits cancel."""
    ridge = 1 / np.sqrt(LONG(gamma))
    longer = np.concatenate([rows, ridge * np.eye(len(rows), dtype=LONG)], axis=1)
    rest = taken_out(np.concatenate([target, np.zeros(len(rows), LONG)]), orthogonal(list(longer)))
    return rest @ rest


def orthogonal(rows: list[Rows]) -> list[Rows]:
    basis: list[Rows] = []
    for row in rows:
        left = taken_out(row, basis)
        basis.append(left / np.sqrt(left @ left))
    return basis


def taken_out(row: Rows, basis: list[Rows]) -> Rows:
    for known in basis * 2:
        row = row - (row @ known) * known
    return row


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", GIVEN)
def test_no_bound_exceeds_the_best_support_of_the_table_as_it_came(kind, what):
    if kind == "bytes" and what == "missing":
        pytest.skip("whole numbers in memory have no missing value")
    for seed in range(5):
        rng = np.random.default_rng([seed, KINDS.index(kind), GIVEN.index(what)])
        n, p, k = int(rng.integers(8, 16)), int(rng.integers(1, 7)), int(rng.integers(1, 3))
        X = raw(rng, kind, n, p)
        y = (rng.standard_normal(n) + 3 * (X[:, 0] - X[:, 0].mean()) / (X[:, 0].std() or 1)) * 10.0 ** rng.uniform(
            -6, 6
        )
        given, intercept, values = extras(rng, what, n), what != "no intercept", X.astype(np.float64)
        asked: dict[str, Any] = {
            "fit_intercept": intercept,
            "gamma": 10.0 ** rng.uniform(-6, 3),
            "n_nonzero": min(k, p),
        }
        if what == "missing":
            X[rng.integers(n, size=p), np.arange(p)] = np.nan
            means = np.nanmean(X.astype(LONG), axis=0).astype(X.dtype)
            values, asked = np.where(np.isnan(X), means, X).astype(np.float64), asked | {"missing": "mean"}
        if not intercept:
            # Constant columns are no columns of any model.
            values = values[:, np.ptp(values, axis=0) > 0]
        certify = {"passes": 20, "tolerance": 0.0}
        model = BackboneRegressor(certify=certify, executor="serial", **asked).fit(X, y, **given)
        best = least(values, y, min(k, p), asked["gamma"], given, intercept=intercept)
        assert model.global_bound_ <= best * (1 + 1e-9), seed


OUTLIERS = (1e3, 1e6, 1e9, 1e30)


@pytest.mark.parametrize("outlier", OUTLIERS)
def test_a_sample_of_zero_weight_has_no_say_whatever_its_values(outlier):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    y, weights = 2 * X[:, 0] + 0.3 * rng.standard_normal(30), np.arange(30) > 0
    X[0, 0] = outlier
    asked = {"n_nonzero": 1, "gamma": 1.0, "certify": True, "executor": "serial"}
    model = BackboneRegressor(**asked).fit(X, y, sample_weight=weights)
    alone = BackboneRegressor(**asked).fit(X[1:], y[1:])
    assert model.support_.tolist() == alone.support_.tolist() == [0]
    assert [model.objective_, model.global_bound_] == pytest.approx([alone.objective_, alone.global_bound_], rel=1e-6)
    np.testing.assert_allclose(model.coefficients_, alone.coefficients_, rtol=1e-6)
    classes = BackboneClassifier(**asked).fit(X, y > 0, sample_weight=weights)
    alone = BackboneClassifier(**asked).fit(X[1:], y[1:] > 0)
    assert classes.objective_ == pytest.approx(alone.objective_, rel=1e-5)
    assert classes.global_bound_ == pytest.approx(alone.global_bound_, rel=1e-5)


@pytest.mark.parametrize("left", [1e-3, 5e-5, 4e-6])
def test_what_covariates_leave_of_a_column_counts_however_little_it_is(left):
    rng = np.random.default_rng(0)
    X, cause = rng.standard_normal((30, 4)), rng.standard_normal(30)
    y = 2 * X[:, 0] + 0.3 * rng.standard_normal(30)
    X[:, 0] = cause + left * X[:, 0]
    model = BackboneRegressor(n_nonzero=1, gamma=1.0, certify=True, executor="serial")
    model.fit(X, y, covariates=cause[:, None])
    best = least(X, y, 1, 1.0, {"covariates": cause[:, None]}, intercept=True)
    assert model.support_.tolist() == [0]
    assert 0.98 * best <= model.global_bound_ <= best
    assert model.objective_ == pytest.approx(best, rel=1e-6)
