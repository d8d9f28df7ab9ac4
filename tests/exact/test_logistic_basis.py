"""Bases that explain too much: features without anything left to say, rows that depend on each other, separation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from exact_cases import NOWHERE, standardised
from logistic_exact_cases import Case

from backbone_dask.adjustment import orthonormal
from backbone_dask.exact.logistic_outer_approximation import fit_logistic_outer_approximation
from backbone_dask.exact.structured_logistic import fit_structured_logistic_outer_approximation
from backbone_dask.losses.logistic import Margin, free_part
from backbone_dask.structure import Structure
from backbone_dask.testing.literal import least_logistic
from backbone_dask.values import Outcome, SparseFit, Termination


def solve(case: Case, structure: Structure | None = None) -> Outcome[SparseFit]:
    settings = {"n_nonzero": case.n_nonzero, "gamma": case.gamma, "warm_start": NOWHERE, "seconds": 10.0}
    if structure is not None:
        return fit_structured_logistic_outer_approximation(
            case.X, case.margin, structure, **settings, gap_tolerance=1e-4
        )
    return fit_logistic_outer_approximation(case.X, case.margin, **settings, gap_tolerance=1e-4)


@pytest.mark.parametrize("structure", [None, Structure.single(4), Structure.single(4, nonnegative=True)])
def test_features_in_the_span_of_the_basis_are_not_needed(structure: Structure | None) -> None:
    """Two samples count, and the basis has two rows."""
    rng = np.random.default_rng(20)
    X, y = rng.standard_normal((4, 10)).astype(np.float32), np.where(rng.random(10) < 0.5, 1.0, -1.0)
    basis = np.vstack([np.ones(10), rng.standard_normal(10)])
    outcome = solve(Case(X, Margin.of(y, (np.arange(10) < 2) * 1.0, basis), 2, 1.0), structure)
    assert 0 <= outcome.bound <= outcome.objective < 1e-6


def rare_covariate(labels: float | None, n_rare: int = 8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six columns, labels, and a dummy of a few samples, which have one label if it is given."""
    rng = np.random.default_rng(3)
    X = standardised(rng.standard_normal((6, 300)))
    y = np.where(1.5 * X[0] - X[1] + 0.5 + rng.logistic(size=300) > 0, 1.0, -1.0)
    dummy = (np.arange(300) < n_rare) * 1.0
    y[:n_rare] = y[:n_rare] if labels is None else labels
    return X, y, dummy


def best_of_pairs(X: np.ndarray, margin: Margin, gamma: float) -> float:
    return min(least_logistic(margin, X[list(pair)].astype(float), gamma) for pair in combinations(range(len(X)), 2))


def checked(case: Case, best: float) -> None:
    outcome = solve(case)
    assert outcome.bound <= best * (1 + 1e-9)
    assert outcome.objective == pytest.approx(best, rel=1e-6)
    assert outcome.termination is Termination.PROVEN


@pytest.mark.parametrize("rotated", [False, True])
def test_a_covariate_without_a_sample_that_counts_changes_nothing(rotated: bool) -> None:
    """Zeros where it stands alone; where it was made orthogonal to the ones, it has become their multiple."""
    X, y, dummy = rare_covariate(None)
    basis = np.vstack([np.ones(300), dummy])
    basis = orthonormal(basis) * np.sqrt(300) if rotated else basis
    best = best_of_pairs(X, Margin.of(y, 1 - dummy), 0.1)
    checked(Case(X, Margin.of(y, 1 - dummy, basis), 2, 0.1), best)


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize(("label", "n_rare"), [(1.0, 8), (-1.0, 8), (1.0, 1)])
def test_samples_that_a_covariate_separates_cost_nothing_and_spoil_no_proof(
    label: float, n_rare: int, rotated: bool
) -> None:
    """Their coefficient grows without end: what is left is the problem without them."""
    X, y, dummy = rare_covariate(label, n_rare)
    basis = np.vstack([np.ones(300), dummy])
    basis = orthonormal(basis) * np.sqrt(300) if rotated else basis
    checked(Case(X, Margin.of(y, None, basis), 2, 0.1), best_of_pairs(X, Margin.of(y, 1 - dummy), 0.1))


@pytest.mark.parametrize("distance", [1e-3, 1e-7, 1e-12])
def test_covariates_that_are_almost_equal_prove_no_more_than_is_true(distance: float) -> None:
    X, y, dummy = rare_covariate(None)
    noise = np.random.default_rng(4).standard_normal(300)
    first = Margin.of(y, None, np.vstack([np.ones(300), dummy, dummy + distance * noise]))
    apart = Margin.of(y, None, np.vstack([np.ones(300), dummy, noise]))
    outcome = solve(Case(X, first, 2, 0.1))
    # Below 1e-10 they count as one.
    best = best_of_pairs(X, apart if distance > 1e-10 else Margin.of(y, None, first.basis[:2]), 0.1)
    assert 0.99 * best < outcome.bound <= best * (1 + 1e-9)


def test_a_row_of_zeros_keeps_the_other_free_parts() -> None:
    _, y, dummy = rare_covariate(None)
    margin = Margin.of(y, 1 - dummy, np.vstack([np.ones(300), dummy]))
    counted = y[dummy == 0] > 0
    np.testing.assert_allclose(free_part(margin, np.zeros(300)), [np.log(counted.sum() / (~counted).sum()), 0])
