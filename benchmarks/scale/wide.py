"""The screen at the paper's widths: time, columns a second, and the peak memory of every process.

    python -m benchmarks.scale.wide virtual 1000000 100000000 300000000
    python -m benchmarks.scale.wide genotypes 1000000 100000000

"virtual" makes n=5,000 Gaussian samples a column on demand; "genotypes" writes n=200 samples of 0/1/2 to disk with
`simulate` and screens the store. Every screen is a process of its own with two workers, as a user starts it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

COMMAND = [sys.executable, "-m", "backbone_dask.cli"]
SHAPES = {
    "virtual": ["--n", "5000", "--k", "50", "--rho", "0.9", "--snr", "2", "--virtual"],
    "genotypes": ["--n", "200", "--k", "50", "--rho", "0.9", "--snr", "2", "--coding", "genotype"],
}
SAMPLES = {"virtual": 5000, "genotypes": 200}


def watched(command: list[str]) -> tuple[float, int, int]:
    """Seconds, and peak resident bytes of the coordinator and of the largest of its workers."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    coordinator = workers = 0
    while process.poll() is None:
        coordinator = max(coordinator, _resident(process.pid))
        workers = max([workers, *(_resident(child.pid) for child in _children(process.pid))])
        time.sleep(0.2)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.perf_counter() - began, coordinator, workers


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _resident(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def measure(kind: str, p: int, folder: Path) -> str:
    store = folder / f"{kind}-{p}"
    made = watched([*COMMAND, "simulate", "linear", str(store), "--p", str(p), *SHAPES[kind]])[0]
    on_disk = sum(path.stat().st_size for path in [store, *store.rglob("*")] if path.is_file())
    out = str(folder / f"{kind}-{p}.csv")
    seconds, coordinator, worker = watched(
        [*COMMAND, "screen", str(store), "--keep", "20000", "--out", out, "--workers", "2"]
    )
    return (
        f"| {kind} | {p:,} | {SAMPLES[kind]:,} | {on_disk / 1e9:.2f} | {made:.0f} | {seconds:.0f} | {p / seconds:,.0f} "
        f"| {p * SAMPLES[kind] / seconds / 1e6:,.0f} | {worker / 2**30:.2f} | {coordinator / 2**30:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(SHAPES))
    parser.add_argument("p", type=int, nargs="+")
    parser.add_argument("--folder", help="Where stores are written; a temporary folder if not given.")
    arguments = parser.parse_args()
    print(
        "| store | p | n | on disk, GB | simulate s | screen s | columns/s | million values/s | worker GiB "
        "| coordinator GiB |\n| :--- |" + " ---: |" * 9
    )
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for p in arguments.p:
            print(measure(arguments.kind, p, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
