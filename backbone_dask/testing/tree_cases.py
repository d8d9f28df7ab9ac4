"""Small tree problems with every kind of trouble in them, and their optimum by trying every tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from backbone_dask.trees.goal import Goal
from backbone_dask.trees.growth import grow
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.pruning import pruned_at
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Tree

Weights: TypeAlias = Literal["equal", "whole", "any"]


@dataclass(frozen=True, slots=True)
class TreeCase:
    """A reduced tree problem."""

    table: TreeTable
    labels: Labels
    goal: Goal


def labels_of(classes: Any) -> Labels:
    """Labels of weight 1."""
    classes = np.asarray(classes, np.int64)
    return Labels(classes, np.ones(classes.size), int(classes.max()) + 1)


def draw_case(seed: int, *, depth: int | None = None, weights: Weights = "any", n_samples: int = 40) -> TreeCase:
    """Up to 40 samples, 5 features of few or many values, 3 classes; some rows constant, or another turned round."""
    rng = np.random.default_rng([77, seed])
    n, p, n_classes = int(rng.integers(6, n_samples)), int(rng.integers(1, 6)), int(rng.integers(2, 4))
    values = np.where(rng.random((p, 1)) < 0.5, rng.integers(0, 3, (p, n)), rng.standard_normal((p, n)))
    if seed % 4 == 0:
        values[-1] = -values[0]
    if seed % 5 == 0:
        values[p // 2] = 1.0
    noise = rng.random(n) < rng.choice([0.0, 0.2, 0.5])
    above = values > np.median(values, axis=1, keepdims=True)
    classes = np.where(noise, rng.integers(0, n_classes, n), above[0] * 1 + above[p // 2] * (n_classes - 2))
    labels = Labels(classes.astype(np.int64), _draw_weights(rng, weights, n), n_classes)
    bucket = float(rng.choice([0.0, 1.0, 2.5, 0.2 * labels.total]))
    complexity = float(rng.choice([0.0, 0.01, 0.0375, 0.1]))
    goal = Goal(int(rng.integers(1, 3)) if depth is None else depth, bucket, complexity)
    return TreeCase(TreeTable.of(values, int(rng.integers(2, 6))), labels, goal)


def _draw_weights(rng: np.random.Generator, kind: Weights, n: int) -> NDArray[np.float64]:
    if kind == "equal":
        return np.full(n, rng.choice([1.0, 0.3]))
    weights = rng.integers(0, 4, n).astype(np.float64) if kind == "whole" else rng.exponential(size=n)
    weights[:2] = 1.0
    return weights


def brute_force(case: TreeCase) -> float:
    """The least objective of all trees whose thresholds are cuts: every split of every node is tried."""
    return _least(case, np.arange(case.labels.classes.size), case.goal.depth)


def _least(case: TreeCase, samples: NDArray[np.int64], depth: int) -> float:
    goal, labels = case.goal, case.labels
    weights = labels.weights[samples]
    least = np.inf
    # The whole is the only leaf, whatever it weighs.
    if samples.size == labels.classes.size or weights.sum() >= goal.min_bucket - 1e-12 * labels.total:
        counts = np.bincount(labels.classes[samples], weights, labels.n_classes)
        least = (counts.sum() - counts.max()) / labels.total
    for row in case.table.codes if depth else ():
        for cut in range(int(row.max())):
            left, right = samples[row[samples] <= cut], samples[row[samples] > cut]
            if left.size and right.size:
                parts = _least(case, left, depth - 1) + _least(case, right, depth - 1)
                least = min(least, goal.complexity + parts)
    return float(least)


def greedy(case: TreeCase) -> Tree:
    """The greedy tree on the codes, pruned for the same goal."""
    codes, goal = case.table.codes, case.goal
    tree = grow(codes, case.labels, n_bins=case.table.n_bins, depth=goal.depth, min_bucket=goal.min_bucket)
    return tree.pruned(pruned_at(tree, tree.is_split, goal.complexity))
