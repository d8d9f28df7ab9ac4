"""Some features of a table, to be found again in other tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from backbone_dask.problems.prediction import columns_of
from backbone_dask.problems.sparse import raw_values
from backbone_dask.store import FeatureStore
from backbone_dask.values import CandidateIds


@dataclass(frozen=True, slots=True)
class Picked:
    """Features by id and name.

    `means` stand for missing values of whole numbers; without them the means of the table at hand do.
    """

    ids: CandidateIds
    names: tuple[str, ...]
    means: NDArray[np.float64] | None = None

    @classmethod
    def from_store(cls, ids: CandidateIds, store: FeatureStore) -> Picked:
        return cls(ids, tuple(store.names(ids)), store.gather(ids).mean if ids.size else None)

    def table(self, store: FeatureStore) -> NDArray[np.generic]:
        """Their columns (samples, features): floats as they are, others in float64. By name if the store has names."""
        if not self.ids.size:
            return np.empty((store.n_samples, 0))
        columns = columns_of(self, store)
        if columns.values.dtype.kind == "f":
            return columns.values.T
        known = columns if self.means is None else replace(columns, mean=self.means)
        return np.asarray(raw_values(known)).T
