from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from exact_cases import draw_case, objective

from backbone_dask.exact.cuts import best_length_cut, dual_cut
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram


def centred(y: np.ndarray) -> np.ndarray:
    return y - y.mean()


@pytest.mark.parametrize("seed", range(20))
def test_a_cut_at_any_weights_lies_below_the_value_of_every_support(seed: int) -> None:
    case = draw_case(seed)
    gram = Gram.of(case.X, centred(case.y))
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal(gram.n_features) * np.sqrt(gram.yy / gram.n_samples)
    cuts = [
        dual_cut(gram, weights, case.gamma),
        best_length_cut(gram, weights, case.gamma, Face.whole(gram.n_features, 1)),
    ]
    for support in combinations(range(gram.n_features), min(case.n_nonzero, gram.n_features)):
        value = objective(case.X, case.y, support, case.gamma)
        assert all(cut.intercept - cut.slopes[list(support)].sum() <= value for cut in cuts)


@pytest.mark.parametrize("seed", range(10))
def test_the_cut_of_a_fit_touches_its_support(seed: int) -> None:
    case = draw_case(seed)
    gram = Gram.of(case.X, centred(case.y))
    support = np.arange(min(case.n_nonzero, gram.n_features))
    weights = np.zeros(gram.n_features)
    weights[support] = gram.fit(support, case.gamma).weights
    cut = dual_cut(gram, weights, case.gamma)
    assert cut.intercept - cut.slopes[support].sum() == pytest.approx(
        objective(case.X, case.y, support, case.gamma), rel=1e-6, abs=1e-9 * gram.yy
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_best_length_is_that_of_the_dual_bound(seed: int) -> None:
    case = draw_case(seed)
    y = centred(case.y)
    gram = Gram.of(case.X, y)
    weights = 0.1 * gram.b / (gram.n_samples + 1 / case.gamma)
    k = min(2, gram.n_features)
    a = y - weights @ case.X.astype(np.float64)
    top = float(np.sort((case.X.astype(np.float64) @ a) ** 2)[-k:].sum())
    # D(t a) = t y'a - t^2/2 (a'a + gamma top) is a parabola in t.
    expected = max(float(y @ a), 0.0) ** 2 / (2 * (float(a @ a) + case.gamma * top))
    whole = Face.whole(gram.n_features, k)
    assert best_length_cut(gram, weights, case.gamma, whole).bound(whole) == pytest.approx(
        expected, rel=1e-9, abs=1e-10 * gram.yy
    )


@pytest.mark.parametrize("seed", range(30))
def test_slopes_are_not_below_the_exact_ones(seed: int) -> None:
    """Near-cancelling products, in exact rational arithmetic: the rounding guard must cover what float64 loses."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.standard_normal((1, 40)), 6, axis=0) + 1e-6 * rng.standard_normal((6, 40))
    X = X.astype(np.float32)
    y = X[0].astype(np.float64) * 3
    gram = Gram.of(X, y)
    weights = np.array([1e8, -1e8, 3.0, 0.0, 0.0, 0.0])
    cut = dual_cut(gram, weights, 1.0)
    rows = [[Fraction(float(value)) for value in row] for row in X]
    a = [
        Fraction(float(y[i])) - sum(Fraction(float(w)) * row[i] for w, row in zip(weights, rows, strict=True))
        for i in range(40)
    ]
    for j, row in enumerate(rows):
        exact = sum(x * r for x, r in zip(row, a, strict=True)) ** 2 / 2
        assert Fraction(float(cut.slopes[j])) >= exact
    intercept = sum(Fraction(float(v)) * r for v, r in zip(y, a, strict=True)) - sum(r * r for r in a) / 2
    assert Fraction(cut.intercept) <= intercept
