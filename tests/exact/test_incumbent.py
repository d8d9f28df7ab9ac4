from __future__ import annotations

import numpy as np
import pytest
from exact_cases import objective, planted

from backbone_dask.exact.gram import Gram
from backbone_dask.exact.incumbent import evaluate, improve, round_up, swap_neighbours, truncate


def swaps(support: np.ndarray, p: int) -> list[np.ndarray]:
    outside = np.setdiff1d(np.arange(p), support)
    return [np.append(np.delete(support, i), j) for i in range(support.size) for j in outside]


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 100.0])
@pytest.mark.parametrize("start", [[], [0, 1, 2], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]])
def test_no_single_swap_improves_the_result(gamma: float, start: list[int]) -> None:
    X, y, _ = planted(25, 4, 60, seed=7)
    found = improve(Gram.of(X, y), np.array(start, np.int64), 4, gamma)
    assert found.support.size == 4
    assert found.objective == pytest.approx(objective(X, y, found.support, gamma), rel=1e-9)
    best = min(objective(X, y, other, gamma) for other in swaps(found.support, 25))
    assert found.objective <= best * (1 + 1e-9)


def test_neighbours_are_the_best_swaps_in_order() -> None:
    X, y, _ = planted(15, 3, 50, seed=8)
    gram = Gram.of(X, y)
    incumbent = evaluate(gram, np.array([1, 5, 9]), 0.1)
    values = [objective(X, y, support, 0.1) for support in swap_neighbours(gram, incumbent, 0.1, 6)]
    everyone = sorted(objective(X, y, support, 0.1) for support in swaps(incumbent.support, 15))
    np.testing.assert_allclose(values, everyone[:6], rtol=1e-9)


def test_truncation_drops_the_feature_that_costs_least() -> None:
    X, y, _ = planted(12, 3, 50, seed=9)
    gram = Gram.of(X, y)
    kept = truncate(gram, np.array([3, 1, 7, 10, 7]), 3, 0.1)
    best = min(objective(X, y, np.delete([1, 3, 7, 10], i), 0.1) for i in range(4))
    assert objective(X, y, kept, 0.1) == pytest.approx(best)


def test_rounding_takes_the_largest_and_nothing_with_no_share() -> None:
    np.testing.assert_array_equal(round_up(np.array([0.2, 0.0, 0.9, 0.2]), 2), [0, 2])
    np.testing.assert_array_equal(round_up(np.array([0.0, 0.0, 1.0]), 2), [2])


def test_a_feature_without_weight_is_left_out() -> None:
    X, y, _ = planted(6, 2, 40, seed=10)
    X[3] = 0
    assert 3 not in evaluate(Gram.of(X, y), np.array([1, 3]), 0.1).support
