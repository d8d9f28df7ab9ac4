"""Why stores have their codecs, chunks and shards, and how close a screen from disk comes to reading alone.

    python -m benchmarks.scale.codecs [--quick] [--folder FOLDER]

The first tables write one table with zarr in many ways and read it back; in every round each way writes, reads and
removes its array in turn. The last table has stores as backbone_dask writes them: "reading" only reads and decodes the
blocks, by as many processes at once as the screen has workers. Everything is read warm, from the page cache.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import zarr
from distributed import Client
from numpy.typing import NDArray
from zarr.codecs import BloscCodec, Crc32cCodec, ZstdCodec

from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.questions import inquire
from backbone_dask.problems.screening import screen_store
from backbone_dask.runtime.executor import DaskExecutor
from backbone_dask.store import ZarrStore, init_store, plan_schema
from backbone_dask.store.base import BLOCK_BYTES
from backbone_dask.store.schema import CHUNKS_PER_SHARD
from benchmarks.timing import Case, at_once, in_turns, ratio, speed, timed

KEEP, WORKERS = 1_000, 2
CHECK = Crc32cCodec()
CODECS: dict[str, list[Any]] = {
    "none": [],
    "crc32c": [CHECK],
    "zstd 1, crc32c": [ZstdCodec(level=1), CHECK],
    "blosc lz4 shuffle, crc32c": [BloscCodec(cname="lz4", shuffle="shuffle"), CHECK],
    "blosc lz4 bitshuffle, crc32c": [BloscCodec(cname="lz4", shuffle="bitshuffle"), CHECK],
    "blosc zstd 1 shuffle, crc32c": [BloscCodec(cname="zstd", clevel=1, shuffle="shuffle"), CHECK],
    "blosc zstd 1 bitshuffle, crc32c": [BloscCodec(cname="zstd", clevel=1, shuffle="bitshuffle"), CHECK],
}
CHUNK_MEGABYTES = (1, 4, 8, 16, 32)
SHAPES = {"float32 Gaussian, n=5,000": (5_000, "float32"), "int8 0/1/2, n=200": (200, "int8")}
SHAPES["int8 0/1/2, n=5,000"] = (5_000, "int8")
OWN = {"float32": "crc32c", "int8": "blosc lz4 bitshuffle, crc32c"}
"""The codecs that `backbone_dask` writes."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of the trials and of the stores, in MB."""

    trial: int
    store: int
    rounds: int


# The largest shard is 16 chunks of 32 MB: a trial is one of them.
FULL, QUICK = Sizes(512, 2048, 5), Sizes(32, 128, 2)


