"""A table in memory: an array, a frame, a sparse matrix or a dask array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.store.ingest.columns import split_columns
from backbone_dask.store.ingest.table import Table, Wanted
from backbone_dask.store.ingest.target_files import as_text
from backbone_dask.store.memory import MemoryStore
from backbone_dask.values import FeatureBlock


class MemoryTable(Table):
    """Columns of a frame that are no features are set apart; everything else is the store's business."""

    files = ()

    def __init__(self, data: Any, wanted: Wanted) -> None:
        names = [str(name) for name in data.columns] if hasattr(data, "columns") else []
        split = split_columns(names, wanted, f"a {type(data).__name__} in memory")
        apart = set(range(len(names))) - set(split.features.tolist())
        column = _column_of(data)
        self._fields = {name: np.asarray(column(at)) for name, at in split.fields.items()}
        self.id_column = None if split.sample_id is None else wanted.sample_id
        self._ids = None if split.sample_id is None else as_text(np.asarray(column(split.sample_id)))
        self.excluded = split.excluded
        self._store = MemoryStore(_without(data, split.features) if apart else data, missing="mean")
        self.location, self.dtype = self._store.location, self._store.dtype
        self.n_samples, self.n_features = self._store.n_samples, self._store.n_features

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        return self._store.raw(block)

    def names(self, start: int, stop: int) -> list[str] | None:
        return self._store.names(np.arange(start, stop)) if self._store.named else None

    @property
    def sample_ids(self) -> Sequence[str] | None:
        return self._ids

    @property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        return self._fields


def _column_of(frame: Any) -> Any:
    """How a frame gives a column by position: pandas has iloc, polars takes two positions."""
    return (lambda at: frame.iloc[:, at]) if hasattr(frame, "iloc") else (lambda at: frame[:, at])


def _without(frame: Any, features: NDArray[np.int64]) -> Any:
    return frame.iloc[:, features] if hasattr(frame, "iloc") else frame[:, features.tolist()]
