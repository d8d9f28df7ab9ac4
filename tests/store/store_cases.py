"""Small stores written by hand, with every cut that a big one would have."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from backbone_dask.store import MemoryStore, ZarrStore, init_store
from backbone_dask.store.schema import Schema

DTYPES = ("float32", "float64", "int8", "uint8")


def table(dtype, n_features=37, n_samples=11, seed=0):
    """Random columns (features, samples) over the whole range of integers, extremes included."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.normal(3, 2, (n_features, n_samples)).astype(dtype)
    bounds = np.iinfo(dtype)
    return rng.integers(bounds.min, bounds.max, (n_features, n_samples), dtype, endpoint=True)


def schema(X, *, chunk=5, shard=None, missing="refuse", named=False):
    return Schema(X.shape[0], X.shape[1], X.dtype.name, missing, chunk, shard, named)


def fill(draft, X, names=None, order=None):
    """Write the partitions of a draft, in some order."""
    for index in draft.pending() if order is None else order:
        part = draft.schema.partition(index)
        draft.write_partition(
            index, X[part.start : part.stop], None if names is None else names[part.start : part.stop]
        )


def written(location, X, *, names=None, targets=None, overwrite=False, **cut):
    """A finished store of X."""
    draft = init_store(location, schema(X, named=names is not None, **cut), targets=targets or {}, overwrite=overwrite)
    fill(draft, X, names)
    draft.finalise()
    return ZarrStore(location)


def contents(store):
    """Everything a store says, as bytes that can be compared."""
    ids = np.arange(store.n_features)
    read = [store.read(block) for block in store.blocks(10)]
    gathered = store.gather(ids)
    return {
        "X": np.concatenate([columns.values for columns in read]).tobytes(),
        "gathered": gathered.values.tobytes(),
        "mean": gathered.mean.tobytes(),
        "scale": gathered.scale.tobytes(),
        "missing": store.missing_counts().tobytes(),
        "names": store.names(ids),
        "targets": {name: values.tobytes() for name, values in store.targets.items()},
        "schema": store.schema,
    }


def files(location):
    """All files of a store on disk, the root document first."""
    return sorted(
        (path for path in Path(location).rglob("*") if path.is_file()), key=lambda path: (len(path.parts), path)
    )


def python(code, *arguments):
    """A real process that runs `code`."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process):
    """What a process printed; its own complaint if it failed."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


def in_memory(X, **options):
    """A MemoryStore of (features, samples)."""
    return MemoryStore(np.ascontiguousarray(X.T), **options)
