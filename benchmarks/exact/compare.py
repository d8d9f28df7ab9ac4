"""Branch and bound against outer approximation, SCIP and l0bnb; prints a Markdown page.

    python -m benchmarks.exact.compare [backbone.npz] > benchmarks/exact/RESULTS.md

The file is what `benchmarks.exact.backbone` saves; without it only simulated problems are solved. SCIP (pyscipopt) and
l0bnb take part if they can be imported. It takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy

from backbone_dask.exact.branch_and_bound import fit_branch_and_bound
from backbone_dask.exact.gram import Gram
from backbone_dask.exact.nodes import best_root, plain_root
from backbone_dask.exact.outer_approximation import fit_outer_approximation
from backbone_dask.threads import one_blas_thread
from benchmarks.exact import peers
from benchmarks.exact.instances import Instance, backbone, chained

SECONDS, PEER_SECONDS, TOLERANCE = 10.0, 60.0, 1e-4
SIZES = [(60, 8, 1000), (60, 10, 500), (100, 10, 500), (150, 20, 2000), (250, 50, 5000), (100, 10, 60)]
TIMES, PEER_TIMES = [0.01, 0.1, 1.0], [1.0]


def simulated() -> Iterator[Instance]:
    for p, k, n in SIZES:
        for times in TIMES:
            yield chained(p, k, n, times, rho=0.9)
    yield chained(100, 10, 500, 1.0, rho=0.5)
    yield chained(100, 10, 500, 1.0, rho=0.99)


def solve(fit: Any, instance: Instance, seconds: float) -> Any:
    return fit(
        instance.X,
        instance.y,
        n_nonzero=instance.n_nonzero,
        gamma=instance.gamma,
        warm_start=np.empty(0, np.int64),
        seconds=seconds,
        gap_tolerance=TOLERANCE,
    )


def root_bounds(instance: Instance) -> tuple[float, float, float]:
    """The bound of the plain relaxation, that with moved curvature, and the seconds of the second."""
    with one_blas_thread():
        gram = Gram.of(instance.X, instance.y)
        plain = plain_root(gram, instance.n_nonzero, instance.gamma).node.bound
        began = time.perf_counter()
        best = best_root(gram, instance.n_nonzero, instance.gamma, np.inf).node.bound
    return plain, best, time.perf_counter() - began


def percent(objective: float, bound: float) -> str:
    return f"{max(objective - bound, 0.0) / objective:.3%}"


def simulated_row(instance: Instance) -> str:
    tree, outer = solve(fit_branch_and_bound, instance, SECONDS), solve(fit_outer_approximation, instance, SECONDS)
    best = min(tree.objective, outer.objective)
    cells = [f"{percent(best, found.bound)} | {found.termination} | {found.seconds:.2f}" for found in (tree, outer)]
    plain, moved, _ = root_bounds(instance)
    return (
        f"| {instance.name} | {percent(best, plain)} | {percent(best, moved)} | {tree.rounds} | {' | '.join(cells)} |"
    )


def peer_rows(instance: Instance) -> Iterator[str]:
    tree = solve(fit_branch_and_bound, instance, PEER_SECONDS)
    outer = solve(fit_outer_approximation, instance, PEER_SECONDS)
    best = min(tree.objective, outer.objective)
    _, moved, seconds = root_bounds(instance)
    yield f"| {instance.name} | root of branch and bound | {percent(best, moved)} | {seconds:.2f} |"
    yield f"| {instance.name} | branch and bound | {percent(best, tree.bound)} | {tree.seconds:.2f} |"
    yield f"| {instance.name} | outer approximation | {percent(best, outer.bound)} | {outer.seconds:.2f} |"
    for name, bound in peers.installed().items():
        began = time.perf_counter()
        proven = bound(instance, PEER_SECONDS)
        yield f"| {instance.name} | {name} | {percent(best, proven)} | {time.perf_counter() - began:.2f} |"


def compile_all(small: Instance) -> None:
    """So that no solver's first solve is a compiler run."""
    solve(fit_branch_and_bound, small, 1.0)
    solve(fit_outer_approximation, small, 1.0)
    for bound in peers.installed().values():
        bound(small, 1.0)


def versions() -> str:
    libraries = f"numpy {np.__version__}, scipy {scipy.__version__}, numba {numba.__version__}"
    absent = f"; not installed: {', '.join(peers.missing())}" if peers.missing() else ""
    machine = f"{datetime.now(UTC):%Y-%m-%d}; 2 cores AMD EPYC, 24 GiB; Python {platform.python_version()}"
    return f"{machine}, {libraries}{absent}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backbone", type=Path, nargs="*")
    files = parser.parse_args().backbone
    compile_all(chained(20, 3, 100, 1.0, rho=0.9))
    print(f"# Exact solvers of the reduced problem\n\n{versions()}\n\n{HEAD}\n")
    print(f"{PEER_TABLE}\n\n| columns | k | n | rho | gamma sqrt(n) | solver | gap | seconds |\n|{' ---: |' * 8}")
    shared = [backbone(file, times) for file in files for times in PEER_TIMES]
    for instance in shared or [chained(250, 50, 5000, 1.0, rho=0.9)]:
        for row in peer_rows(instance):
            print(row, flush=True)
    print(f"\n{TABLE}\n\n{COLUMNS}\n|{' ---: |' * 14}")
    for instance in simulated():
        print(simulated_row(instance), flush=True)


HEAD = f"""Every gap is (best objective of branch and bound and outer approximation - the solver's proven bound) / that
objective; proven means {TOLERANCE:g}. No solver is given a warm start. Seconds are wall-clock on a machine that had
other work to do: compare them within a row."""
PEER_TABLE = f"## The reduced problem of a pipeline run, {PEER_SECONDS:g} s each"
TABLE = f"## Simulated reduced problems, {SECONDS:g} s each: branch and bound (B) and outer approximation (O)"
COLUMNS = (
    "| columns | k | n | rho | gamma sqrt(n) | plain root | root of B | nodes of B | gap of B | B ended by | B s "
    "| gap of O | O ended by | O s |"
)


if __name__ == "__main__":
    main()
