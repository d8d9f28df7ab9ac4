"""A table on a cluster: how its columns are read, and which worker holds which."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from backbone_dask.protocols import Executor, FeatureSource
from backbone_dask.runtime.budget import cut_screen
from backbone_dask.runtime.placement import Placement, place
from backbone_dask.runtime.sources import CachedSource, MeteredSource, weighted_source
from backbone_dask.runtime.survivors import Supply, supply
from backbone_dask.values import Seat, Shard

# Of a worker's memory; beyond it Dask would end the worker for what the tasks need on top.
CACHE_SHARE = 0.7


class Table(FeatureSource, Protocol):
    """A source with a name that no other table has, which may know where its columns lie."""

    @property
    def identity(self) -> str: ...

    @property
    def locality(self) -> tuple[Shard, ...]: ...


@dataclass(frozen=True, slots=True)
class Site:
    """What every pass over a table shares."""

    executor: Executor
    source: FeatureSource
    placement: Placement

    def serve(self) -> Supply:
        return supply(self.executor, self.source)

    def weighted(self, weights: NDArray[np.float64]) -> Site:
        """The same site, where samples of zero weight are as if they were not there."""
        return replace(self, source=weighted_source(self.source, weights))


def settle(table: Table, executor: Executor, *, needed_bytes: int = 0) -> Site:
    """Assign the blocks of a table to the workers; one that keeps them leaves `needed_bytes` for everything else."""
    cut = cut_screen(table, 1, executor.worker_bytes)
    placement = place(table.n_features, cut.unit, _seats(executor, table.locality), table.locality)
    # Blocks of another length would overlap with those that are kept.
    identity = f"{table.identity} in blocks of {cut.block}"
    return Site(executor, _read(table, identity, executor, needed_bytes), placement)


def _seats(executor: Executor, locality: tuple[Shard, ...]) -> tuple[Seat, ...]:
    seats = executor.seats()
    if not locality:
        return seats
    hosts = executor.hostnames()
    return tuple(replace(seat, hosts=seat.hosts | {hosts.get(seat.name, seat.name)}) for seat in seats)


def _read(table: Table, identity: str, executor: Executor, needed_bytes: int) -> FeatureSource:
    """What tasks read is counted, and kept in the memory of the workers if that is asked for."""
    source = MeteredSource(table)
    lives_here = table.portion(np.zeros(1, np.int64)) is not table
    if lives_here or not executor.keeps_blocks:
        return source
    capacity = int(CACHE_SHARE * executor.worker_bytes) - needed_bytes
    return CachedSource(source, identity, max(0, capacity))
