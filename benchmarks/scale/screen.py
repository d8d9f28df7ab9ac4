"""The correlation screen of one worker against one `X @ y` of numpy on the same block, side by side.

    python -m benchmarks.scale.screen

"stored" has mean and scale at hand, as columns of a store do, so that a dot product is left; "measured" computes
them first, as for a table in memory that nobody has measured yet.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from backbone_dask.columns import Columns, measured
from backbone_dask.runtime.scoring import screen_blocks
from backbone_dask.screens.correlation import correlation
from backbone_dask.screens.panels import OneQuestion
from backbone_dask.store import MemoryStore

FEATURES, SAMPLES, REPEATS = 100_000, 5_000, 7


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def side_by_side(columns: Columns, y: np.ndarray) -> list[float]:
    """Best GB/s of (numpy, stored, measured), taken in turns so that all see the same machine."""
    vector = y.astype(columns.values.dtype)
    table = MemoryStore(columns.values.T)
    ways = (
        lambda: columns.values @ vector,
        lambda: correlation(columns, y),
        lambda: screen_blocks(table, table.blocks(), OneQuestion(correlation, y), 1000),
    )
    seconds = np.array([[seconds_of(way) for way in ways] for _ in range(REPEATS)])
    return (columns.values.nbytes / 1e9 / seconds.min(axis=0)).tolist()


def main() -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_normal(SAMPLES)
    print("| dtype | numpy X @ y, GB/s | stored, GB/s | ratio | measured, GB/s | ratio |\n| :--- |" + " ---: |" * 5)
    with threadpool_limits(1):
        for kind, features in ((np.float32, FEATURES), (np.float64, FEATURES // 2)):
            columns = measured(rng.standard_normal((features, SAMPLES), dtype=kind))[0]
            product, stored, fresh = side_by_side(columns, y)
            print(
                f"| {np.dtype(kind).name} | {product:.1f} | {stored:.1f} | {stored / product:.2f} "
                f"| {fresh:.1f} | {fresh / product:.2f} |"
            )


if __name__ == "__main__":
    main()