def megabyte_rows(samples: int, dtype: Any) -> int:
    """Features of a MB. Trials have whole multiples of it, so that no chunk or shard is padded at the end."""
    return int((1 << 20) // (samples * np.dtype(dtype).itemsize))


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to write a table."""

    codec: str
    megabytes: int
    sharded: bool

    def chunk(self, values: NDArray[Any]) -> int:
        return self.megabytes * megabyte_rows(values.shape[1], values.dtype)

    def create(self, folder: Path, values: NDArray[Any]) -> zarr.Array[Any]:
        chunk, samples = self.chunk(values), values.shape[1]
        return zarr.create_array(
            folder,
            shape=values.shape,
            dtype=values.dtype,
            chunks=(chunk, samples),
            shards=(chunk * CHUNKS_PER_SHARD, samples) if self.sharded else None,
            compressors=CODECS[self.codec] or None,
            filters=None,
            fill_value=-128 if values.dtype.kind == "i" else float("nan"),
            zarr_format=3,
        )


def random_columns(features: int, samples: int, dtype: str, seed: int = 0) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    if dtype == "float32":
        return rng.standard_normal((features, samples), np.float32)
    return rng.binomial(2, 0.2, (features, samples)).astype(dtype)


def write(array: zarr.Array[Any], values: NDArray[Any]) -> None:
    step = (array.shards or array.chunks)[0]
    for start in range(0, len(values), step):
        array[start : start + step] = values[start : start + step]


def read(array: zarr.Array[Any], step: int, start: int, stop: int) -> None:
    """Just reading and decoding, block by block."""
    for first in range(start, stop, step):
        array[first : min(first + step, stop)]


def on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@dataclass(slots=True)
class Trial:
    """Writes a table by one layout and reads it back, as often as it is asked; counts what it took on disk."""

    layout: Layout
    values: NDArray[Any]
    folder: Path
    size: int = 0
    array: Any = None

    def written(self) -> float:
        self.array = self.layout.create(self.folder, self.values)
        return timed(lambda: write(self.array, self.values))()

    def read(self) -> float:
        chunk = self.layout.chunk(self.values)
        step = max(1, BLOCK_BYTES // self.values[0].nbytes // chunk) * chunk
        taken = timed(lambda: read(self.array, step, 0, len(self.values)))()
        self.size = on_disk(self.folder)
        # Gone before the kernel writes it back, so that no case pays for the disk of the one before it.
        shutil.rmtree(self.folder)
        return taken


def trial_table(head: str, layouts: Sequence[Layout], values: NDArray[Any], folder: Path, rounds: int) -> None:
    trials = [Trial(layout, values, folder / str(at)) for at, layout in enumerate(layouts)]
    cases: dict[str, Case] = {}
    for at, trial in enumerate(trials):
        cases |= {f"write {at}": trial.written, f"read {at}": trial.read}
    taken, gigabytes = in_turns(cases, rounds), values.nbytes / 1e9
    print(f"\n{head}: {gigabytes:.2f} GB\n")
    print("| codec | chunk MB | shard | of raw | write GB/s | range | read GB/s | range |\n| :--- |" + " ---: |" * 7)
    for at, trial in enumerate(trials):
        layout, speeds = trial.layout, [speed(gigabytes, taken[f"{way} {at}"]).show(2) for way in ("write", "read")]
        shard = f"{CHUNKS_PER_SHARD} chunks" if layout.sharded else "-"
        share = trial.size / values.nbytes
        print(f"| {layout.codec} | {layout.megabytes} | {shard} | {share:.2f} | {' | '.join(speeds)} |", flush=True)


def layout_tables(folder: Path, sizes: Sizes) -> None:
    """Codecs in chunks of 8 MB, then chunks and shards with the codecs that stores have."""
    for head, (samples, dtype) in SHAPES.items():
        values = random_columns(sizes.trial * megabyte_rows(samples, dtype), samples, dtype)
        codecs = [Layout(codec, 8, False) for codec in CODECS]
        trial_table(f"{head}, codecs", codecs, values, folder, sizes.rounds)
        chunks = [Layout(OWN[dtype], size, sharded) for size in CHUNK_MEGABYTES for sharded in (False, True)]
        trial_table(f"{head}, chunks", chunks, values, folder, sizes.rounds)


def made(folder: Path, samples: int, dtype: str, megabytes: int) -> ZarrStore:
    """A store as `backbone_dask` writes it."""
    schema = plan_schema(megabytes * megabyte_rows(samples, dtype), samples, dtype)
    draft = init_store(folder, schema)
    for index in draft.pending():
        draft.write_partition(index, random_columns(schema.partition(index).size, samples, dtype, index))
    draft.finalise()
    return ZarrStore(folder)


@lru_cache(maxsize=1)
def matrix(location: str) -> zarr.Array[Any]:
    return zarr.open_array(location, path="X", mode="r")


def read_part(location: str, step: int, start: int, stop: int) -> None:
    read(matrix(location), step, start, stop)


def reading(client: Client, store: ZarrStore, processes: int) -> Case:
    """Whole blocks, in as many parts of nearly equal size as there are processes."""
    step = store.block_features
    blocks = -(-store.n_features // step)
    cuts = [min(step * round(blocks * at / processes), store.n_features) for at in range(processes + 1)]
    return at_once(client, [partial(read_part, store.location, step, *span) for span in pairwise(cuts)])


def screening(client: Client, store: ZarrStore) -> Case:
    """The screen alone; the store is opened, and the cluster stands."""
    executor = DaskExecutor(client)
    y = np.random.default_rng(1).standard_normal(store.n_samples)
    return timed(lambda: screen_store(store, inquire("correlation", {"y": y}), KEEP, executor))


def screen_rows(name: str, store: ZarrStore, clients: dict[int, Client], rounds: int) -> None:
    cases: dict[str, Case] = {}
    for count, client in clients.items():
        cases |= {f"read {count}": reading(client, store, count), f"screen {count}": screening(client, store)}
    taken, gigabytes = in_turns(cases, rounds), store.schema.n_bytes / 1e9
    for count in clients:
        alone, whole = taken[f"read {count}"], taken[f"screen {count}"]
        speeds = " | ".join(speed(gigabytes, seconds).show(2) for seconds in (alone, whole))
        print(f"| {name} | {gigabytes:.1f} | {count} | {speeds} | {ratio(whole, alone).show(2)} |", flush=True)


def screen_table(folder: Path, sizes: Sizes) -> None:
    with ExitStack() as stack:
        clients = {count: stack.enter_context(local_cluster(count)) for count in range(1, WORKERS + 1)}
        print("\n| store | GB | workers | reading GB/s | range | screen GB/s | range | of reading | range |")
        print("| :--- |" + " ---: |" * 8)
        for at, (name, (samples, dtype)) in enumerate(SHAPES.items()):
            place = folder / f"{at}.zarr"
            screen_rows(name, made(place, samples, dtype, sizes.store), clients, sizes.rounds)
            shutil.rmtree(place)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="Small tables, to see that it runs.")
    parser.add_argument("--folder", help="Where tables are written; a temporary folder if not given.")
    parser.add_argument("--only", choices=["layouts", "screens"], help="One half of the tables.")
    arguments = parser.parse_args()
    sizes = QUICK if arguments.quick else FULL
    with TemporaryDirectory(dir=arguments.folder) as folder:
        if arguments.only != "screens":
            layout_tables(Path(folder), sizes)
        if arguments.only != "layouts":
            screen_table(Path(folder), sizes)


if __name__ == "__main__":
    # By its own name, not as __main__: the workers then import what they are sent, and open a store once.
    from benchmarks.scale.codecs import main as run

    run()
