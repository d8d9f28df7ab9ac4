"""Files that change while they are read: no store of two versions gets a name, nor is gone on with."""

from __future__ import annotations

import os

import anndata
import bed_reader
import numpy as np
import pandas as pd
import pytest
import zarr
from ingest_cases import csv, ids, matrix, numbers, parquet

from backbone_dask import ingest
from backbone_dask.errors import InvalidDataError
from backbone_dask.store import schema
from backbone_dask.store.ingest.store import IngestedStore

X = numbers(6, 12, dtype="int8") % 3


def written(kind, folder):
    """A table of this kind, and the file to change."""
    if kind == "parquet":
        path = parquet(folder / "a.parquet", X)
    elif kind == "npy":
        path = folder / "a.npy"
        np.save(path, X)
    elif kind == "csv":
        path = csv(folder / "a.csv", [f"g{j}" for j in range(12)], *X.tolist())
    elif kind == "h5ad":
        path = folder / "a.h5ad"
        obs, var = (pd.DataFrame(index=pd.Index(list("abcdefghijkl")[:n], dtype=object)) for n in X.shape)
        anndata.AnnData(X, obs=obs, var=var).write_h5ad(path)
    elif kind in ("bed", "fam"):
        path = folder / "a.bed"
        bed_reader.to_bed(path, X)
    else:
        path = folder / "a.zarr"
        zarr.create_array(path, data=X, chunks=(6, 3))
    return path, {"fam": folder / "a.fam", "zarr": folder / "a.zarr/c/0/0"}.get(kind, path)


def changing(monkeypatch, change):
    """Something happens to files after the second block."""
    read, seen = IngestedStore.raw, []

    def raw(store, block):
        seen.append(block)
        if len(seen) == 2:
            change()
        return read(store, block)

    monkeypatch.setattr(IngestedStore, "raw", raw)


@pytest.mark.parametrize("kind", ["parquet", "npy", "csv", "h5ad", "bed", "fam", "zarr"])
def test_a_file_that_changes_is_refused_and_read_anew(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(schema, "CHUNK_BYTES", 24)
    (source, file), out = written(kind, tmp_path), tmp_path / "out.zarr"
    before = os.stat(file)
    with monkeypatch.context() as patch:
        changing(patch, lambda: os.utime(file, ns=(5, 5)))
        with pytest.raises(InvalidDataError, match=rf"a\.{kind} changed while it was read; ingest it again"):
            ingest(source, out)
    assert not out.exists()
    # Even if the file is what it was again, nothing of the draft may be left.
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not out.with_name("out.zarr.partial").exists()
    ingest(source, out)
    np.testing.assert_array_equal(matrix(out), X)


def test_a_target_file_and_one_that_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(schema, "CHUNK_BYTES", 24)
    table = parquet(tmp_path / "a.parquet", X, id=ids(6))
    targets = csv(tmp_path / "t.csv", ["id", "y"], *([each, 1] for each in ids(6)))
    changing(monkeypatch, targets.unlink)
    with pytest.raises(InvalidDataError, match=r"t\.csv changed while it was read"):
        ingest(table, tmp_path / "out.zarr", target=targets, sample_id="id")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet"]
