"""Bases that explain too much: features without anything left to say, rows that depend on each other, separation."""

from __future__ import annotations

import numpy as np
import pytest
from exact_cases import NOWHERE
from logistic_exact_cases import Case

from backbone_dask.exact.logistic_outer_approximation import fit_logistic_outer_approximation
from backbone_dask.exact.structured_logistic import fit_structured_logistic_outer_approximation
from backbone_dask.losses.logistic import Margin
from backbone_dask.structure import Structure
from backbone_dask.values import Outcome, SparseFit


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
