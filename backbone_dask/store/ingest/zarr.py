"""Any zarr array of samples x features, version 2 or 3, by blocks of columns."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.errors import BaseZarrError

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import locate
from backbone_dask.store.ingest.columns import stored
from backbone_dask.store.ingest.sources import stamp
from backbone_dask.store.ingest.table import Table, Wanted, Workshop
from backbone_dask.store.schema import ATTRIBUTE
from backbone_dask.values import FeatureBlock

_KEPT_BYTES = 128 << 20
_BROKEN = (OSError, ValueError, KeyError, RuntimeError, BaseZarrError)


def open_table(paths: tuple[str, ...], wanted: Wanted, workshop: Workshop) -> Table:
    """The table in a zarr array, or in the only array of a group."""
    (path,) = paths
    return ZarrTable(path)


class ZarrTable(Table):
    """Features have no names of their own; a run of columns that fills chunks is kept for the next block."""

    excluded = frozenset()

    def __init__(self, path: str) -> None:
        self.location, self.files = path, (path,)
        self._mark = str(stamp(path))
        array = _array(path, self._mark)
        if array.ndim != 2 or 0 in array.shape:
            raise InvalidDataError(f"{path} is an array of shape {array.shape}; samples x features are needed")
        self.n_samples, self.n_features = (int(extent) for extent in array.shape)
        self.dtype = stored(np.dtype(array.dtype), path)

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        # Blocks seldom end where chunks do: a chunk that two of them need is decoded once, if it can be kept.
        array = _array(self.location, self._mark)
        width = int((array.shards or array.chunks)[1])
        if width * self.n_samples * array.dtype.itemsize > _KEPT_BYTES:
            return np.ascontiguousarray(_read(array, self.location, block.start, block.stop).T, self.dtype)
        out = np.empty((block.size, self.n_samples), self.dtype)
        for index in range(block.start // width, -(-block.stop // width)):
            strip, first = _strip(self.location, self._mark, index, width), index * width
            start, stop = max(block.start, first), min(block.stop, first + strip.shape[1])
            out[start - block.start : stop - block.start] = strip[:, start - first : stop - first].T
        return out


@lru_cache(maxsize=16)
def _array(path: str, mark: str) -> zarr.Array[Any]:
    try:
        found = zarr.open(locate.zarr_store(path, read_only=True), mode="r")
    except _BROKEN as cause:
        raise InvalidDataError(f"{path} cannot be read as zarr: {cause}") from cause
    if isinstance(found, zarr.Array):
        return found
    if ATTRIBUTE in found.attrs:
        raise InvalidDataError(f"{path} is a feature store already; use it as it is")
    arrays = dict(found.arrays())
    if len(arrays) != 1:
        listed = ", ".join(sorted(arrays)) or "none"
        raise InvalidDataError(
            f"{path} is a group with {len(arrays)} arrays ({listed}); name one: {path}/ARRAY --format zarr"
        )
    return next(iter(arrays.values()))


@lru_cache(maxsize=2)
def _strip(path: str, mark: str, index: int, width: int) -> NDArray[Any]:
    """One column of chunks, all samples."""
    return _read(_array(path, mark), path, index * width, (index + 1) * width)


def _read(array: zarr.Array[Any], path: str, start: int, stop: int) -> NDArray[Any]:
    try:
        return np.asarray(array[:, start:stop])
    except _BROKEN as cause:
        raise InvalidDataError(f"columns {start} to {stop - 1} of {path} cannot be read: {cause}") from cause
