"""Sources over other sources: what they count, keep in memory, or see differently."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns, on_samples
from backbone_dask.protocols import FeatureSource
from backbone_dask.runtime.cache import BLOCKS, joined_columns
from backbone_dask.runtime.meter import METER
from backbone_dask.values import CandidateIds, FeatureBlock, Mask


@dataclass(frozen=True, slots=True)
class OverSource:
    """All of another source; subclasses change what is read."""

    source: FeatureSource

    @property
    def n_features(self) -> int:
        return self.source.n_features

    @property
    def n_samples(self) -> int:
        return self.source.n_samples

    @property
    def itemsize(self) -> int:
        return self.source.itemsize

    @property
    def waits(self) -> bool:
        return self.source.waits

    @property
    def block_features(self) -> int:
        return self.source.block_features

    def read(self, block: FeatureBlock) -> Columns:
        return self.source.read(block)

    def gather(self, ids: CandidateIds) -> Columns:
        return self.source.gather(ids)

    def portion(self, ids: CandidateIds) -> Self:
        part = self.source.portion(ids)
        return self if part is self.source else replace(self, source=part)


@dataclass(frozen=True, slots=True)
class MeteredSource(OverSource):
    """Counts the bytes that are read, as columns, before any compression."""

    def read(self, block: FeatureBlock) -> Columns:
        return _counted("read", self.source.read(block))

    def gather(self, ids: CandidateIds) -> Columns:
        return _counted("read", self.source.gather(ids))


@dataclass(frozen=True, slots=True)
class CachedSource(OverSource):
    """Keeps the blocks that this process reads, up to `capacity` bytes, and serves them again from memory.

    `identity` tells the table from every other one.
    """

    identity: str
    capacity: int

    def read(self, block: FeatureBlock) -> Columns:
        kept = BLOCKS.block(self.identity, block)
        if kept is not None:
            return _counted("cached", kept)
        columns = self.source.read(block)
        BLOCKS.keep(self.identity, block, columns, self.capacity)
        return columns

    def gather(self, ids: CandidateIds) -> Columns:
        there, kept = BLOCKS.gather(self.identity, ids)
        if kept is None:
            return self.source.gather(ids)
        _counted("cached", kept)
        if there.all():
            return kept
        order = np.argsort(np.argsort(~there, kind="stable"), kind="stable")
        return joined_columns([kept, self.source.gather(ids[~there])])[order]


@dataclass(frozen=True, slots=True)
class WeightedSource(OverSource):
    """Samples of zero weight are as if they were not there: a column that varies on them alone is constant."""

    counted: Mask

    def read(self, block: FeatureBlock) -> Columns:
        return on_samples(self.source.read(block), self.counted)

    def gather(self, ids: CandidateIds) -> Columns:
        return on_samples(self.source.gather(ids), self.counted)


def weighted_source(source: FeatureSource, weights: NDArray[np.float64]) -> FeatureSource:
    """The source as it is where every sample has a weight."""
    return source if (weights > 0).all() else WeightedSource(source, weights > 0)


def _counted(name: str, columns: Columns) -> Columns:
    METER.count(name, columns.values.nbytes)
    return columns
