"""The products of a squared-loss problem."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask.exact.gram import largest_eigenvalue


@pytest.mark.parametrize("p", [1, 40, 299, 300, 600])
@pytest.mark.parametrize("rank", [1, 30, 700])
def test_the_largest_eigenvalue_of_a_large_matrix_is_not_below_its_own(p: int, rank: int) -> None:
    X = np.random.default_rng([p, rank]).standard_normal((p, rank))
    X[1:] += 0.9 * X[:-1]
    exact = np.linalg.eigvalsh(X @ X.T)[-1]
    assert exact * (1 - 1e-12) <= largest_eigenvalue(X @ X.T) <= exact * 1.002
    assert largest_eigenvalue(X @ X.T) == largest_eigenvalue(X @ X.T)


@pytest.mark.parametrize("p", [0, 5, 500])
def test_without_columns_or_products_it_is_zero(p: int) -> None:
    assert largest_eigenvalue(np.zeros((p, p))) == 0
