"""Starts are positions in X, whatever the loss and the structure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from relaxation_cases import planted

from backbone_dask.errors import InvalidSettingError
from backbone_dask.losses.logistic import Margin
from backbone_dask.structure import Structure
from backbone_dask.subproblems.logistic_relaxation import fit_logistic_relaxation
from backbone_dask.subproblems.relaxation import fit_relaxation
from backbone_dask.subproblems.structured import fit_structured
from backbone_dask.subproblems.structured_logistic import fit_structured_logistic

X, Y, _ = planted(0, n=60, p=20, k=3, rho=0.0, snr=5.0)
LABELS, PAIRS = Margin.of(np.where(Y > 0, 1.0, -1.0)), Structure(np.arange(20) // 2, False)
SOLVERS = [
    lambda **settings: fit_relaxation(X, Y, **settings),
    lambda **settings: fit_logistic_relaxation(X, LABELS, **settings),
    lambda **settings: fit_structured(X, Y, PAIRS, **settings),
    lambda **settings: fit_structured_logistic(X, LABELS, PAIRS, **settings),
]


@pytest.mark.parametrize("start", [[-1], [20], [3, 99], [-5, 2]])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_outside_of_the_columns_is_refused(solver: Callable, start: list[int]) -> None:
    with pytest.raises(InvalidSettingError, match="outside of the 20 columns"):
        solver(n_nonzero=3, gamma=1.0, seed=0, start=np.array(start))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_may_come_in_any_order_and_twice(solver: Callable) -> None:
    found = [solver(n_nonzero=3, gamma=1.0, seed=0, start=np.array(start)) for start in ([7, 2, 2, 19], [2, 7, 19])]
    np.testing.assert_array_equal(found[0].weights, found[1].weights)
