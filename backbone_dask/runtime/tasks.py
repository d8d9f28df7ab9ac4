"""What a worker does: pure functions from columns to small answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from backbone_dask.protocols import ExtractRelevant, FeatureSource, Fit, FitSubproblem, PrepareColumns
from backbone_dask.runtime.meter import Resident
from backbone_dask.values import Answer, CandidateIds, Outcome, Standardised, Subproblem


def prepared_columns(source: FeatureSource, ids: CandidateIds, prepare: PrepareColumns) -> Resident:
    """Survivors as the solvers take them."""
    return Resident(prepare(source.gather(ids)))


def n_columns(partition: Resident) -> int:
    return len(partition.here())


def take(partition: Resident, positions: NDArray[np.int64]) -> Resident:
    """Some columns of a partition."""
    return Resident(np.asarray(partition.here()[positions]))


Piece: TypeAlias = Resident | tuple[Resident, NDArray[np.int64]]
"""Columns that were taken out of a partition, or a partition that is here with the positions of those wanted."""


def joined(pieces: Sequence[Piece]) -> Standardised:
    """Columns from several partitions as one table, in the order of the pieces."""
    parts = [(piece[0].here(), piece[1]) if isinstance(piece, tuple) else (piece.here(), None) for piece in pieces]
    lengths = [len(columns if positions is None else positions) for columns, positions in parts]
    first = parts[0][0]
    table = np.empty((sum(lengths), first.shape[1]), first.dtype)
    for (columns, positions), stop, length in zip(parts, np.cumsum(lengths), lengths, strict=True):
        rows = table[stop - length : stop]
        if positions is None:
            rows[:] = columns
        else:
            # With "raise" numpy would copy once more, in case of an error.
            np.take(columns, positions, axis=0, out=rows, mode="clip")
    return table


def on_columns(function: Callable[..., Any], partition: Resident, *arguments: Any) -> Any:
    """function(columns, *arguments)"""
    return function(partition.here(), *arguments)


def solve_subproblem(
    subproblem: Subproblem,
    pieces: list[Piece],
    y: Any,
    fit_subproblem: FitSubproblem[Any],
    extract_relevant: ExtractRelevant,
) -> Answer:
    """Fit the sampled columns; the answer is in global ids."""
    began = time.perf_counter()
    model = fit_subproblem(joined(pieces), y, seed=subproblem.seed)
    relevant = subproblem.candidates[extract_relevant(model)]
    objective = float(getattr(model, "objective", np.nan))
    return Answer(subproblem.level, subproblem.index, relevant, objective, time.perf_counter() - began)


def solve_reduced(pieces: list[Piece], y: Any, fit: Fit[Any], warm_start: CandidateIds, seconds: float) -> Outcome[Any]:
    """The exact fit on the backbone's columns."""
    return fit(joined(pieces), y, warm_start=warm_start, seconds=seconds)
