"""A CART subproblem against one scikit-learn tree of the same data: seconds, and the training impurity of both.

python -m benchmarks.trees.cart --n 3500 --p 10000 --depth 5 --seeds 1 2 3
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from backbone_dask.problems.tree import N_BINS
from backbone_dask.store.synthetic import Recipe, gather, target
from backbone_dask.subproblems.cart import FitCart
from backbone_dask.trees.bins import spread_ranks
from backbone_dask.trees.growth import grow
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.pruning import weakest_links, within
from backbone_dask.trees.tree import Tree


def impurity(sums: np.ndarray) -> float:
    """The mean Gini impurity of the leaves, by their weight."""
    totals = sums.sum(axis=1)
    return float((totals - (sums**2).sum(axis=1) / totals).sum() / totals.sum())


def every_depth_and_alpha(codes: np.ndarray, labels: Labels, depth: int) -> Tree:
    """What a subproblem takes from one growth: the tree, and all that cutting and pruning make of it."""
    tree = grow(codes, labels, n_bins=N_BINS, depth=depth, min_bucket=1.0)
    for cut in range(1, depth + 1):
        list(weakest_links(tree, within(tree, cut)))
    return tree


def seconds_of(work: object, *arguments: object) -> tuple[float, object]:
    began = time.perf_counter()
    result = work(*arguments)  # type: ignore[operator]
    return time.perf_counter() - began, result


def row(n: int, p: int, depth: int, seed: int) -> str:
    recipe = Recipe(kind="tree", n_samples=n, n_features=p, n_relevant=31, rho=0.9, depth=5, seed=seed)
    X, y = gather(recipe, np.arange(p)), target(recipe).astype(np.int64)
    labels = Labels(y, np.ones(n), 2)
    ranking, codes = seconds_of(lambda: spread_ranks(X))
    ours, tree = min((seconds_of(every_depth_and_alpha, codes, labels, depth) for _ in range(3)), key=lambda t: t[0])
    whole, _ = seconds_of(lambda: FitCart((2, 3, 4, 5), (1.0, 5.0, 20.0), N_BINS)(codes, labels, seed=seed))
    theirs, peer = seconds_of(lambda: DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X.T, y))
    leaves = peer.tree_.children_left < 0
    shares = (peer.tree_.impurity * peer.tree_.n_node_samples)[leaves].sum() / n
    mine = impurity(tree.sums[~tree.is_split])
    return (
        f"| {seed} | {ours:.3f} | {ranking:.2f} | {whole:.2f} | {theirs:.1f} | {theirs / ours:.0f} "
        f"| {mine:.4f} | {shares:.4f} | {mine / shares - 1:+.2%} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=3500)
    parser.add_argument("--p", type=int, default=10_000)
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    row(200, 50, arguments.depth, 0)
    print(
        "| seed | growth, all depths and alphas, s | ranking s | subproblem with hold-out s | scikit-learn s | times "
        "| impurity | scikit-learn's | difference |\n|" + " ---: |" * 9
    )
    for seed in arguments.seeds:
        print(row(arguments.n, arguments.p, arguments.depth, seed), flush=True)


if __name__ == "__main__":
    main()
