"""Stores over what people have in memory: numpy, scipy.sparse, dask.array, pandas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidDataError
from backbone_dask.store.base import FeatureStore, found
from backbone_dask.store.excerpt import Excerpt
from backbone_dask.store.missing import admit
from backbone_dask.store.schema import DTYPES, MissingPolicy
from backbone_dask.values import CandidateIds, FeatureBlock, Target


class MemoryStore(FeatureStore):
    """A samples x features table of this process, read block by block without a second copy of the whole."""

    def __init__(
        self,
        table: Any,
        *,
        targets: Mapping[str, Any] | None = None,
        names: list[str] | None = None,
        missing: MissingPolicy = "refuse",
    ) -> None:
        self.location = f"a {type(table).__name__} in memory"
        self._table, own_names = _as_table(table)
        self.n_samples, self.n_features = (int(extent) for extent in self._table.shape)
        self.dtype = _stored_dtype(self._table.dtype)
        self._names = names or own_names
        self.named = self._names is not None
        self.missing = missing
        self._targets = {name: np.asarray(values, np.float64) for name, values in (targets or {}).items()}

    @property
    def targets(self) -> Mapping[str, Target]:
        return self._targets

    def raw(self, block: FeatureBlock) -> NDArray[Any]:
        return self._dense(self._table[:, block.start : block.stop])

    def read(self, block: FeatureBlock) -> Columns:
        return admit(self.raw(block), self.missing, first=block.start)[0]

    def gather(self, ids: CandidateIds) -> Columns:
        return admit(self._dense(self._table[:, ids]), self.missing)[0]

    def portion(self, ids: CandidateIds) -> Excerpt:
        contiguous = ids.size and ids[-1] - ids[0] + 1 == ids.size
        columns = self.read(FeatureBlock(0, int(ids[0]), int(ids[-1]) + 1)) if contiguous else self.gather(ids)
        return Excerpt(ids, columns)

    def names(self, ids: CandidateIds) -> list[str]:
        return [self._names[j] for j in ids] if self._names else super().names(ids)

    def find(self, names: list[str]) -> CandidateIds:
        if not self._names:
            return super().find(names)
        at = {name: j for j, name in enumerate(self._names)}
        return found(names, np.array([at.get(name, -1) for name in names], np.int64), self.location)

    def _dense(self, part: Any) -> NDArray[Any]:
        dense: NDArray[Any] = part.toarray() if sparse.issparse(part) else np.asarray(part)
        return np.ascontiguousarray(dense.T, self.dtype)


def _as_table(table: Any) -> tuple[Any, list[str] | None]:
    """Something that slices by column like numpy does, and the names it carried."""
    names = [str(name) for name in table.columns] if hasattr(table, "columns") else None
    if names is not None:
        table = table.to_numpy()
    if sparse.issparse(table):
        table = table.tocsc()
    elif not hasattr(table, "dask"):
        table = np.asarray(table)
    if len(table.shape) != 2 or 0 in table.shape:
        raise InvalidDataError(f"a table of samples x features is needed, not an array of shape {table.shape}")
    return table, names


def _stored_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The narrowest dtype of a store that holds these values."""
    if dtype.name in DTYPES:
        return dtype
    narrow = {"bool": "uint8", "float16": "float32"}.get(dtype.name)
    if narrow is None and dtype.kind not in "iufO":
        raise InvalidDataError(f"a table of {dtype} cannot be used; convert it to numbers")
    return np.dtype(narrow or "float64")
