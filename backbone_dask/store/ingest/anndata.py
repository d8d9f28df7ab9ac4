"""AnnData files (.h5ad): the matrix X, dense or sparse either way; obs are the samples, var the features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError, MissingExtraError
from backbone_dask.store.ingest.apart import set_apart
from backbone_dask.store.ingest.columns import stored
from backbone_dask.store.ingest.h5_matrix import Dense, Matrix, SparseColumns, X, h5, turned_rows
from backbone_dask.store.ingest.sample_fields import id_column
from backbone_dask.store.ingest.scratch import require_local_file
from backbone_dask.store.ingest.sources import stamp
from backbone_dask.store.ingest.table import Table, Wanted, Workshop
from backbone_dask.store.ingest.target_files import as_text
from backbone_dask.values import FeatureBlock

KINDS = ("array", "csr_matrix", "csc_matrix")
"""Of X, in the words of AnnData."""


class AnnDataTable(Table):
    """X of one file. Counts keep one byte where they have one in the file; other whole numbers become floats."""

    def __init__(self, path: str, matrix: Matrix, wanted: Wanted) -> None:
        self.location, self.files = path, (path,)
        self._matrix, self._mark = matrix, str(stamp(path))
        with h5(path) as file:
            self.n_samples, self.n_features = _shape(file[X])
            self.dtype = _dtype(path, file[X])
        self.id_column = id_column(self.fields, wanted)

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        return np.ascontiguousarray(self._matrix.read(block, self.n_samples), self.dtype)

    def names(self, start: int, stop: int) -> list[str]:
        with h5(self.location) as file:
            return _index(file["var"], start, stop)

    @property
    def sample_ids(self) -> Sequence[str] | None:
        if self.id_column is not None:
            return as_text(self.fields[self.id_column])
        with h5(self.location) as file:
            return _index(file["obs"], 0, self.n_samples)

    @property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        """Columns of obs."""
        return _obs(self.location, self._mark)


@lru_cache(maxsize=2)
def _obs(path: str, mark: str) -> Mapping[str, NDArray[Any]]:
    """What a file says of its samples, read once; its mark tells it from another that has its name later."""
    with h5(path) as file:
        obs = _library().io.read_elem(file["obs"])
    return {str(name): _field(obs[name]) for name in obs.columns}


def open_table(paths: tuple[str, ...], wanted: Wanted, workshop: Workshop) -> Table:
    """X of an .h5ad file; rows of a sparse one (CSR) are turned round in scratch first."""
    (path,) = paths
    _library()
    require_local_file(path)
    return set_apart(AnnDataTable(path, _matrix(path, workshop), wanted), wanted)


def _matrix(path: str, workshop: Workshop) -> Matrix:
    with _opened(path) as file:
        for name in (X, "obs", "var"):
            if name not in file:
                raise InvalidDataError(f"{path} has no {name}, which every AnnData file has; write it with write_h5ad")
        kind = _kind(file[X])
        _require_shape(path, _shape(file[X]), file)
        if kind in KINDS:
            _dtype(path, file[X])
    if kind == "array":
        return Dense(path)
    if kind == "csc_matrix":
        return SparseColumns(path)
    if kind == "csr_matrix":
        return turned_rows(path, workshop)
    raise InvalidDataError(f"X in {path} is {kind}; make it a dense, CSR or CSC matrix of samples x features")


def _opened(path: str) -> Any:
    try:
        return h5(path)
    except OSError as cause:
        raise InvalidDataError(f"{path} is no AnnData file ({cause}); write it with write_h5ad") from cause


def _kind(matrix: Any) -> str:
    """As AnnData says it; an array of another number of dimensions is none."""
    if hasattr(matrix, "shape"):
        return "array" if len(matrix.shape) == 2 else f"an array of {len(matrix.shape)} dimensions"
    return str(matrix.attrs.get("encoding-type", "an unknown group"))


def _shape(matrix: Any) -> tuple[int, int]:
    shape = matrix.shape if hasattr(matrix, "shape") else matrix.attrs.get("shape", (0, 0))
    return (int(shape[0]), int(shape[1])) if len(shape) == 2 else (0, 0)


def _require_shape(path: str, shape: tuple[int, int], file: Any) -> None:
    """X is as long as obs and as wide as var, and neither is empty. Another kind of X is refused later."""
    for extent, name in zip(shape, ("obs", "var"), strict=True):
        found = len(_index(file[name], 0, None))
        if _kind(file[X]) in KINDS and extent != found:
            raise InvalidDataError(
                f"X in {path} is {shape[0]} x {shape[1]}, but {name} has {found} rows; write it again"
            )
        if not found:
            raise InvalidDataError(f"{name} in {path} is empty; there is nothing to read")


def _dtype(path: str, matrix: Any) -> np.dtype[Any]:
    return stored(np.dtype((matrix if hasattr(matrix, "shape") else matrix["data"]).dtype), f"X in {path}")


def _index(frame: Any, start: int, stop: int | None) -> list[str]:
    """What AnnData calls obs_names or var_names; a plain array of text is read in part only."""
    index = frame[frame.attrs["_index"]]
    found = index.asstr()[start:stop] if hasattr(index, "asstr") else _library().io.read_elem(index)[start:stop]
    return [str(each) for each in found]


def _field(column: Any) -> NDArray[Any]:
    """Numbers, also those of categories, with NaN where they are missing; the rest as text, empty where it is."""
    kinds = column.cat.categories.dtype if hasattr(column, "cat") else column.dtype
    if kinds.kind in "iu" and not column.isna().any():
        return np.array(column.tolist())
    if kinds.kind in "biuf":
        return np.array([np.nan if absent else each for each, absent in _entries(column)], np.float64)
    return np.array(["" if absent else str(each) for each, absent in _entries(column)], dtype=str)


def _entries(column: Any) -> Any:
    return zip(column.tolist(), column.isna().tolist(), strict=True)


def _library() -> Any:
    try:
        return import_module("anndata")
    except ImportError as cause:
        raise MissingExtraError("AnnData files need anndata: pip install 'backbone-dask[anndata]'") from cause
