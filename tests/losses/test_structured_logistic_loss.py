"""Logistic fits whose weights keep their sign, against L-BFGS-B with bounds and the optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logistic_cases import Case, draw_case

from backbone_dask.losses.logistic import LogisticFit, fit
from backbone_dask.losses.nonnegative import partly_nonnegative
from backbone_dask.losses.structured_logistic import fit_columns, group_costs
from backbone_dask.structure import Structure
from backbone_dask.testing.literal import least_logistic


def signed_fit(case: Case, start: tuple[np.ndarray, np.ndarray] | None = None) -> LogisticFit:
    first = (np.zeros(len(case.rows)), np.zeros(len(case.margin.basis))) if start is None else start
    structure = Structure.single(len(case.rows), nonnegative=True)
    return fit_columns(case.margin, case.rows, case.gamma, structure, first)


@pytest.mark.parametrize("seed", range(60))
def test_the_least_objective_over_weights_that_are_not_negative(seed: int) -> None:
    case = draw_case(seed)
    found = signed_fit(case)
    assert (found.weights >= 0).all()
    assert (found.removal_cost >= 0).all()
    expected = least_logistic(case.margin, case.rows, case.gamma, nonnegative=True)
    assert found.objective <= expected * (1 + 1e-9)
    assert found.objective == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("seed", range(60))
def test_the_optimality_conditions_hold(seed: int) -> None:
    """w = gamma * max(X'a, 0), and the dual vector is orthogonal to the basis."""
    case = draw_case(seed)
    found = signed_fit(case)
    wanted = case.gamma * np.maximum(case.rows @ found.dual, 0)
    np.testing.assert_allclose(found.weights, wanted, atol=1e-4 * max(case.gamma, 1))
    np.testing.assert_allclose(case.margin.basis @ found.dual, 0, atol=1e-5 * case.margin.y.size)


@pytest.mark.parametrize("seed", range(20))
def test_any_start_leads_to_the_same_fit(seed: int) -> None:
    case, rng = draw_case(seed), np.random.default_rng(seed)
    start = (rng.exponential(size=len(case.rows)), rng.standard_normal(len(case.margin.basis)))
    assert signed_fit(case, start).objective == pytest.approx(signed_fit(case).objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_rows_in_both_directions_leave_the_sign_free(seed: int) -> None:
    case = draw_case(seed)
    both = Case(np.concatenate([case.rows, -case.rows]), case.margin, case.gamma)
    assert signed_fit(both).objective == pytest.approx(fit(case.margin, case.rows, case.gamma).objective, rel=1e-8)


@pytest.mark.parametrize("gamma", [1e-12, 1e12])
@pytest.mark.parametrize("seed", range(6))
def test_gamma_may_be_extreme_and_rows_equal(seed: int, gamma: float) -> None:
    case = draw_case(seed)
    case = Case(np.concatenate([case.rows, case.rows]), case.margin, gamma)
    found = signed_fit(case)
    assert np.isfinite(found.weights).all()
    assert (found.weights >= 0).all()
    assert found.objective <= least_logistic(case.margin, case.rows, gamma, nonnegative=True) * (1 + 1e-6) + 1e-9


@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.integers(0, 3))
def test_partly_nonnegative_weights_meet_the_optimality_conditions(seed: int, n_signed: int, n_free: int) -> None:
    rng = np.random.default_rng(seed)
    size = n_signed + n_free
    root = rng.standard_normal((size, size + 2))
    system, b = root @ root.T + 0.1 * np.eye(size), rng.standard_normal(size)
    point = partly_nonnegative(system, b, n_signed)
    slope, signed = system @ point - b, np.arange(size) < n_signed
    assert (point[signed] >= 0).all()
    assert (slope[signed] >= -1e-8).all()
    np.testing.assert_allclose(slope[~signed | (point > 0)], 0, atol=1e-8)


def test_group_costs_estimate_what_a_removal_costs() -> None:
    rng = np.random.default_rng(5)
    case = draw_case(3)
    rows = rng.standard_normal((5, case.margin.y.size))
    groups = np.array([0, 1, 0, 2, 1])
    whole = fit(case.margin, rows, 0.02)
    costs = group_costs(case.margin, rows, whole, 0.02, groups)
    for group in range(3):
        rest = fit(case.margin, rows[groups != group], 0.02).objective
        assert costs[group] == pytest.approx(rest - whole.objective, rel=0.05)
