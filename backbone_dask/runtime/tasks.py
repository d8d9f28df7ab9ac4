"""What a worker does: pure functions from columns to small answers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.protocols import ExtractRelevant, FeatureSource, Fit, FitSubproblem, PrepareColumns
from backbone_dask.values import Answer, CandidateIds, Outcome, Standardised, Subproblem


def prepared_columns(source: FeatureSource, ids: CandidateIds, prepare: PrepareColumns) -> Standardised:
    """Survivors as the solvers take them."""
    return prepare(source.gather(ids))


def take(partition: Standardised, positions: NDArray[np.int64]) -> Standardised:
    """Some columns of a partition."""
    return np.asarray(partition[positions])


def solve_subproblem(
    subproblem: Subproblem,
    pieces: list[Standardised],
    y: Any,
    fit_subproblem: FitSubproblem[Any],
    extract_relevant: ExtractRelevant,
) -> Answer:
    """Fit the sampled columns; the answer is in global ids."""
    began = time.perf_counter()
    model = fit_subproblem(np.concatenate(pieces), y, seed=subproblem.seed)
    relevant = subproblem.candidates[extract_relevant(model)]
    objective = float(getattr(model, "objective", np.nan))
    return Answer(subproblem.level, subproblem.index, relevant, objective, time.perf_counter() - began)


def solve_reduced(
    pieces: list[Standardised], y: Any, fit: Fit[Any], warm_start: CandidateIds, seconds: float
) -> Outcome[Any]:
    """The exact fit on the backbone's columns."""
    return fit(np.concatenate(pieces), y, warm_start=warm_start, seconds=seconds)
