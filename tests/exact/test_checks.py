"""What exact solvers refuse, and what they must not take for ever about."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from exact_cases import NOWHERE, planted, value
from logistic_exact_cases import planted as planted_labels

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.exact.branch_and_bound import fit_branch_and_bound
from backbone_dask.exact.logistic_outer_approximation import fit_logistic_outer_approximation
from backbone_dask.exact.outer_approximation import fit_outer_approximation
from backbone_dask.exact.structured_logistic import fit_structured_logistic_outer_approximation
from backbone_dask.exact.structured_outer_approximation import fit_structured_outer_approximation
from backbone_dask.structure import Structure
from backbone_dask.values import Outcome, SparseFit, Termination

SETTINGS = {"n_nonzero": 3, "gamma": 1.0, "warm_start": NOWHERE, "seconds": 3.0, "gap_tolerance": 1e-4}


def structured(X: np.ndarray, y: np.ndarray, **settings: object) -> Outcome[SparseFit]:
    return fit_structured_outer_approximation(X, y, Structure.single(len(X)), **settings)


def structured_labels(X: np.ndarray, margin: object, **settings: object) -> Outcome[SparseFit]:
    return fit_structured_logistic_outer_approximation(X, margin, Structure.single(len(X)), **settings)


SQUARED = [fit_branch_and_bound, fit_outer_approximation, structured]
LOGISTIC = [fit_logistic_outer_approximation, structured_labels]


@pytest.mark.parametrize("setting", [{"gamma": -1.0}, {"gamma": 0.0}, {"gamma": np.inf}, {"n_nonzero": -1}])
@pytest.mark.parametrize("fit", SQUARED + LOGISTIC)
def test_settings_out_of_range_are_refused(fit: Callable, setting: dict[str, float]) -> None:
    X, y, _ = planted(8, 2, 30, seed=1)
    explained = planted_labels(8, 2, 30, seed=1)[1] if fit in LOGISTIC else y
    with pytest.raises(InvalidSettingError, match=next(iter(setting))):
        fit(X, explained, **{**SETTINGS, **setting})


@pytest.mark.parametrize("fit", SQUARED + LOGISTIC)
def test_values_that_are_not_finite_are_refused(fit: Callable) -> None:
    X, y, _ = planted(8, 2, 30, seed=1)
    explained = planted_labels(8, 2, 30, seed=1)[1] if fit in LOGISTIC else y
    X[2, 3] = np.nan
    with pytest.raises(InvalidDataError, match="X holds values"):
        fit(X, explained, **SETTINGS)


@pytest.mark.parametrize("fit", SQUARED)
def test_targets_that_cannot_be_used_are_refused(fit: Callable) -> None:
    X, y, _ = planted(8, 2, 30, seed=1)
    with pytest.raises(InvalidDataError, match="y holds values"):
        fit(X, np.where(np.arange(30) == 4, np.nan, y), **SETTINGS)
    with pytest.raises(InvalidDataError, match="does not fit y"):
        fit(X, y[:-1], **SETTINGS)
    with pytest.raises(InvalidDataError, match="overflow"):
        fit(X, y * 1e154, **SETTINGS)


@pytest.mark.parametrize("fit", SQUARED)
def test_a_target_may_be_as_large_as_its_square_allows(fit: Callable) -> None:
    X, y, _ = planted(8, 2, 30, seed=1)
    outcome, plain = fit(X, y * 1e145, **SETTINGS), fit(X, y, **SETTINGS)
    assert outcome.termination is Termination.PROVEN
    np.testing.assert_array_equal(outcome.model.support, plain.model.support)


@pytest.mark.parametrize("fit", SQUARED + LOGISTIC)
def test_a_warm_start_of_every_column_does_not_outlast_the_limit(fit: Callable) -> None:
    X, y, truth = planted(400, 5, 600, rho=0.3, snr=20, seed=1)
    explained = planted_labels(400, 5, 600, seed=1)[1] if fit in LOGISTIC else y
    fit(X[:6], explained, **SETTINGS)  # the first solve compiles
    started = time.monotonic()
    outcome = fit(X, explained, **{**SETTINGS, "n_nonzero": 5, "warm_start": np.arange(400), "seconds": 0.0})
    assert time.monotonic() - started < 1.5
    if fit in SQUARED:
        assert outcome.objective <= value(X, y, tuple(truth), 1.0) * (1 + 1e-9)
