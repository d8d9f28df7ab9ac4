"""Ingest beside just reading the same files: python benchmarks/ingest/speed.py [--n 2000] [--p 50000] [--rounds 3]."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[1]))
from timing import in_turns

from backbone_dask import ingest


@dataclass(frozen=True, slots=True)
class Format:
    """How a file of one format is made, and how its own library reads all of it."""

    name: str
    make: Callable[[Path, int, int], Path]
    read: Callable[[Path], object]


def make_parquet(folder: Path, n_samples: int, n_features: int) -> Path:
    X = np.random.default_rng(0).standard_normal((n_features, n_samples), np.float32)
    pq.write_table(pa.table({f"g{j}": column for j, column in enumerate(X)}), folder / "table.parquet")
    return folder / "table.parquet"


def make_npy(folder: Path, n_samples: int, n_features: int) -> Path:
    X = np.random.default_rng(0).standard_normal((n_features, n_samples), np.float32)
    np.save(folder / "table.npy", X.T)
    return folder / "table.npy"


FORMATS = [Format("parquet", make_parquet, pq.read_table), Format("numpy", make_npy, np.load)]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def row(form: Format, n_samples: int, n_features: int, rounds: int) -> str:
    """Median seconds, and the median of the ratios of the rounds: a busy machine is busy for both."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = form.make(folder, n_samples, n_features)
        cases = {
            "read": lambda: seconds(lambda: form.read(path)),
            "ingest": lambda: seconds(lambda: ingest(path, folder / "out.zarr", overwrite=True)),
        }
        times = in_turns(cases, rounds)
    ratio = median(a / b for a, b in zip(times["read"], times["ingest"], strict=True))
    return f"| {form.name} | {median(times['read']):.2f} | {median(times['ingest']):.2f} | {ratio:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2_000)
    parser.add_argument("--p", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--formats", nargs="*", default=[form.name for form in FORMATS])
    asked = parser.parse_args()
    print(f"{asked.n:,} samples x {asked.p:,} features, {asked.rounds} rounds in turns\n")
    print("| format | just reading (s) | ingest (s) | speed of ingest / speed of reading |\n| :-- | --: | --: | --: |")
    for form in FORMATS:
        if form.name in asked.formats:
            print(row(form, asked.n, asked.p, asked.rounds), flush=True)


if __name__ == "__main__":
    main()
