"""The backbone against the same tree search on all columns (the paper's F7): seconds, and AUC on another draw.

python -m benchmarks.trees.optimal --n 500 1000 2000 --seeds 1 2 3
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from backbone_dask.problems.tree_fitting import fit_tree, prepare_tree
from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.store import Recipe, VirtualStore
from backbone_dask.tree_settings import TreeSettings
from benchmarks.paper.baselines.oracle import optimal_tree
from benchmarks.trees.fits import judged

P = 2000
SHARED: dict[str, Any] = {"depth": (3, 5, 7), "n_starts": 1, "time_limit": 1e6}
BACKBONE = {"screen": "logistic", "screen_size": P // 2, "subproblem_fraction": 0.5, "n_subproblems": 10}
# Every column in the backbone: no screen, no subproblem, nothing priced; what is left is the search on all of them.
EVERYTHING = {"screen": "none", "backbone_max": P, "pricing_rounds": 0, "n_subproblems": 1, "subproblem_fraction": 1.0}


def by_backbone(train: VirtualStore) -> tuple[Any, np.ndarray]:
    settings = TreeSettings(**SHARED, **BACKBONE)
    found = fit_tree(prepare_tree(train, train.target(None), settings), SerialExecutor())
    return found.model.tree, found.model.ids


def on_everything(train: VirtualStore) -> tuple[Any, np.ndarray]:
    """The same goals, the same hold-out, the same solver, on the values of all columns."""
    return optimal_tree(train, train.target(None), TreeSettings(**SHARED, **EVERYTHING))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    print("| n | seed | method | seconds | AUC | accuracy | relevant | depth | splits | features |\n|" + " ---: |" * 10)
    warm = VirtualStore(Recipe(kind="tree", n_samples=100, n_features=P, n_relevant=3, depth=2))
    by_backbone(warm)
    for n in arguments.n:
        for seed in arguments.seeds:
            shape = {"n_features": P, "n_relevant": 31, "rho": 0.9, "depth": 5, "seed": seed}
            train = VirtualStore(Recipe(kind="tree", n_samples=n, draw=0, **shape))
            test = VirtualStore(Recipe(kind="tree", n_samples=5000, draw=1, **shape))
            for name, way in (("backbone", by_backbone), ("all columns", on_everything)):
                began = time.perf_counter()
                tree, ids = way(train)
                seconds = time.perf_counter() - began
                words = judged(tree, test.gather(ids).values, test, ids[tree.used])
                print(f"| {n} | {seed} | {name} | {seconds:.1f} | {words} |", flush=True)


if __name__ == "__main__":
    main()
