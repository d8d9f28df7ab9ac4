"""The correlation screen of one worker against one `X @ y` of numpy on the same float32 block, side by side.

python -m benchmarks.scale.screen
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from backbone_dask.columns import Columns, measured
from backbone_dask.screens.correlation import correlation

FEATURES, SAMPLES, REPEATS = 100_000, 5_000, 7


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def side_by_side(columns: Columns, y: np.ndarray) -> tuple[float, float]:
    """Best GB/s of (numpy, screen), taken in turns so that both see the same machine."""
    vector = y.astype(columns.values.dtype)
    correlation(columns[:10], y)
    product, screen = [], []
    for _ in range(REPEATS):
        product.append(seconds_of(lambda: columns.values @ vector))
        screen.append(seconds_of(lambda: correlation(columns, y)))
    size = columns.values.nbytes / 1e9
    return size / min(product), size / min(screen)


def main() -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_normal(SAMPLES)
    print("| dtype | numpy X @ y, GB/s | correlation screen, GB/s | ratio |\n| :--- | ---: | ---: | ---: |")
    with threadpool_limits(1):
        for kind, features in ((np.float32, FEATURES), (np.float64, FEATURES // 2)):
            columns = measured(rng.standard_normal((features, SAMPLES), dtype=kind))[0]
            product, screen = side_by_side(columns, y)
            print(f"| {np.dtype(kind).name} | {product:.1f} | {screen:.1f} | {screen / product:.2f} |")


if __name__ == "__main__":
    main()
