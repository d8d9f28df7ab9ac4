"""Scattered columns of a store, by reading the chunks they lie in."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.store.schema import Schema

# A chunk is read and checked whole anyway. Slices of a few chunks are five times as fast as zarr's own scattered
# reading of shards; several at a time hide the delay of a store behind a URL.
CHUNKS_AT_ONCE, READERS = 4, 4


def gathered(read: Callable[[int, int], NDArray[Any]], schema: Schema, ids: NDArray[np.int64]) -> NDArray[Any]:
    """Columns of `ids`, in their order, by a function that reads the features [start, stop)."""
    chunk = schema.chunk_features
    order = np.argsort(ids, kind="stable")
    out = np.empty((ids.size, schema.n_samples), schema.dtype)

    def take(positions: NDArray[np.int64]) -> None:
        rows = ids[positions]
        first, last = int(rows[0]) // chunk, int(rows[-1]) // chunk
        values = read(first * chunk, (last + 1) * chunk)
        out[positions] = values[rows - first * chunk]

    with ThreadPoolExecutor(READERS) as pool:
        list(pool.map(take, _runs(order, ids[order] // chunk)))
    return out


def _runs(order: NDArray[np.int64], chunks: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """`order` cut where a chunk lies between two ids that neither needs, and after a few chunks."""
    before = np.concatenate([chunks[:1], chunks[:-1]])
    begins = (chunks - before > 1) | (chunks // CHUNKS_AT_ONCE != before // CHUNKS_AT_ONCE)
    return [run for run in np.split(order, np.flatnonzero(begins)) if run.size]
