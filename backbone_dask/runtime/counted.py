"""Samples of zero weight are as if they were not there: a column that varies on them alone is constant."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns, varies_on
from backbone_dask.protocols import FeatureSource
from backbone_dask.values import CandidateIds, FeatureBlock


def counted_source(source: FeatureSource, weights: NDArray[np.float64]) -> FeatureSource:
    """The source as it is where every sample has a weight."""
    return source if (weights > 0).all() else CountedSource(source, np.flatnonzero(weights > 0))


@dataclass(frozen=True, slots=True)
class CountedSource:
    """Columns of another source, of scale 0 where they do not vary among the samples that count."""

    source: FeatureSource
    counted: NDArray[np.int64]

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
        return self._judged(self.source.read(block))

    def gather(self, ids: CandidateIds) -> Columns:
        return self._judged(self.source.gather(ids))

    def portion(self, ids: CandidateIds) -> FeatureSource:
        part = self.source.portion(ids)
        return self if part is self.source else replace(self, source=part)

    def _judged(self, columns: Columns) -> Columns:
        return replace(columns, scale=np.where(varies_on(columns, self.counted), columns.scale, 0.0))
