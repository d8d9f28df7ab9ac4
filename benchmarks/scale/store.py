"""How fast a store on a local disk is read, against numpy on the same bytes in the same run.

    python benchmarks/scale/store.py [FOLDER]

Writes 2 GB of float32, unsharded and sharded, and the same table as int8 genotypes, into a temporary folder of FOLDER.
Everything is read warm, from the page cache. Figures are medians over rounds that go through all cases in turn: read
the ratios.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import google_crc32c
import numpy as np

from backbone_dask.store import ZarrStore, init_store, plan_schema
from backbone_dask.store.schema import CHUNKS_PER_SHARD, Schema

SAMPLES, FEATURES, SCATTERED, ROUNDS = 5_000, 100_000, 20_000, 5


def schemas() -> dict[str, Schema]:
    plain = plan_schema(FEATURES, SAMPLES, "float32")
    return {
        "float32": plain,
        "float32, sharded": replace(plain, shard_features=CHUNKS_PER_SHARD * plain.chunk_features),
        "int8 genotypes": plan_schema(FEATURES, SAMPLES, "int8"),
    }


def write(folder: Path, schema: Schema) -> tuple[ZarrStore, float]:
    """A store of random columns, and the seconds that writing took without making them."""
    rng, spent = np.random.default_rng(0), 0.0
    draft = init_store(folder, schema)
    for index in draft.pending():
        shape = (schema.partition(index).size, SAMPLES)
        made = rng.standard_normal(shape, np.float32) if schema.dtype == "float32" else rng.binomial(2, 0.2, shape)
        values = made.astype(schema.dtype, copy=False)
        begin = time.perf_counter()
        draft.write_partition(index, values)
        spent += time.perf_counter() - begin
    begin = time.perf_counter()
    draft.finalise()
    return ZarrStore(folder), spent + time.perf_counter() - begin


def read_all(store: ZarrStore) -> None:
    for block in store.blocks():
        store.read(block)


def chunk_files(store: ZarrStore) -> list[Path]:
    return [path for path in (Path(store.location) / "X" / "c").rglob("*") if path.is_file()]


def cases(stores: dict[str, ZarrStore]) -> dict[str, Callable[[], object]]:
    ids = np.sort(np.random.default_rng(1).choice(FEATURES, SCATTERED, replace=False))
    files = chunk_files(stores["float32"])
    chunks = [np.fromfile(path, np.uint8) for path in files[:20]]
    found: dict[str, Callable[[], object]] = {
        "np.fromfile": lambda: [np.fromfile(path, np.uint8).size for path in files],
        "crc32c": lambda: [google_crc32c.value(chunk) for chunk in chunks],
    }
    for name, store in stores.items():
        found[f"read {name}"] = lambda store=store: read_all(store)
        found[f"gather {name}"] = lambda store=store: store.gather(ids)
    return found


def seconds(cases: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The median time of each case; the first round, which warms the cache, is not counted."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS + 1):
        for name, case in cases.items():
            begin = time.perf_counter()
            case()
            times[name].append(time.perf_counter() - begin)
    return {name: median(values[1:]) for name, values in times.items()}


def report(stores: dict[str, ZarrStore], written: dict[str, float], taken: dict[str, float]) -> None:
    n_bytes = stores["float32"].schema.n_bytes
    checked = sum(path.stat().st_size for path in chunk_files(stores["float32"])[:20])
    plain = n_bytes / taken["np.fromfile"] / 1e9
    print(f"{FEATURES:,} features x {SAMPLES:,} samples; np.fromfile of the float32 files: {plain:.2f} GB/s")
    print(f"crc32c alone, of bytes in memory: {checked / taken['crc32c'] / 1e9:.1f} GB/s")
    print()
    print(
        f"| store | GB | on disk | write GB/s | read GB/s | of np.fromfile | gather {SCATTERED:,}, s | gathered GB/s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, store in stores.items():
        size = store.schema.n_bytes
        disk = sum(path.stat().st_size for path in chunk_files(store))
        speed, gather = size / taken[f"read {name}"] / 1e9, taken[f"gather {name}"]
        gathered = SCATTERED * SAMPLES * store.itemsize / gather / 1e9
        print(
            f"| {name} | {size / 1e9:.2f} | {disk / 1e9:.2f} | {size / written[name] / 1e9:.2f} | {speed:.2f} "
            f"| {speed / plain:.0%} | {gather:.2f} | {gathered:.2f} |"
        )


def main() -> None:
    with TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
        made = {name: write(Path(folder) / f"{at}.zarr", schema) for at, (name, schema) in enumerate(schemas().items())}
        stores = {name: store for name, (store, _) in made.items()}
        report(stores, {name: spent for name, (_, spent) in made.items()}, seconds(cases(stores)))


if __name__ == "__main__":
    main()
