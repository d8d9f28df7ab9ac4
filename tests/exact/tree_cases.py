"""Small tree problems with every kind of trouble in them, and their optimum by trying every tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.trees.goal import Goal
from backbone_dask.trees.growth import grow
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.pruning import pruned_at
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Tree


@dataclass(frozen=True)
class TreeCase:
    table: TreeTable
    labels: Labels
    goal: Goal


def unweighted(classes: np.ndarray) -> Labels:
    return Labels(classes.astype(np.int64), np.ones(classes.size), int(classes.max()) + 1)


def draw_case(seed: int, *, depth: int | None = None, weights: tuple[str, ...] = ("one", "whole", "any")) -> TreeCase:
    """Up to 40 samples, 5 features of few or many values, 3 classes; some rows constant, equal, or turned round."""
    rng = np.random.default_rng([77, seed])
    n, p, n_classes = int(rng.integers(6, 40)), int(rng.integers(1, 6)), int(rng.integers(2, 4))
    values = np.where(rng.random((p, 1)) < 0.5, rng.integers(0, 3, (p, n)), rng.standard_normal((p, n)))
    if seed % 4 == 0:
        values[-1] = -values[0]
    if seed % 5 == 0:
        values[p // 2] = 1.0
    noise = rng.random(n) < rng.choice([0.0, 0.2, 0.5])
    signal = (values[0] > np.median(values[0])) * 1 + (values[p // 2] > np.median(values[p // 2])) * (n_classes - 2)
    classes = np.where(noise, rng.integers(0, n_classes, n), signal)
    labels = Labels(classes.astype(np.int64), draw_weights(rng, str(rng.choice(weights)), n), n_classes)
    bucket = float(rng.choice([0.0, 1.0, 2.5, 0.2 * labels.total]))
    goal = Goal(
        int(rng.integers(1, 3)) if depth is None else depth, bucket, float(rng.choice([0.0, 0.01, 0.0375, 0.1]))
    )
    return TreeCase(TreeTable.of(values, int(rng.integers(2, 6))), labels, goal)


def draw_weights(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    if kind == "one":
        return np.ones(n) * rng.choice([1.0, 0.3])
    weights = rng.integers(0, 4, n).astype(np.float64) if kind == "whole" else rng.exponential(size=n)
    weights[:2] = 1.0
    return weights


def brute_force(case: TreeCase) -> float:
    """The least objective of all trees on the codes, by recursion over every split of every node."""
    goal, labels, codes = case.goal, case.labels, case.table.codes
    total = labels.total

    def best(samples: np.ndarray, depth: int, only_leaf: bool) -> float:
        weights = labels.weights[samples]
        least = np.inf
        if only_leaf or weights.sum() >= goal.min_bucket - 1e-12 * total:
            counts = np.bincount(labels.classes[samples], weights, labels.n_classes)
            least = (counts.sum() - counts.max()) / total
        for row in codes if depth else ():
            for cut in range(int(row.max())):
                sides = samples[row[samples] <= cut], samples[row[samples] > cut]
                if all(side.size for side in sides):
                    parts = sum(best(side, depth - 1, False) for side in sides)
                    least = min(least, goal.complexity + parts)
        return float(least)

    return best(np.arange(labels.classes.size), goal.depth, True)


def greedy(case: TreeCase) -> Tree:
    """The greedy tree, pruned for the same goal."""
    goal = case.goal
    tree = grow(case.table.codes, case.labels, n_bins=case.table.n_bins, depth=goal.depth, min_bucket=goal.min_bucket)
    return tree.pruned(pruned_at(tree, tree.is_split, goal.complexity))
