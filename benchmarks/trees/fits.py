"""Whole tree fits on simulated data (the paper's F2 and F5), beside a CART on all columns that is tuned the same way.

python -m benchmarks.trees.fits F2 --seeds 1 2 3
python -m benchmarks.trees.fits F5 --seeds 1 2 3
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.tree_fitting import FittedTree, fit_tree, prepare_tree, tree_quality
from backbone_dask.runtime.executor import DaskExecutor
from backbone_dask.store import FeatureStore, Recipe, VirtualStore
from backbone_dask.tree_settings import TreeSettings
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Tree
from benchmarks.paper.baselines.cart import cart_on_store

# The paper's settings: no screen, M subproblems of a share beta, CART of depth 2 to D - 2, then trees of 3 to D + 2.
EXPERIMENTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "F2": (
        {"n_samples": 5000, "n_features": 100_000, "n_relevant": 31, "rho": 0.9, "depth": 5},
        {"subproblem_fraction": 0.1, "n_subproblems": 50, "subproblem_depth": (2, 3), "depth": (3, 4, 5, 6, 7)},
    ),
    "F5": (
        {"n_samples": 5000, "n_features": 100_000, "n_relevant": 7, "rho": 0.6, "depth": 3},
        {"subproblem_fraction": 0.5, "n_subproblems": 10, "subproblem_depth": (2,), "depth": (3, 4, 5)},
    ),
}
HEAD = "| method | seed | seconds | AUC | accuracy | fraction relevant | depth | splits | features | in backbone |"


def store(seed: int, draw: int, **shape: Any) -> VirtualStore:
    return VirtualStore(Recipe(kind="tree", seed=seed, draw=draw, **shape))


def judged(tree: Tree, values: np.ndarray, test: FeatureStore, used: np.ndarray) -> str:
    """Quality on another draw, and how much of what the tree uses is relevant."""
    y = test.target(None).astype(np.int64)
    sums = tree.sums[tree.leaves(values)]
    quality = tree_quality(sums / sums.sum(axis=1, keepdims=True), Labels(y, np.ones(y.size), 2))
    relevant = np.isin(used, test.truth.ids).mean()
    return (
        f"{quality['auc']:.4f} | {quality['accuracy']:.4f} | {relevant:.3f} | {tree.depth} | {tree.n_splits} "
        f"| {used.size}"
    )


def backbone(train: FeatureStore, test: FeatureStore, seed: int, asked: dict[str, Any]) -> str:
    ready = prepare_tree(train, train.target(None), TreeSettings(screen="none", **asked))
    with local_cluster(2) as client:
        began = time.perf_counter()
        found: FittedTree = fit_tree(ready, DaskExecutor(client))
        seconds = time.perf_counter() - began
    model = found.model
    inside = np.isin(train.truth.ids, found.finding.backbone).mean()
    return (
        f"| backbone | {seed} | {seconds:.0f} | {judged(model.tree, test.gather(model.ids).values, test, model.ids)} "
        f"| {inside:.2f} |"
    )


def cart(train: FeatureStore, test: FeatureStore, seed: int, depths: tuple[int, ...]) -> str:
    """One process."""
    began = time.perf_counter()
    tree, used = cart_on_store(train, depths, seed)
    seconds = time.perf_counter() - began
    words = judged(tree, test.gather(used).values, test, used)
    return f"| CART on all columns | {seed} | {seconds:.0f} | {words} | |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=sorted(EXPERIMENTS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--p", type=int)
    parser.add_argument("--only", choices=["backbone", "cart"])
    arguments = parser.parse_args()
    shape, asked = EXPERIMENTS[arguments.experiment]
    shape = shape | ({"n_features": arguments.p} if arguments.p else {})
    print(HEAD + "\n|" + " ---: |" * 10)
    for seed in arguments.seeds:
        train, test = store(seed, 0, **shape), store(seed, 1, **shape)
        if arguments.only != "cart":
            print(backbone(train, test, seed, asked), flush=True)
        if arguments.only != "backbone":
            print(cart(train, test, seed, asked["depth"]), flush=True)


if __name__ == "__main__":
    main()
