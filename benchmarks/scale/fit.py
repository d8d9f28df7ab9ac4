"""A whole fit on a virtual store: k=50, SNR 2, rho .9, two workers.

    python -m benchmarks.scale.fit 1000000 4000000 --seeds 1 2 3
    python -m benchmarks.scale.fit 1000000 --n 3000 --seeds 1 2 3 4 5
    python -m benchmarks.scale.fit 1000000 --kind logistic --n 9000

Each fit is a process of its own, as a user starts it; the times and peak memory are those of its result.json, and the
whole process is timed from outside. Further options are those of `backbone-dask fit`.
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
SHAPE = ["--k", "50", "--rho", "0.9", "--snr", "2", "--virtual"]
TASKS = {"linear": "regression", "logistic": "classification"}


def fit(folder: Path, kind: str, n: int, p: int, seed: int, options: list[str]) -> dict[str, Any]:
    """The result of one fit, with `wall` added: seconds of the whole process."""
    recipe, run = folder / f"{p}-{seed}.json", folder / f"{p}-{seed}"
    made = [*COMMAND, "simulate", kind, recipe, "--n", str(n), "--p", str(p), "--seed", str(seed), *SHAPE]
    subprocess.run(made, check=True, stdout=2)
    began = time.perf_counter()
    asked = ["--task", TASKS[kind], "-k", "50", "--out", run, "--workers", "2", "--json", *options]
    done = subprocess.run([*COMMAND, "fit", recipe, *asked], check=True, stdout=subprocess.PIPE)
    return {**json.loads(done.stdout), "wall": time.perf_counter() - began}


def row(p: int, seed: int, result: dict[str, Any]) -> str:
    known, seconds, peak = result["recovery"], result["seconds"], result["peak_bytes"]
    phases = " | ".join(f"{seconds[phase]:.1f}" for phase in ("screen", "compact", "levels", "reduced"))
    gib = 2**30
    return (
        f"| {p:,} | {seed} | {known['accuracy']:.2f} | {known['false_alarm']:.2f} | {known['backbone_accuracy']:.2f} "
        f"| {len(result['backbone'])} | {result['reduced']['gap']:.2%} | {phases} | {result['wall']:.0f} "
        f"| {max(peak['workers']) / gib:.2f} | {peak['coordinator'] / gib:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("p", type=int, nargs="+")
    parser.add_argument("--kind", choices=sorted(TASKS), default="linear")
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments, options = parser.parse_known_args()
    print(
        "| p | seed | accuracy | false alarms | in backbone | backbone | gap | screen s | compact s | levels s "
        "| reduced s | whole s | worker GiB | coordinator GiB |\n|" + " ---: |" * 14
    )
    with tempfile.TemporaryDirectory() as folder:
        for p in arguments.p:
            for seed in arguments.seeds:
                print(row(p, seed, fit(Path(folder), arguments.kind, arguments.n, p, seed, options)), flush=True)


if __name__ == "__main__":
    main()
