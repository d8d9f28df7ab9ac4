"""PLINK to a store, against bed-reader that only reads the same file: `python -m benchmarks.ingest.plink`."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import bed_reader
import numpy as np

from backbone_dask.estimators.ingesting import ingest
from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.store.ingest.plink import PlinkTable
from backbone_dask.store.ingest.table import Wanted
from backbone_dask.values import FeatureBlock
from benchmarks.timing import Case, in_turns

STEP = 4096


def simulate(folder: Path, n_samples: int, n_variants: int) -> Path:
    """Genotypes in Hardy-Weinberg proportions, 1 % missing, written as PLINK packs them."""
    rng = np.random.default_rng(0)
    path = folder / "simulated.bed"
    with path.open("wb") as file:
        file.write(b"\x6c\x1b\x01")
        for start in range(0, n_variants, STEP):
            shape = (min(STEP, n_variants - start), -(-n_samples // 4) * 4)
            alleles = rng.binomial(2, rng.uniform(0.05, 0.5, (shape[0], 1)), shape)
            codes = np.where(rng.random(shape) < 0.01, 1, np.array([3, 2, 0])[alleles]).astype(np.uint8)
            codes[:, n_samples:] = 0
            file.write((codes.reshape(shape[0], -1, 4) << np.array([0, 2, 4, 6], np.uint8)).sum(2, np.uint8).tobytes())
    path.with_suffix(".bim").write_text("".join(f"1\trs{j}\t0\t{j + 1}\tA\tG\n" for j in range(n_variants)))
    path.with_suffix(".fam").write_text("".join(f"f{i} i{i} 0 0 1 {1 + i % 2}\n" for i in range(n_samples)))
    return path


def timed(work: Callable[[], Any]) -> Case:
    def case() -> float:
        started = time.perf_counter()
        work()
        return time.perf_counter() - started

    return case


def read_with_bed_reader(path: Path, threads: int | None) -> None:
    with bed_reader.open_bed(path, num_threads=threads) as bed:
        bed.read(dtype="int8")


def read_blocks(path: Path) -> None:
    table = PlinkTable(str(path), Wanted())
    for start in range(0, table.n_features, STEP):
        table.read(FeatureBlock(0, start, min(start + STEP, table.n_features)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2_000)
    parser.add_argument("--variants", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, out = simulate(Path(folder), chosen.samples, chosen.variants), Path(folder) / "store.zarr"
        cases = {
            "bed-reader, all cores": timed(lambda: read_with_bed_reader(path, None)),
            "bed-reader, one thread": timed(lambda: read_with_bed_reader(path, 1)),
            "read in blocks, one thread": timed(lambda: read_blocks(path)),
            "ingest, this process": timed(lambda: ingest(path, out, executor=SerialExecutor(), overwrite=True)),
        }
        times = in_turns(cases, chosen.rounds)
        shutil.rmtree(out)
    print(f"{chosen.samples:,} samples x {chosen.variants:,} variants, int8\n")
    print("| | seconds | range | speed, bed-reader on all cores = 1 |\n|---|---|---|---|")
    first, *_ = times.values()
    for name, taken in times.items():
        ratio = median(base / own for base, own in zip(first, taken, strict=True))
        print(f"| {name} | {median(taken):.2f} | {min(taken):.2f}..{max(taken):.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
