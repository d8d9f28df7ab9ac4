"""The correlation screen of a table in memory against the speed of memory, and against scikit-learn and dask.array.

    python -m benchmarks.scale.peers [--quick]

100,000 x 5,000 float32 are held in the memory of every process. "X @ y" reads every byte once and does nothing else:
what two processes reach with it together is what two workers can reach. "stored" has mean and scale at hand, as the
columns of a store do; "measured" computes them first. Every round goes through all cases of a table; ratios are taken
within a round. scikit-learn and dask.array have the memory layout and chunks that are fastest for them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import dask.array as da
import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.feature_selection import r_regression
from threadpoolctl import threadpool_limits

from backbone_dask.columns import Columns, measured
from backbone_dask.launch.local import local_cluster
from backbone_dask.protocols import Executor
from backbone_dask.runtime.checkpoint import NoJournal
from backbone_dask.runtime.events import silent
from backbone_dask.runtime.executor import DaskExecutor, SerialExecutor
from backbone_dask.runtime.scoring import screen_blocks
from backbone_dask.runtime.screening import Screener
from backbone_dask.runtime.site import settle
from backbone_dask.screens.correlation import CorrelationPanel, correlation
from backbone_dask.store.base import BLOCK_BYTES
from backbone_dask.store.missing import admit, label
from backbone_dask.values import CandidateIds, FeatureBlock, Shard, Target
from benchmarks.timing import Case, at_once, in_turns, ratio, speed, timed

SAMPLES, KEEP, WORKERS = 5_000, 1_000, 2
# Columns that are measured already are met once: their blocks need not fit the cache.
RESIDENT_BYTES = 16 << 20
CHUNK_MEGABYTES = (4, 16, 64)


@dataclass(frozen=True, slots=True)
class Sizes:
    features: int
    laps: int
    rounds: int


FULL, QUICK = Sizes(100_000, 10, 7), Sizes(8_000, 2, 2)


@lru_cache(maxsize=1)
def held(path: str) -> Columns:
    """The table in this process's own memory: read and measured once, when it is first asked for."""
    return measured(np.load(path))[0]


def response() -> Target:
    return np.random.default_rng(1).standard_normal(SAMPLES)


