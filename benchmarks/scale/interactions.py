"""How fast products of pairs are made, measured and scored, against one pass over bytes in memory.

    python -m benchmarks.scale.interactions [mice_X_int8.npz]

Without a file, random genotypes of the shape of the heterogeneous-stock mice: 10,346 SNPs of 1,814 mice have 53.5
million pairs. Every figure is a median over rounds that go through all cases in turn, on one core: read the ratios.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from backbone_dask.screens.correlation import correlation
from backbone_dask.store import InteractionStore, MemoryStore
from backbone_dask.store.pairs import pairs_of
from backbone_dask.values import FeatureBlock

SAMPLES, FEATURES, ROUNDS, CALLS = 1_814, 10_346, 7, 30
MEGABYTES = (0.5, 1, 2, 4, 8, 16)


def base() -> MemoryStore:
    if len(sys.argv) > 1:
        with np.load(sys.argv[1]) as content:
            return MemoryStore(content["X"])
    return MemoryStore(np.random.default_rng(0).integers(0, 3, (SAMPLES, FEATURES)).astype(np.int8))


def seconds(cases: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The median time of a call of each case; the first round, which compiles, is not counted."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS + 1):
        for name, case in cases.items():
            begin = time.perf_counter()
            for _ in range(CALLS):
                case()
            times[name].append((time.perf_counter() - begin) / CALLS)
    return {name: median(values[1:]) for name, values in times.items()}


def block_of(store: InteractionStore, megabytes: float) -> FeatureBlock:
    start = store.n_features // 2
    return FeatureBlock(0, start, start + int(megabytes * 2**20) // (store.n_samples * store.itemsize))


def cases(store: InteractionStore, block: FeatureBlock) -> dict[str, Callable[[], object]]:
    y = np.random.default_rng(1).normal(size=store.n_samples)
    ids = np.arange(block.start, block.stop)
    scattered = np.unique(np.random.default_rng(2).integers(0, store.n_features, block.size))
    ready = store.read(block)
    return {
        "pass": lambda: ready.values.sum(dtype=np.int64),
        "pairs": lambda: pairs_of(ids, store.base.n_features),
        "products": lambda: store.raw(block),
        "read": lambda: store.read(block),
        "gather": lambda: store.gather(scattered),
        "screen": lambda: correlation(store.read(block), y),
    }


def main() -> None:
    store = InteractionStore(base())
    print(
        f"{store.n_features:,} products of {store.n_samples:,} samples, {store.dtype}; 10^9 values a second, one core"
    )
    print("| block MB | sum alone | products | read (with mean, scale) | scattered gather | read + screen | whole, s |")
    print("|---|---|---|---|---|---|---|")
    for megabytes in MEGABYTES:
        block = block_of(store, megabytes)
        taken = seconds(cases(store, block))
        values = block.size * store.n_samples / 1e9
        speeds = [f"{values / taken[name]:.2f}" for name in ("pass", "products", "read", "gather", "screen")]
        whole = store.n_features / block.size * taken["screen"]
        print(f"| {megabytes} | " + " | ".join(speeds) + f" | {whole:.0f} |", flush=True)
    print(f"ids to pairs: {block.size / taken['pairs'] / 1e6:.0f} million/s")


if __name__ == "__main__":
    main()
