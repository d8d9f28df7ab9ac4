"""What a worker does: pure functions from columns to small answers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.algorithm.ranking import merge, top
from backbone_dask.protocols import ExtractRelevant, FeatureSource, Fit, FitSubproblem, Screen
from backbone_dask.values import Answer, CandidateIds, FeatureBlock, Outcome, Ranking, Standardised, Subproblem, Target


def screen_blocks(source: FeatureSource, blocks: list[FeatureBlock], y: Target, screen: Screen, keep: int) -> Ranking:
    """The best `keep` columns of some blocks, read and scored one block at a time."""
    parts: list[Ranking] = []
    for block in blocks:
        parts.append(_screen_block(source, block, y, screen, keep))
        # Merging costs as much as scoring a small block, so it waits until the lists have grown.
        if sum(part.candidates.size for part in parts) > 4 * keep:
            parts = [merge(parts, keep)]
    return merge(parts, keep)


def _screen_block(source: FeatureSource, block: FeatureBlock, y: Target, screen: Screen, keep: int) -> Ranking:
    columns = source.read(block)
    utilities = screen(columns, y)
    varies = columns.scale > 0
    ids = np.arange(block.start, block.stop)[varies]
    best, values = top(ids, utilities[varies], keep)
    return Ranking(best, values, block.size, block.size - ids.size)


def standardised_columns(source: FeatureSource, ids: CandidateIds) -> Standardised:
    """Survivors as the solvers take them."""
    return source.gather(ids).standardised()


def take(partition: Standardised, positions: NDArray[np.int64]) -> Standardised:
    """Some columns of a partition."""
    return np.asarray(partition[positions])


def solve_subproblem(
    subproblem: Subproblem,
    pieces: list[Standardised],
    y: Target,
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
    pieces: list[Standardised], y: Target, fit: Fit[Any], warm_start: CandidateIds, seconds: float
) -> Outcome[Any]:
    """The exact fit on the backbone's columns."""
    return fit(np.concatenate(pieces), y, warm_start=warm_start, seconds=seconds)