@dataclass(frozen=True, slots=True)
class Resident:
    """A source whose columns every worker holds; one that is wider than the table goes round it again."""

    path: str
    rows: int
    n_features: int
    known: bool = True
    n_samples: int = SAMPLES
    itemsize: int = 4
    waits: bool = False
    locality: tuple[Shard, ...] = ()

    @property
    def identity(self) -> str:
        return self.path

    @property
    def block_features(self) -> int:
        wanted = RESIDENT_BYTES if self.known else BLOCK_BYTES
        return min(self.rows, max(1, wanted // (self.n_samples * self.itemsize)))

    def read(self, block: FeatureBlock) -> Columns:
        # The last block of a lap would run over the edge, so laps are a little shorter than the table.
        start = block.start % (self.rows - block.size + 1)
        columns = held(self.path)[start : start + block.size]
        return columns if self.known else admit(columns.values, "refuse", lambda row: label(row, None))[0]

    def gather(self, ids: CandidateIds) -> Columns:
        return held(self.path)[ids % self.rows]

    def portion(self, ids: CandidateIds) -> Resident:
        return self


def product(path: str, start: int, stop: int, laps: int) -> None:
    values, y = held(path).values[start:stop], response().astype(np.float32)
    for _ in range(laps):
        values @ y


def score(source: Resident, start: int, stop: int, laps: int) -> None:
    """What a task of the screen does, without Dask around it."""
    step, question = source.block_features, CorrelationPanel(response())
    blocks = [FeatureBlock(0, first, min(first + step, stop)) for first in range(start, stop, step)]
    for _ in range(laps):
        screen_blocks(source, blocks, question, KEEP)


def screen(executor: Executor, source: Resident) -> None:
    """The whole screen as a user starts it, with its tasks and merges."""
    site = settle(source, executor)
    screener = Screener(site, site.serve(), NoJournal(), silent)
    screener.rank(CorrelationPanel(response()), KEEP, name="screen")


def limit_cases(client: Client, path: str, sizes: Sizes) -> dict[str, Case]:
    """Two processes on a half of the table each, then the same bytes through the scheduler."""
    half, executor = sizes.features // WORKERS, DaskExecutor(client)
    table = Resident(path, sizes.features, sizes.features)
    halves = [(half * at, half * (at + 1), sizes.laps) for at in range(WORKERS)]
    return {
        "X @ y": at_once(client, [partial(product, path, *part) for part in halves]),
        "screen_blocks": at_once(client, [partial(score, table, *part) for part in halves]),
        "screen": timed(lambda: screen(executor, table)),
        "wide screen": timed(lambda: screen(executor, Resident(path, sizes.features, sizes.laps * sizes.features))),
    }


def limit_table(client: Client, path: str, sizes: Sizes) -> None:
    taken = in_turns(limit_cases(client, path, sizes), sizes.rounds)
    once = sizes.features * SAMPLES * 4 / 1e9
    passed = dict.fromkeys(taken, once * sizes.laps) | {"screen": once}
    names = {
        "X @ y": "numpy `X @ y` in two processes",
        "screen_blocks": "`screen_blocks` in two processes",
        "screen": f"screen of {once:.1f} GB by two Dask workers",
        "wide screen": f"screen of {once * sizes.laps:.1f} GB by two Dask workers",
    }
    print("| two cores | GB/s | range | of `X @ y` | range |\n| :--- |" + " ---: |" * 4)
    for name, seconds in taken.items():
        per_byte = [[second / passed[case] for second in taken[case]] for case in (name, "X @ y")]
        print(f"| {names[name]} | {speed(passed[name], seconds).show(1)} | {ratio(*per_byte).show(2)} |", flush=True)


def same(found: NDArray[np.floating], columns: Columns) -> None:
    """A peer that is measured must give the same answer."""
    np.testing.assert_allclose(np.abs(found), correlation(columns, response()), atol=1e-4)


def fastest(ways: dict[str, Callable[[], NDArray[np.floating]]], columns: Columns) -> str:
    """The name of the way that took least in the second of two trials."""
    for way in ways.values():
        same(way(), columns)
    seconds = {name: timed(way)() for name, way in ways.items()}
    return min(seconds, key=lambda name: seconds[name])


def sklearn_ways(columns: Columns) -> dict[str, Callable[[], NDArray[np.floating]]]:
    """Features or samples contiguous, and y in either precision: a float64 y makes a float64 copy of X."""
    tables = {"F-ordered": columns.values.T, "C-ordered": np.ascontiguousarray(columns.values.T)}
    return {
        f"X {order}, y {kind}": partial(r_regression, table, response().astype(kind))
        for order, table in tables.items()
        for kind in ("float32", "float64")
    }


def dask_ways(columns: Columns) -> dict[str, Callable[[], NDArray[np.floating]]]:
    """Chunks of whole features: only those need no second pass over the partial results."""
    tables = {"F-ordered": columns.values.T, "C-ordered": np.ascontiguousarray(columns.values.T)}
    return {
        f"X {order}, chunks of {megabytes} MB": partial(dask_correlation, table, megabytes)
        for order, table in tables.items()
        for megabytes in CHUNK_MEGABYTES
    }


def dask_correlation(table: NDArray[np.float32], megabytes: int) -> NDArray[np.floating]:
    """The textbook formula. With y centred, X need not be, which saves dask a copy of X."""
    features = max(1, (megabytes << 20) // (SAMPLES * table.itemsize))
    X = da.from_array(table, chunks=(SAMPLES, features))
    y = response()
    centred = ((y - y.mean()) / y.std()).astype(table.dtype)
    return np.asarray((centred @ X / (SAMPLES * X.std(axis=0))).compute(scheduler="threads", num_workers=WORKERS))


def sklearn_cases(path: str, sizes: Sizes) -> tuple[str, dict[str, Case]]:
    """One core, on one block of half the table."""
    rows = sizes.features // WORKERS
    columns, serial = held(path)[:rows], SerialExecutor()
    ways = sklearn_ways(columns)
    chosen = fastest(ways, columns)
    return chosen, {
        "peer": timed(ways[chosen]),
        "stored": timed(lambda: screen(serial, Resident(path, rows, rows))),
        "measured": timed(lambda: screen(serial, Resident(path, rows, rows, known=False))),
    }


def dask_cases(client: Client, path: str, sizes: Sizes) -> tuple[str, dict[str, Case]]:
    """Two cores, on the whole table: two threads of dask.array, two workers of ours."""
    rows, executor, columns = sizes.features, DaskExecutor(client), held(path)
    ways = dask_ways(columns)
    chosen = fastest(ways, columns)
    return chosen, {
        "peer": timed(ways[chosen]),
        "stored": timed(lambda: screen(executor, Resident(path, rows, rows))),
        "measured": timed(lambda: screen(executor, Resident(path, rows, rows, known=False))),
    }


def peer_rows(peer: str, cores: str, chosen: str, cases: dict[str, Case], gigabytes: float, rounds: int) -> None:
    taken = in_turns(cases, rounds)
    print(f"| {cores} | {peer} ({chosen}) | {speed(gigabytes, taken['peer']).show(2)} | | |")
    for name in ("stored", "measured"):
        faster = ratio(taken[name], taken["peer"])
        print(f"| {cores} | ours, {name} | {speed(gigabytes, taken[name]).show(2)} | {faster.show(1)} |", flush=True)


def peer_table(client: Client, path: str, sizes: Sizes) -> None:
    gigabytes = sizes.features * SAMPLES * 4 / 1e9
    print("\n| cores | way | GB/s | range | times faster | range |\n| :--- | :--- |" + " ---: |" * 4)
    chosen, cases = sklearn_cases(path, sizes)
    peer_rows("`r_regression`", "1", chosen, cases, gigabytes / WORKERS, sizes.rounds)
    chosen, cases = dask_cases(client, path, sizes)
    peer_rows("dask.array", "2", chosen, cases, gigabytes, sizes.rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="A small table, to see that it runs.")
    parser.add_argument(
        "--folder", help="Where the table lies until all have read it; a temporary folder if not given."
    )
    arguments = parser.parse_args()
    sizes = QUICK if arguments.quick else FULL
    with TemporaryDirectory(dir=arguments.folder) as folder, threadpool_limits(1), local_cluster(WORKERS) as client:
        path = str(Path(folder) / "table.npy")
        rng = np.random.default_rng(0)
        np.save(path, rng.standard_normal((sizes.features, SAMPLES), dtype=np.float32))
        limit_table(client, path, sizes)
        peer_table(client, path, sizes)


if __name__ == "__main__":
    # By its own name, not as __main__: the workers then import what they are sent, and hold the table once.
    from benchmarks.scale.peers import main as run

    run()
