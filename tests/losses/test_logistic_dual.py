from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logistic_cases import Case, draw_case, least, literal

from backbone_dask.losses.logistic import Margin, dual_vector, fit
from backbone_dask.losses.logistic_dual import best_length, certified, dual_value, feasible, predictor_of

cases = st.integers(0, 10**6).map(draw_case)


def bound(case: Case, a: np.ndarray) -> float:
    """The dual bound as it is written down, from what is proven of `a`."""
    proof = feasible(case.margin, a)
    reach = np.abs(case.rows @ proof.a) + np.linalg.norm(case.rows, axis=1) * proof.error
    return float(proof.value - case.gamma / 2 * (reach**2).sum())


@given(cases, st.integers(0, 1000))
def test_no_point_lies_below_the_bound_of_any_dual_vector(case: Case, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = case.margin.y.size
    a = case.margin.y * case.margin.weights * rng.choice([rng.random(n), rng.random(n) ** 20, 1 - rng.random(n) ** 20])
    weights, free = rng.standard_normal(len(case.rows)), rng.standard_normal(len(case.margin.basis))
    lowest = min(literal(case, weights, free), fit(case.margin, case.rows, case.gamma).objective)
    assert bound(case, a) <= lowest * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_the_bound_is_tight_at_the_optimum(seed: int) -> None:
    case = draw_case(seed)
    found = fit(case.margin, case.rows, case.gamma)
    assert bound(case, found.dual) == pytest.approx(least(case), rel=1e-6)
    assert bound(case, found.dual) <= found.objective


@given(cases)
def test_predictor_and_dual_vector_are_inverse(case: Case) -> None:
    u = 3 * np.random.default_rng(0).standard_normal(case.margin.y.size)
    np.testing.assert_allclose(predictor_of(case.margin, dual_vector(case.margin, u)), u, rtol=1e-9, atol=1e-9)


def exact_correction(margin: Margin, a: np.ndarray) -> list[Fraction]:
    """a - M v with sum a = 0 in rational numbers, for an intercept and weights 1."""
    values = [Fraction(float(v)) for v in a]
    spare = [abs(v) * (1 - abs(v)) for v in values]
    share = sum(values) / sum(spare)
    return [v - m * share for v, m in zip(values, spare, strict=True)]


@given(st.integers(0, 10**6), st.floats(0, 1e-3))
def test_the_vector_that_a_proof_is_about_exists_in_exact_arithmetic(seed: int, off: float) -> None:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(30) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    margin = Margin.of(y)
    start = feasible(margin, y * rng.random(30)).a
    proof = certified(margin, start * (1 + off * rng.standard_normal(30)))
    corrected = exact_correction(margin, proof.a)
    assert sum(corrected) == 0
    assert all(0 <= v * int(label) <= 1 for v, label in zip(corrected, y, strict=True))
    distance = sum((v - Fraction(float(x))) ** 2 for v, x in zip(corrected, proof.a, strict=True))
    assert distance <= Fraction(proof.error) ** 2
    assert proof.value <= dual_value(margin, np.array([float(v) for v in corrected]))
    assert proof.value >= dual_value(margin, proof.a) - 30 * off - 1e-10


def test_a_vector_far_from_feasible_proves_nothing() -> None:
    margin = Margin.of(np.array([1.0, 1.0, -1.0]))
    assert certified(margin, np.array([0.9, 0.9, -0.1])).value == 0


def test_labels_that_the_basis_separates_prove_nothing() -> None:
    margin = Margin.of(np.ones(10))
    assert feasible(margin, np.full(10, 0.3)).value == 0


def test_a_dependent_basis_proves_what_an_independent_one_does() -> None:
    margin = Margin.of(np.array([1.0, -1.0, 1.0, -1.0]), basis=np.ones((2, 4)))
    proof = certified(margin, np.array([0.5, -0.5, 0.5, -0.5]))
    assert 4 * np.log(2) * (1 - 1e-6) <= proof.value <= 4 * np.log(2)


@given(cases, st.integers(0, 1000), st.floats(0, 1e6))
def test_a_vector_off_the_basis_pays_for_all_that_a_free_part_could_gain(case: Case, seed: int, size: float) -> None:
    """Rows twice: no correction exists, and the proof is about the vector as it is."""
    rng, basis = np.random.default_rng(seed), case.margin.basis
    margin = Margin.of(case.margin.y, case.margin.weights, np.concatenate([basis, basis]))
    a = feasible(case.margin, margin.y * margin.weights * rng.random(margin.y.size)).a
    proof = certified(margin, a * (1 + 1e-9 * rng.standard_normal(a.size)))
    rms = np.sqrt((basis**2) @ margin.weights / margin.weights.sum())
    free = rng.choice([-1.0, 1.0], len(basis)) * size / rms
    u = rng.standard_normal(len(case.rows)) @ case.rows + free @ basis
    loss = float(margin.weights @ np.logaddexp(0, -margin.y * u))
    assert proof.value <= loss + proof.a @ (u - free @ basis) + 1e-9 * loss


@pytest.mark.parametrize("a", [np.zeros(4), np.array([1.0, -1.0, 1.0, -1.0]), np.array([5.0, -9.0, -2.0, 1.0])])
def test_ends_of_the_box_and_beyond_are_no_error(a: np.ndarray) -> None:
    margin = Margin.of(np.array([1.0, -1.0, 1.0, -1.0]))
    proof = feasible(margin, a)
    assert np.isfinite([proof.value, proof.error, *proof.a]).all()
    assert 0 <= proof.value <= 4 * np.log(2)


@given(cases, st.floats(0, 1e6))
def test_no_length_is_better_than_the_best(case: Case, top: float) -> None:
    a = feasible(case.margin, case.margin.y * case.margin.weights * 0.3).a
    if not a.any():
        return
    best = best_length(case.margin, a, top)
    at = dual_value(case.margin, best * a) - best**2 / 2 * top
    for t in (0.5 * best, 0.9 * best, 0.1, 1.0):
        assert at >= dual_value(case.margin, t * a) - t**2 / 2 * top - 1e-5 * case.margin.y.size
