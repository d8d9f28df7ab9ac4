"""How fast a wide CSV is read, beside pandas, polars, pyarrow and numpy.

    python -m benchmarks.ingest.text [--shape 500x20000] [--digits 17] [--rounds 3] [--without READER]

"backbone_dask" parses the file on one worker, writes its spool, and reads the table back by blocks of features; the
others parse it into their own kind of table in memory, with as many threads as they like. All read warm, in turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.csv

from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.store.ingest.csv import open_table
from backbone_dask.store.ingest.table import Wanted, Workshop
from backbone_dask.values import FeatureBlock
from benchmarks.timing import in_turns, ratio, speed, timed

BLOCK = 1_000


def main() -> None:
    arguments = _arguments()
    n, p = (int(part) for part in arguments.shape.split("x"))
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        _write(path, n, p, arguments.digits)
        cases = {
            name: timed(lambda read=read: read(path)) for name, read in READERS.items() if name not in arguments.without
        }
        times = in_turns(cases, arguments.rounds)
        gigabytes = path.stat().st_size / 1e9
    print(f"\n{n:,} x {p:,}, {arguments.digits} digits, {gigabytes:.2f} GB, GB/s of text: median | range\n")
    print("| reader | GB/s | range | backbone_dask is faster by | range |\n|---|---|---|---|---|")
    for name, taken in times.items():
        print(f"| {name} | {speed(gigabytes, taken).show(3)} | {ratio(times['backbone_dask'], taken).show(1)} |")


def _ours(path: Path) -> None:
    with TemporaryDirectory(dir=path.parent) as scratch:
        table = open_table((str(path),), Wanted(), Workshop(scratch, SerialExecutor(), lambda *_: None))
        for start in range(0, table.n_features, BLOCK):
            table.read(FeatureBlock(0, start, min(start + BLOCK, table.n_features)))


READERS: dict[str, Callable[[Path], object]] = {
    "backbone_dask": _ours,
    "pandas": pd.read_csv,
    "polars": pl.read_csv,
    "pyarrow": lambda path: pyarrow.csv.read_csv(path, read_options=pyarrow.csv.ReadOptions(block_size=64 << 20)),
    "numpy.loadtxt": lambda path: np.loadtxt(path, delimiter=",", skiprows=1),
}


def _write(path: Path, n: int, p: int, digits: int) -> None:
    rng = np.random.default_rng(0)
    with path.open("w") as stream:
        stream.write(",".join(f"gene{j}" for j in range(p)) + "\n")
        for _ in range(n):
            stream.write(",".join(f"{value:.{digits}g}" for value in rng.normal(size=p).tolist()) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", default="500x20000")
    parser.add_argument("--digits", type=int, default=17)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without", action="append", default=[], choices=sorted(READERS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
