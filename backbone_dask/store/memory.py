"""Stores over what people have in memory: numpy, scipy.sparse, dask.array, pandas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidDataError
from backbone_dask.store.base import FeatureStore, found, only_one
from backbone_dask.store.excerpt import Excerpt
from backbone_dask.store.missing import admit
from backbone_dask.store.schema import MissingPolicy, require_policy
from backbone_dask.store.tables import as_table, stored_dtype
from backbone_dask.store.targets import checked_targets
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
        self._table, own_names = as_table(table)
        self.n_samples, self.n_features = (int(extent) for extent in self._table.shape)
        self.dtype = stored_dtype(self._table.dtype)
        self._names = own_names if names is None else _checked_names(names, self.n_features)
        self.named = self._names is not None
        # Whole numbers in memory have no code for what is missing: every value means itself.
        policy = require_policy(missing)
        self.missing = policy if self.dtype.kind == "f" else "refuse"
        self._targets = checked_targets(targets, self.n_samples)

    @property
    def targets(self) -> Mapping[str, Target]:
        return self._targets

    def raw(self, block: FeatureBlock) -> NDArray[Any]:
        self.require_block(block)
        return self._dense(self._table[:, block.start : block.stop])

    def read(self, block: FeatureBlock) -> Columns:
        return admit(self.raw(block), self.missing, lambda row: self.label(block.start + row))[0]

    def gather(self, ids: CandidateIds) -> Columns:
        self.require_ids(ids)
        return admit(self._dense(self._table[:, ids]), self.missing, lambda row: self.label(int(ids[row])))[0]

    def portion(self, ids: CandidateIds) -> Excerpt:
        contiguous = ids.size and ids[-1] - ids[0] + 1 == ids.size
        columns = self.read(FeatureBlock(0, int(ids[0]), int(ids[-1]) + 1)) if contiguous else self.gather(ids)
        return Excerpt(ids, columns)

    def names(self, ids: CandidateIds) -> list[str]:
        self.require_ids(ids)
        return [self._names[j] for j in ids] if self._names else super().names(ids)

    def find(self, names: list[str]) -> CandidateIds:
        if not self._names:
            return super().find(names)
        ids = only_one(names, enumerate(self._names), self.location)
        return found(names, ids, self.location)

    def _dense(self, part: Any) -> NDArray[Any]:
        dense: NDArray[Any] = part.toarray() if sparse.issparse(part) else np.asarray(part)
        return np.ascontiguousarray(dense.T, self.dtype)


def _checked_names(names: list[str], n_features: int) -> list[str]:
    if len(names) != n_features:
        raise InvalidDataError(f"{len(names)} names were given for {n_features} features")
    return [str(name) for name in names]
