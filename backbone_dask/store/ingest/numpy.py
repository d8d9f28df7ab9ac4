"""NPY and NPZ: an array by memory map, an archive of arrays, or a sparse matrix as scipy saves it.

An archive is read whole, once in every process that needs it, and must fit in the memory of each worker; an NPY need
not.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import locate
from backbone_dask.store.ingest.columns import split_columns, stored
from backbone_dask.store.ingest.sources import stamp
from backbone_dask.store.ingest.table import Table, Wanted, Workshop
from backbone_dask.store.ingest.target_files import as_text
from backbone_dask.values import FeatureBlock

_NAMES = ("names", "feature_names")
_BROKEN = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error)


def open_table(paths: tuple[str, ...], wanted: Wanted, workshop: Workshop) -> Table:
    """The table in a file that numpy or scipy.sparse saved."""
    (path,) = paths
    return NumpyTable(path, wanted)


class NumpyTable(Table):
    """Samples x features. One-dimensional arrays beside it are names, or columns that may be targets."""

    def __init__(self, path: str, wanted: Wanted) -> None:
        self.location, self.files = path, (path,)
        self._mark = str(stamp(path))
        matrix, beside = _content(path, self._mark)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise InvalidDataError(f"{path} holds an array of shape {matrix.shape}; samples x features are needed")
        self.n_samples, width = (int(extent) for extent in matrix.shape)
        self.dtype = stored(matrix.dtype, path)
        names = next((as_text(beside[name]) for name in _NAMES if _fits(beside.get(name), width)), None)
        split = split_columns(names or [""] * width, wanted, path)
        self._names = None if names is None else [names[at] for at in split.features]
        self._columns, self.n_features, self.excluded = split.features, split.features.size, split.excluded
        own = {name: np.asarray(_dense(matrix, slice(at, at + 1))[0]) for name, at in split.fields.items()}
        rows = {name: values for name, values in beside.items() if _fits(values, self.n_samples) and name not in _NAMES}
        self._fields = rows | own
        self._ids = _ids(matrix, split.sample_id, rows.get(wanted.sample_id or ""))
        self.id_column = None if self._ids is None else wanted.sample_id

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        matrix = _content(self.location, self._mark)[0]
        columns = self._columns[block.start : block.stop]
        adjacent = columns[-1] - columns[0] + 1 == columns.size
        found = _dense(matrix, slice(int(columns[0]), int(columns[-1]) + 1) if adjacent else columns)
        return np.ascontiguousarray(found, self.dtype)

    def names(self, start: int, stop: int) -> list[str] | None:
        return None if self._names is None else self._names[start:stop]

    @property
    def sample_ids(self) -> Sequence[str] | None:
        return self._ids

    @property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        return self._fields


@lru_cache(maxsize=8)
def _content(path: str, mark: str) -> tuple[Any, dict[str, NDArray[Any]]]:
    """The matrix and the one-dimensional arrays beside it; an .npy is mapped, not read."""
    if locate.is_url(path):
        raise InvalidDataError(f"{path} is not on this machine; NPY and NPZ are read from local disks: copy it here")
    try:
        if not zipfile.is_zipfile(path):
            return np.load(path, mmap_mode="r", allow_pickle=False), {}
        with np.load(path, allow_pickle=False) as archive:
            if {"format", "shape", "data"} <= set(archive.files):
                return sparse.csc_array(sparse.load_npz(path)), {}
            return _archived({name: archive[name] for name in archive.files}, path)
    except InvalidDataError:
        raise
    except _BROKEN as cause:
        raise InvalidDataError(f"{path} cannot be read as NPY or NPZ ({cause}); save it again") from cause


def _archived(arrays: dict[str, NDArray[Any]], path: str) -> tuple[Any, dict[str, NDArray[Any]]]:
    matrices = [name for name, values in arrays.items() if values.ndim == 2]
    if len(matrices) != 1:
        found = ", ".join(matrices) or "none"
        raise InvalidDataError(
            f"{path} needs exactly one two-dimensional array, samples x features, and has {len(matrices)} ({found}); "
            "save the table in a file of its own"
        )
    return arrays[matrices[0]], {name: values for name, values in arrays.items() if values.ndim == 1}


def _ids(matrix: Any, column: int | None, beside: NDArray[Any] | None) -> list[str] | None:
    """Ids of samples: an array beside the matrix, or one of its columns."""
    if beside is not None:
        return as_text(beside)
    return None if column is None else as_text(np.asarray(_dense(matrix, slice(column, column + 1))[0]))


def _fits(values: NDArray[Any] | None, length: int) -> bool:
    return values is not None and values.shape == (length,)


def _dense(matrix: Any, columns: Any) -> NDArray[Any]:
    """Some columns as rows."""
    part = matrix[:, columns]
    found: NDArray[Any] = (part.toarray() if sparse.issparse(part) else np.asarray(part)).T
    return found
