"""Survivors of the screen, held by the workers in partitions; only sampled columns travel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from backbone_dask.protocols import Executor, FeatureSource, PrepareColumns
from backbone_dask.runtime.tasks import prepared_columns, take
from backbone_dask.values import CandidateIds

Supply = Callable[[CandidateIds], Any]


def supply(executor: Executor, source: FeatureSource) -> Supply:
    """A handle on a source that serves the ids asked for: one for all, or a piece of a table of this process."""
    if source.portion(np.zeros(1, np.int64)) is source:
        shared = executor.share(source)
        return lambda ids: shared
    return lambda ids: executor.place(source.portion(ids))


@dataclass(frozen=True, slots=True)
class Survivors:
    """Partitions of standardised columns, by candidate id."""

    executor: Executor
    candidates: CandidateIds
    bounds: tuple[int, ...]
    partitions: tuple[Any, ...]

    def sizes(self) -> Iterator[int]:
        """Features of each partition, as it becomes ready."""
        yield from self.executor.map(len, ((partition,) for partition in self.partitions))

    def columns(self, ids: CandidateIds) -> list[Any]:
        """Handles on pieces which, joined, are the columns of sorted `ids` in their order."""
        positions = np.searchsorted(self.candidates, ids)
        cuts = np.searchsorted(positions, self.bounds)
        return [
            self.executor.submit(take, partition, positions[a:b] - start)
            for partition, start, a, b in zip(self.partitions, self.bounds[:-1], cuts[:-1], cuts[1:], strict=True)
            if a < b or not ids.size
        ]


def compact(
    executor: Executor, serve: Supply, candidates: CandidateIds, step: int, prepare: PrepareColumns
) -> Survivors:
    """Read the survivors once; from here on no task touches the big store."""
    bounds = (*range(0, candidates.size, step), candidates.size)
    shared = executor.share(prepare)
    parts = [candidates[start:stop] for start, stop in pairwise(bounds)]
    held = tuple(executor.submit(prepared_columns, serve(ids), ids, shared) for ids in parts)
    return Survivors(executor, candidates, bounds, held)
