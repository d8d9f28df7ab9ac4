"""Reading a finished zarr store."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import zarr
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.errors import CorruptBlockError
from backbone_dask.store import locate
from backbone_dask.store.base import FeatureStore, found
from backbone_dask.store.schema import read_schema
from backbone_dask.store.synthetic.truths import truth_from_json
from backbone_dask.store.writer import VECTOR_CHUNK, fill_value
from backbone_dask.values import CandidateIds, FeatureBlock, Target

T = TypeVar("T")


class ZarrStore(FeatureStore):
    """A store on disk or behind any URL that fsspec opens. A worker gets the location and opens it anew."""

    def __init__(self, location: str | os.PathLike[str]) -> None:
        self.location = locate.plain(location)
        group = locate.open_group(self.location)
        self.schema = read_schema(dict(group.attrs), self.location)
        self.n_features, self.n_samples = self.schema.n_features, self.schema.n_samples
        self.dtype = np.dtype(self.schema.dtype)
        self.named, self.missing = self.schema.named, self.schema.missing
        truth = group.attrs.get("truth")
        self.truth = truth_from_json(truth) if truth else None
        self._group = group
        self._X: zarr.Array[Any] = group["X"]
        # Per store, not per module: a store that was written again must not answer from the old one's cache.
        self._vector_part = lru_cache(maxsize=64)(self._read_vector_part)

    def __reduce__(self) -> tuple[type[ZarrStore], tuple[str]]:
        return ZarrStore, (self.location,)

    @property
    def targets(self) -> Mapping[str, Target]:
        return {name: self._guarded(lambda a=array: np.asarray(a[:]), f"target {name!r}") for name, array in self._group["targets"].arrays()}

    def read(self, block: FeatureBlock) -> Columns:
        """The columns of one block; a byte that was changed on disk raises CorruptBlockError."""
        what = f"block {block.index} (features {block.start} to {block.stop - 1})"
        values = self._guarded(lambda: np.asarray(self._X[block.start : block.stop]), what)
        self._require_chunks(values, np.arange(block.start, block.stop), what)
        return self._columns(values, slice(block.start, block.stop))

    def gather(self, ids: CandidateIds) -> Columns:
        """The columns of sorted ids."""
        try:
            values = np.asarray(self._X.oindex[ids, :])
        except (ValueError, RuntimeError):
            for block in self._touched(ids):
                self.read(block)
            raise
        self._require_chunks(values, ids, "the store")
        return self._columns(values, ids)

    def names(self, ids: CandidateIds) -> list[str]:
        if not self.named:
            return super().names(ids)
        raw = self._guarded(lambda: np.asarray(self._group["names"].oindex[ids, :]), "names")
        return _decoded(raw)

    def find(self, names: list[str]) -> CandidateIds:
        if not self.named:
            return super().find(names)
        ids = dict.fromkeys(names, -1)
        for start in range(0, self.n_features, VECTOR_CHUNK):
            stop = min(start + VECTOR_CHUNK, self.n_features)
            for offset, name in enumerate(self.names(np.arange(start, stop))):
                if name in ids:
                    ids[name] = start + offset
        return found(names, np.array([ids[name] for name in names], np.int64), self.location)

    def missing_counts(self) -> NDArray[np.int64]:
        """Missing values of every feature, shape (features,)."""
        return self._guarded(lambda: np.asarray(self._group["missing"][:]), "missing counts")

    def _features_per_block(self) -> int:
        wanted = super()._features_per_block()
        return max(1, wanted // self.schema.chunk_features) * self.schema.chunk_features

    def _columns(self, values: NDArray[Any], where: slice | CandidateIds) -> Columns:
        return Columns(values, self._vector("mean", where), self._vector("scale", where), self.schema.missing_code)

    def _vector(self, name: str, where: slice | CandidateIds) -> NDArray[np.float64]:
        ids = np.arange(where.start, where.stop) if isinstance(where, slice) else where
        out = np.empty(ids.size)
        part = ids // VECTOR_CHUNK
        for index in np.unique(part):
            out[part == index] = self._vector_part(name, int(index))[ids[part == index] - index * VECTOR_CHUNK]
        return out

    def _read_vector_part(self, name: str, index: int) -> NDArray[np.float64]:
        start = index * VECTOR_CHUNK
        return self._guarded(lambda: np.asarray(self._group[name][start : start + VECTOR_CHUNK]), f"vector {name!r}")

    def _touched(self, ids: CandidateIds) -> list[FeatureBlock]:
        blocks = self.blocks(self.schema.chunk_features)
        return [blocks[index] for index in np.unique(ids // self.schema.chunk_features)]

    def _guarded(self, read: Callable[[], T], what: str) -> T:
        try:
            return read()
        except (ValueError, RuntimeError) as cause:
            raise CorruptBlockError(
                f"{what} of {self.location} does not match its checksum ({cause}); "
                "the bytes on disk have changed: restore the file or write the store again"
            ) from cause

    def _require_chunks(self, values: NDArray[Any], ids: CandidateIds, what: str) -> None:
        """zarr answers for a lost chunk with the fill value; a column of it is looked at more closely."""
        fill = fill_value(self.schema.dtype)
        suspects = ids[np.isnan(values[:, 0]) if np.isnan(fill) else values[:, 0] == fill]
        for index in np.unique(suspects // self.schema.partition_features):
            key = self._X.metadata.encode_chunk_key((int(index), 0))  # type: ignore[union-attr]
            if not locate.exists(f"{self.location}/X/{key}"):
                raise CorruptBlockError(f"{what} of {self.location}: the file X/{key} is missing; restore it or write the store again")


def _decoded(raw: NDArray[np.uint8]) -> list[str]:
    return [bytes(row).rstrip(b"\0").decode() for row in raw]
