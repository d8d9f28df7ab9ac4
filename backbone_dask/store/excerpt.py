"""A few columns cut out of a store that lives in one process, for a worker in another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.columns import Columns
from backbone_dask.values import CandidateIds, FeatureBlock


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Columns under their global ids."""

    ids: CandidateIds
    columns: Columns

    @property
    def n_features(self) -> int:
        return self.ids.size

    @property
    def n_samples(self) -> int:
        return int(self.columns.values.shape[1])

    @property
    def itemsize(self) -> int:
        return self.columns.values.itemsize

    @property
    def waits(self) -> bool:
        return False

    @property
    def block_features(self) -> int:
        return self.n_features

    def read(self, block: FeatureBlock) -> Columns:
        start, stop = np.searchsorted(self.ids, (block.start, block.stop))
        return self.columns[start:stop]

    def gather(self, ids: CandidateIds) -> Columns:
        return self.columns[np.searchsorted(self.ids, ids)]

    def portion(self, ids: CandidateIds) -> Excerpt:
        return self
