from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from logistic_cases import Case, draw_case, least, literal
from sklearn.linear_model import LogisticRegression

from backbone_dask.errors import InvalidDataError
from backbone_dask.losses.logistic import Margin, curvature, dual_vector, fit, free_part, value

cases = st.integers(0, 10**6).map(draw_case)


@given(cases)
def test_derivatives_are_those_of_the_value(case: Case) -> None:
    u = np.random.default_rng(0).standard_normal(case.margin.y.size)
    step = 1e-4 * np.eye(u.size)[0]
    rise = (value(case.margin, u + step) - value(case.margin, u - step)) / 2e-4
    bend = (value(case.margin, u + step) - 2 * value(case.margin, u) + value(case.margin, u - step)) / 1e-8
    assert dual_vector(case.margin, u)[0] == pytest.approx(-rise, abs=1e-6)
    assert curvature(case.margin, u)[0] == pytest.approx(bend, abs=1e-4)


def test_no_predictor_is_too_large() -> None:
    margin = Margin.of(np.array([1.0, -1.0, 1.0, -1.0]))
    u = np.array([1e6, 1e6, -1e300, 0.0])
    assert value(margin, u) == pytest.approx(1e300)
    np.testing.assert_allclose(dual_vector(margin, u), [0.0, -1.0, 1.0, -0.5])
    np.testing.assert_allclose(curvature(margin, u), [0.0, 0.0, 0.0, 0.25])


@pytest.mark.parametrize("seed", range(40))
def test_a_literal_minimum_agrees(seed: int) -> None:
    case = draw_case(seed)
    found = fit(case.margin, case.rows, case.gamma)
    assert found.objective == pytest.approx(literal(case, found.weights, found.free), rel=1e-12)
    assert found.objective <= least(case) * (1 + 1e-9)


@pytest.mark.parametrize("gamma", [1e-12, 1e-3, 1.0, 100.0])
def test_scikit_learn_agrees(gamma: float) -> None:
    rng = np.random.default_rng(1)
    rows, weights = rng.standard_normal((6, 300)), rng.uniform(0.5, 1.5, 300)
    y = np.where(rng.standard_normal(6) @ rows + rng.standard_normal(300) > 0.5, 1.0, -1.0)
    found = fit(Margin.of(y, weights), rows, gamma)
    peer = LogisticRegression(C=gamma, tol=1e-12, solver="newton-cholesky").fit(rows.T, y, weights)
    np.testing.assert_allclose(found.weights, peer.coef_[0], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found.free, peer.intercept_, rtol=1e-6)


@given(cases)
def test_the_optimum_is_stationary(case: Case) -> None:
    """w = gamma X a and basis @ a = 0, to the precision of the fit."""
    found = fit(case.margin, case.rows, case.gamma)
    slope = found.weights / case.gamma - case.rows @ found.dual
    assert np.abs(slope).max(initial=0) <= 1e-4 * case.margin.y.size
    assert np.abs(case.margin.basis @ found.dual).max(initial=0) <= 1e-4 * case.margin.y.size


@given(cases, st.integers(0, 10))
@example(draw_case(27055), 8)
def test_the_start_does_not_matter(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = 3 * rng.standard_normal(len(case.rows)), 3 * rng.standard_normal(len(case.margin.basis))
    cold = fit(case.margin, case.rows, case.gamma).objective
    assert fit(case.margin, case.rows, case.gamma, start).objective == pytest.approx(cold, rel=1e-9, abs=1e-9)


def test_removal_costs_estimate_what_a_removal_costs() -> None:
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((5, 2000))
    y = np.where(np.array([0.1, -0.1, 0.05, 1.0, 0.0]) @ rows + rng.logistic(size=2000) > 0, 1.0, -1.0)
    margin = Margin.of(y)
    found = fit(margin, rows, 1.0)
    for j in range(3):
        cost = fit(margin, np.delete(rows, j, axis=0), 1.0).objective - found.objective
        assert found.removal_cost[j] == pytest.approx(cost, rel=0.05)


@pytest.mark.parametrize("gamma", [1e-12, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("n_samples", [4, 50])
def test_separable_labels_have_a_finite_fit(gamma: float, n_samples: int) -> None:
    rows = np.random.default_rng(3).standard_normal((6, n_samples))
    margin = Margin.of(np.where(rows[0] > 0, 1.0, -1.0))
    found = fit(margin, rows, gamma)
    assert np.isfinite(found.weights).all()
    assert np.isfinite(found.removal_cost).all()
    assert (found.removal_cost >= 0).all()
    assert found.objective <= value(margin, np.zeros(n_samples))
    if gamma == 1e12:
        assert found.objective < 1e-6


def test_a_basis_that_separates_has_a_finite_free_part() -> None:
    margin = Margin.of(np.ones(30))
    found = fit(margin, np.random.default_rng(4).standard_normal((2, 30)), 1.0)
    assert 10 < found.free[0] < 100
    assert 0 < found.objective < 1e-6


def test_equal_rows_share_the_weight() -> None:
    row = np.random.default_rng(5).standard_normal((1, 40))
    margin = Margin.of(np.where(row[0] > 0.5, 1.0, -1.0))
    found = fit(margin, np.repeat(row, 3, axis=0), 1e9)
    np.testing.assert_allclose(found.weights, found.weights[0], rtol=1e-3)


@given(cases)
def test_the_free_part_takes_the_basis_out_of_the_dual_vector(case: Case) -> None:
    offset = np.random.default_rng(0).standard_normal(case.margin.y.size)
    u = offset + free_part(case.margin, offset) @ case.margin.basis
    sizes = np.abs(case.margin.basis) @ case.margin.weights
    assert (np.abs(case.margin.basis @ dual_vector(case.margin, u)) <= 1e-8 * sizes).all()


def test_samples_without_weight_do_not_count() -> None:
    rng = np.random.default_rng(6)
    rows, y = rng.standard_normal((2, 30)), np.where(np.arange(30) % 3 > 0, 1.0, -1.0)
    weights = np.where(np.arange(30) < 20, 1.0, 0.0)
    found = fit(Margin.of(y, weights), rows, 1.0)
    np.testing.assert_allclose(found.weights, fit(Margin.of(y[:20]), rows[:, :20], 1.0).weights)
    assert not found.dual[20:].any()


def test_equal_input_gives_equal_bits() -> None:
    case = draw_case(5)
    first, second = (fit(case.margin, case.rows, case.gamma) for _ in range(2))
    assert first.weights.tobytes() == second.weights.tobytes()
    assert first.objective == second.objective


@pytest.mark.parametrize(
    ("y", "weights", "basis", "complaint"),
    [
        ([0.0, 1.0], None, None, "recode"),
        ([[1.0, -1.0]], None, None, "vector"),
        ([np.nan, 1.0], None, None, "recode"),
        ([1.0, -1.0], [1.0], None, "weights of shape"),
        ([1.0, -1.0], [1.0, -1.0], None, "not negative"),
        ([1.0, -1.0], [0.0, 0.0], None, "all zero"),
        ([1.0, -1.0], [np.inf, 0.0], None, "finite"),
        ([1.0, -1.0], None, [[1.0]], "basis of shape"),
        ([1.0, -1.0], None, [1.0, 1.0], "basis of shape"),
        ([1.0, -1.0], None, [[1.0, np.nan]], "drop"),
    ],
)
def test_bad_margins_are_refused(y: list, weights: list | None, basis: list | None, complaint: str) -> None:
    given_weights = None if weights is None else np.array(weights)
    with pytest.raises(InvalidDataError, match=complaint):
        Margin.of(np.array(y), given_weights, None if basis is None else np.array(basis))
