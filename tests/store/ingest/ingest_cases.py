"""Small tables as people have them, and what a store of them must hold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from backbone_dask.store import open_store


def numbers(n_samples=12, n_features=30, dtype="float32", seed=0):
    """Samples x features."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.normal(2, 3, (n_samples, n_features)).astype(dtype)
    return rng.integers(0, 100, (n_samples, n_features)).astype(dtype)


def ids(n_samples=12, first=0):
    return [f"s{first + at}" for at in range(n_samples)]


def parquet(path, X, *, names=None, group=None, **beside):
    """A Parquet file of X (samples, features), with more columns before it."""
    named = dict(zip(names or [f"g{j}" for j in range(X.shape[1])], X.T, strict=True))
    pq.write_table(pa.table({**beside, **named}), path, row_group_size=group or X.shape[0])
    return path


def csv(path, header, *rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in (header, *rows)) + "\n")
    return path


def matrix(location):
    """All values of a store, samples x features, missing ones as they are kept."""
    store = open_store(location)
    return np.concatenate([store.read(block).values for block in store.blocks(7)]).T


def nothing_written(folder, name="out.zarr"):
    """Whether nothing has the final name, nor the name of a store that was replaced."""
    return not (folder / name).exists() and not (folder / f"{name}.replaced").exists()
