"""Matrices in HDF5 as AnnData keeps them, samples by features, read by blocks of features."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from backbone_dask.store.ingest.scratch import made_once, place_for
from backbone_dask.store.ingest.table import Workshop
from backbone_dask.store.tables import stored_dtype
from backbone_dask.values import FeatureBlock

X = "X"
# Entries of the rows that one task turns round: about 100 MB while it does.
MOST_ENTRIES = 4_000_000


class Matrix(ABC):
    """Values (features, samples) of a block, in the dtype of the file. Small to pickle."""

    @abstractmethod
    def read(self, block: FeatureBlock, n_samples: int) -> NDArray[Any]: ...


@dataclass(frozen=True, slots=True)
class Dense(Matrix):
    """An array: HDF5 finds the columns."""

    path: str

    def read(self, block: FeatureBlock, n_samples: int) -> NDArray[Any]:
        with h5(self.path) as file:
            values: NDArray[Any] = file[X][:, block.start : block.stop].T
        return values


@dataclass(frozen=True, slots=True)
class SparseColumns(Matrix):
    """CSC: the entries of a block lie together."""

    path: str

    def read(self, block: FeatureBlock, n_samples: int) -> NDArray[Any]:
        with h5(self.path) as file:
            group = file[X]
            out = np.zeros((block.size, n_samples), group["data"].dtype)
            _add(out, group["indptr"], group["indices"], group["data"], block, 0)
        return out


@dataclass(frozen=True, slots=True)
class TurnedRows(Matrix):
    """CSR that was turned round: batches of rows in a folder, each as CSC. `starts` are their first rows."""

    folder: str
    starts: tuple[int, ...]

    def read(self, block: FeatureBlock, n_samples: int) -> NDArray[Any]:
        out: NDArray[Any] | None = None
        for index, start in enumerate(self.starts):
            pointers, indices, data = (_mapped(_batch(self.folder, index), name) for name in _PARTS)
            if out is None:
                out = np.zeros((block.size, n_samples), data.dtype)
            _add(out, pointers, indices, data, block, start)
        assert out is not None
        return out


_PARTS = ("indptr", "indices", "data")


def turned_rows(path: str, workshop: Workshop) -> TurnedRows:
    """Turn a CSR matrix round on the workers, a batch of rows at a time; finished batches are found again."""
    folder = place_for(path, workshop) + ".csc"
    os.makedirs(folder, exist_ok=True)
    with h5(path) as file:
        bounds = _bounds(file[X]["indptr"][:])
    items = ((path, _batch(folder, index), start, stop) for index, (start, stop) in enumerate(bounds))
    for (_, stop), _ in zip(bounds, workshop.executor.map(_turn, items), strict=True):
        workshop.told("turning rows", stop, bounds[-1][1], "samples")
    return TurnedRows(folder, tuple(start for start, _ in bounds))


def _bounds(pointers: NDArray[Any]) -> list[tuple[int, int]]:
    """Runs of rows with about as many entries as a task can take; a row is never cut."""
    bounds, n_rows, start = [], pointers.size - 1, 0
    while start < n_rows:
        fitting = int(np.searchsorted(pointers, int(pointers[start]) + MOST_ENTRIES, side="right")) - 1
        stop = min(max(fitting, start + 1), n_rows)
        bounds.append((start, stop))
        start = stop
    return bounds


def _turn(path: str, place: str, start: int, stop: int) -> None:
    made_once(place, lambda folder: _write(_rows(path, start, stop), folder))


def _rows(path: str, start: int, stop: int) -> Any:
    with h5(path) as file:
        group = file[X]
        pointers = group["indptr"][start : stop + 1]
        first, last = int(pointers[0]), int(pointers[-1])
        shape = (stop - start, int(group.attrs["shape"][1]))
        # scipy knows no matrix of 16-bit floats.
        data = group["data"][first:last].astype(stored_dtype(group["data"].dtype))
        return sparse.csr_matrix((data, group["indices"][first:last], pointers - first), shape)


def _write(rows: Any, folder: str) -> None:
    turned = rows.tocsc()
    # Entries of one place are added up, as scipy and AnnData do.
    turned.sum_duplicates()
    os.makedirs(folder)
    for name in _PARTS:
        np.save(f"{folder}/{name}.npy", getattr(turned, name))


def _batch(folder: str, index: int) -> str:
    return f"{folder}/{index:06d}"


def _mapped(folder: str, name: str) -> NDArray[Any]:
    values: NDArray[Any] = np.load(f"{folder}/{name}.npy", mmap_mode="r")
    return values


def _add(out: NDArray[Any], pointers: Any, indices: Any, data: Any, block: FeatureBlock, row: int) -> None:
    """Entries of CSC columns into their places; `row` is the sample of the first row."""
    cuts = np.asarray(pointers[block.start : block.stop + 1]).astype(np.int64)
    features = np.repeat(np.arange(block.size), np.diff(cuts))
    samples = row + np.asarray(indices[cuts[0] : cuts[-1]]).astype(np.int64)
    np.add.at(out, (features, samples), np.asarray(data[cuts[0] : cuts[-1]]))


def h5(path: str) -> Any:
    return import_module("h5py").File(path, "r")
