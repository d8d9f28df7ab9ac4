"""A whole fit on a virtual store: n=5,000, k=50, SNR 2, rho .9, two workers, growing p.

    python -m benchmarks.scale.fit 1000000 4000000 --seeds 1 2 3

Each fit is a process of its own, as a user starts it; the times and peak memory are those of its result.json, and the
whole process is timed from outside.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "backbone_dask.cli"]
SHAPE = ["--n", "5000", "--k", "50", "--rho", "0.9", "--snr", "2", "--virtual"]


def fit(folder: Path, p: int, seed: int) -> dict[str, Any]:
    """The result of one fit, with `wall` added: seconds of the whole process."""
    recipe, run = folder / f"{p}-{seed}.json", folder / f"{p}-{seed}"
    subprocess.run(
        [*COMMAND, "simulate", "linear", recipe, "--p", str(p), "--seed", str(seed), *SHAPE], check=True, stdout=2
    )
    began = time.perf_counter()
    done = subprocess.run(
        [*COMMAND, "fit", recipe, "-k", "50", "--out", run, "--workers", "2", "--json"],
        check=True,
        stdout=subprocess.PIPE,
    )
    return {**json.loads(done.stdout), "wall": time.perf_counter() - began}


def row(p: int, seed: int, result: dict[str, Any]) -> str:
    known, seconds, peak = result["recovery"], result["seconds"], result["peak_bytes"]
    phases = " | ".join(f"{seconds[phase]:.1f}" for phase in ("screen", "compact", "levels", "reduced"))
    gib = 2**30
    return (
        f"| {p:,} | {seed} | {known['accuracy']:.2f} | {known['false_alarm']:.2f} | {known['backbone_accuracy']:.2f} "
        f"| {len(result['backbone'])} | {result['gap']:.2%} | {phases} | {result['wall']:.0f} "
        f"| {max(peak['workers']) / gib:.2f} | {peak['coordinator'] / gib:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("p", type=int, nargs="+")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    print(
        "| p | seed | accuracy | false alarms | in backbone | backbone | gap | screen s | compact s | levels s "
        "| reduced s | whole s | worker GiB | coordinator GiB |\n|" + " ---: |" * 14
    )
    with tempfile.TemporaryDirectory() as folder:
        for p in arguments.p:
            for seed in arguments.seeds:
                print(row(p, seed, fit(Path(folder), p, seed)), flush=True)


if __name__ == "__main__":
    main()
