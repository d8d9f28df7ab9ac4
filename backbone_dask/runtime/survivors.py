"""Survivors of the screen, held by the workers in partitions; only sampled columns travel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.protocols import Executor, FeatureSource, PrepareColumns
from backbone_dask.runtime.placement import Placement, assign
from backbone_dask.runtime.tasks import n_columns, on_columns, prepared_columns, take
from backbone_dask.values import CandidateIds

Supply = Callable[[CandidateIds, str | None], Any]


def supply(executor: Executor, source: FeatureSource) -> Supply:
    """A handle on a source that serves the ids asked for: one for all, or a piece of a table of this process."""
    if source.portion(np.zeros(1, np.int64)) is source:
        shared = executor.share(source)
        return lambda ids, home: shared
    return lambda ids, home: executor.place(lambda: source.portion(ids), home)


@dataclass(frozen=True, slots=True)
class Survivors:
    """Partitions of standardised columns, by candidate id, and the worker that holds each."""

    executor: Executor
    candidates: CandidateIds
    bounds: tuple[int, ...]
    partitions: tuple[Any, ...]
    placement: Placement
    homes: tuple[str, ...]
    everywhere: bool = False

    def sizes(self) -> Iterator[int]:
        """Features of each partition, as it becomes ready."""
        yield from self.executor.map(n_columns, ((partition,) for partition in self.partitions), self.homes)

    def map(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """function(columns, *arguments) for every partition, where it is held."""
        items = ((function, partition, *arguments) for partition in self.partitions)
        return self.executor.map(on_columns, items, self.homes)

    def columns(self, ids: CandidateIds, reader: str | None = None) -> list[Any]:
        """Handles on pieces which, joined, are the columns of sorted `ids` in their order, for the worker `reader`."""
        positions, cuts = self._cut(ids)
        return [
            self._piece(at, positions[a:b] - self.bounds[at], reader)
            for at, (a, b) in enumerate(pairwise(cuts))
            if a < b or not ids.size
        ]

    def _piece(self, at: int, positions: NDArray[np.int64], reader: str | None) -> Any:
        """The partition itself where it is, or is to be, with its reader; else only the columns that are wanted."""
        partition, home = self.partitions[at], self.homes[at]
        if reader is not None and (self.everywhere or home == reader):
            return partition, positions
        # Before the next fit there, which would keep another worker waiting for its columns.
        return self.executor.submit(take, partition, positions, home=home, priority=1)

    def nearest(self, sets: Sequence[CandidateIds]) -> tuple[str, ...]:
        """For every set of ids a worker that holds most of its columns, as far as the work stays balanced."""
        return assign([ids.size for ids in sets], [self._held(ids) for ids in sets], self.placement.seats)

    def _held(self, ids: CandidateIds) -> dict[str, float]:
        """How many of the columns each worker holds."""
        total: dict[str, float] = {}
        for home, count in zip(self.homes, np.diff(self._cut(ids)[1]), strict=True):
            total[home] = total.get(home, 0.0) + float(count)
        return total

    def _cut(self, ids: CandidateIds) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions among the candidates, and where they pass from one partition to the next."""
        positions = np.searchsorted(self.candidates, ids)
        return positions, np.searchsorted(positions, self.bounds)


def compact(
    executor: Executor,
    serve: Supply,
    candidates: CandidateIds,
    step: int,
    prepare: PrepareColumns,
    placement: Placement,
    *,
    everywhere: bool = False,
) -> Survivors:
    """Read the survivors once, where their blocks lie; from here on no task touches the big store.

    `everywhere` brings every partition to every worker that reads from it, where it stays: less travels if a worker
    solves several subproblems, each of which would otherwise get columns that the one before it had.
    """
    bounds = (*range(0, candidates.size, step), candidates.size)
    shared = executor.share(prepare)
    parts = [candidates[start:stop] for start, stop in pairwise(bounds)]
    homes = assign([ids.size for ids in parts], [placement.wishes(ids) for ids in parts], placement.seats)
    held = tuple(
        executor.submit(prepared_columns, serve(ids, home), ids, shared, home=home)
        for ids, home in zip(parts, homes, strict=True)
    )
    return Survivors(executor, candidates, bounds, held, placement, homes, everywhere)
