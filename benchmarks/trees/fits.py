"""Whole tree fits on simulated data (the paper's F2 and F5), beside a CART on all columns that is tuned the same way.

python -m benchmarks.trees.fits F2 --seeds 1 2 3
python -m benchmarks.trees.fits F5 --seeds 1 2 3
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np

from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.tree import N_BINS, ranked
from backbone_dask.problems.tree_fitting import FittedTree, fit_tree, prepare_tree, tree_quality
from backbone_dask.runtime.executor import DaskExecutor
from backbone_dask.store import FeatureStore, Recipe, VirtualStore
from backbone_dask.subproblems.cart import FitCart
from backbone_dask.tree_settings import TreeSettings
from backbone_dask.trees.bins import between
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Tree

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
BUCKETS = (1.0, 5.0, 20.0)
ROWS_AT_A_TIME = 4096
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
    """One process; thresholds that are ranks become values of the training draw."""
    began = time.perf_counter()
    ids = np.arange(train.n_features)
    parts = [ranked(train.gather(ids[at : at + ROWS_AT_A_TIME])) for at in range(0, ids.size, ROWS_AT_A_TIME)]
    y = train.target(None).astype(np.int64)
    found = FitCart(depths, BUCKETS, N_BINS)(np.concatenate(parts), Labels(y, np.ones(y.size), 2), seed=seed)
    seconds = time.perf_counter() - began
    tree, used = _in_units(found.tree, train), found.tree.used
    values = np.zeros((train.n_features, test.n_samples), np.float32)
    values[used] = test.gather(used).values
    return f"| CART on all columns | {seed} | {seconds:.0f} | {judged(tree, values, test, used)} | |"


def _in_units(tree: Tree, train: FeatureStore) -> Tree:
    split, thresholds = np.flatnonzero(tree.is_split), np.zeros(tree.n_nodes)
    for node in split:
        columns = train.gather(tree.features[node])
        below = ranked(columns)[0] <= tree.thresholds[node]
        thresholds[node] = between(columns.values[0][below].max(), columns.values[0][~below].min())
    return replace(tree, thresholds=thresholds)


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
