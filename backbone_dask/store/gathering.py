"""Scattered rows of a zarr array, by reading the chunks they lie in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

# A chunk is read and checked whole anyway. Slices of a few chunks are five times as fast as zarr's own scattered
# reading of shards; several at a time hide the delay of a store behind a URL.
CHUNKS_AT_ONCE, READERS = 4, 4


def gathered(array: zarr.Array[Any], ids: NDArray[np.int64], chunk: int) -> NDArray[Any]:
    """Rows `ids` of an array (features, samples), in the order of the ids."""
    order = np.argsort(ids, kind="stable")
    out = np.empty((ids.size, array.shape[1]), array.dtype)

    def take(positions: NDArray[np.int64]) -> None:
        rows = ids[positions]
        first, last = int(rows[0]) // chunk, int(rows[-1]) // chunk
        values = np.asarray(array[first * chunk : (last + 1) * chunk])
        out[positions] = values[rows - first * chunk]

    with ThreadPoolExecutor(READERS) as pool:
        list(pool.map(take, _runs(order, ids[order] // chunk)))
    return out


def _runs(order: NDArray[np.int64], chunks: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """`order` cut where a chunk lies between two ids that neither needs, and after a few chunks."""
    before = np.concatenate([chunks[:1], chunks[:-1]])
    begins = (chunks - before > 1) | (chunks // CHUNKS_AT_ONCE != before // CHUNKS_AT_ONCE)
    return [run for run in np.split(order, np.flatnonzero(begins)) if run.size]
