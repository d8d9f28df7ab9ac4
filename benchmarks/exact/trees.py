"""Which reduced tree problems the exact solvers prove, and how fast: noisy exclusive-or on two of the features.

python -m benchmarks.exact.trees --seconds 60
"""

from __future__ import annotations

import argparse

import numpy as np

from backbone_dask.exact.trees.dp import TreeDp
from backbone_dask.exact.trees.mio import TreeMio
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable

WIDTH, SEED, NOISE = 8, 0, 0.1
# Samples, features, cuts a feature, depth, price of a split.
SIZES = {
    TreeMio: [(100, 5, 4, 2, 0.01), (100, 10, 5, 2, 0.01), (150, 10, 5, 2, 0.01), (50, 5, 4, 3, 0.01)],
    TreeDp: [
        (200, 20, 5, 3, 0.01),
        (1000, 20, 10, 3, 0.0037),
        (500, 10, 5, 4, 0.0037),
        (1000, 20, 5, 4, 0.01),
        (200, 10, 5, 5, 0.01),
        (2000, 200, 10, 2, 0.01),
        (1000, 50, 10, 5, 0.003),
    ],
}


def problem(n: int, p: int, cuts: int) -> tuple[TreeTable, Labels]:
    rng = np.random.default_rng(1)
    values = rng.standard_normal((p, n))
    classes = (values[0] > 0) ^ (values[1] > 0.3)
    classes = np.where(rng.random(n) < NOISE, rng.integers(0, 2, n), classes)
    return TreeTable.of(values, cuts), Labels(classes.astype(np.int64), np.ones(n), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    print(
        "| solver | samples | splits | depth | ended | objective | bound | seconds |\n|---|---|---|---|---|---|---|---|"
    )
    for kind, sizes in SIZES.items():
        solver = kind(WIDTH, SEED)
        solver(*problem(30, 3, 2), Goal(2, 1.0, 0.01), seconds=5.0)  # compilation is not the solver's time
        for n, p, cuts, depth, complexity in sizes:
            found = solver(*problem(n, p, cuts), Goal(depth, 5.0, complexity), seconds=seconds)
            numbers = f"{found.objective:.4f} | {found.bound:.4f} | {found.seconds:.1f}"
            print(f"| {kind.__name__} | {n} | {p * cuts} | {depth} | {found.termination} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
