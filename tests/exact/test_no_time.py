"""A limit that comes first leaves the relaxation's bound, and its rounding as the answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from exact_cases import NOWHERE, planted
from logistic_exact_cases import planted as planted_labels

from backbone_dask.exact.branch_and_bound import fit_branch_and_bound
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram
from backbone_dask.exact.logistic_data import LogisticData
from backbone_dask.exact.logistic_outer_approximation import fit_logistic_outer_approximation
from backbone_dask.exact.logistic_perspective import solve_logistic_relaxation
from backbone_dask.exact.outer_approximation import fit_outer_approximation
from backbone_dask.exact.perspective import solve_relaxation
from backbone_dask.exact.structured_gram import GroupedGram
from backbone_dask.exact.structured_logistic import fit_structured_logistic_outer_approximation
from backbone_dask.exact.structured_outer_approximation import fit_structured_outer_approximation
from backbone_dask.exact.structured_perspective import solve_group_relaxation
from backbone_dask.structure import Structure
from backbone_dask.values import Outcome, SparseFit

P, K, N = 60, 8, 500
GAMMA = 1 / np.sqrt(N)
PAIRS = Structure(np.arange(P) // 2, False)
SETTINGS = {"n_nonzero": K, "gamma": GAMMA, "warm_start": NOWHERE, "seconds": 0.0, "gap_tolerance": 1e-6}


def squared(fit: Callable[..., Outcome[SparseFit]]) -> tuple[Outcome[SparseFit], float]:
    X, y, _ = planted(P, K, N, seed=2)
    return fit(X, y, **SETTINGS), solve_relaxation(Gram.of(X, y), Face.whole(P, K), GAMMA).bound


def in_pairs() -> tuple[Outcome[SparseFit], float]:
    X, y, _ = planted(P, K, N, seed=2)
    data = GroupedGram.of(Gram.of(X, y), PAIRS)
    relaxed = solve_group_relaxation(data, Face.whole(PAIRS.n_groups, K), GAMMA)
    return fit_structured_outer_approximation(X, y, PAIRS, **SETTINGS), relaxed.bound


def labels() -> tuple[Outcome[SparseFit], float]:
    X, margin, _ = planted_labels(P, K, N, seed=2)
    relaxed = solve_logistic_relaxation(LogisticData.of(X, margin, GAMMA), Face.whole(P, K))
    return fit_logistic_outer_approximation(X, margin, **SETTINGS), relaxed.bound


def labels_one_by_one() -> tuple[Outcome[SparseFit], float]:
    """A structure without any groups, so that the plain relaxation is known to be its own."""
    X, margin, _ = planted_labels(P, K, N, seed=2)
    outcome = fit_structured_logistic_outer_approximation(X, margin, Structure.single(P), **SETTINGS)
    return outcome, labels()[1]


@pytest.mark.parametrize(
    "case",
    [
        lambda: squared(fit_branch_and_bound),
        lambda: squared(fit_outer_approximation),
        in_pairs,
        labels,
        labels_one_by_one,
    ],
    ids=["branch-and-bound", "outer-approximation", "pairs", "labels", "labels-one-by-one"],
)
def test_without_time_the_relaxation_is_what_is_reported(case: Callable[[], tuple[Outcome[SparseFit], float]]) -> None:
    outcome, relaxed = case()
    assert outcome.bound >= relaxed * (1 - 1e-5)
    assert outcome.model.support.size > 0
    assert outcome.gap < 0.05
