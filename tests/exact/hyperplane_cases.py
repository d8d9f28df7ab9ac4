"""Small tables for trees with hyperplane splits, and the objective counted sample by sample."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Tree

N_CUTS = 30


@dataclass(frozen=True)
class TreeCase:
    X: np.ndarray
    labels: Labels
    goal: Goal
    search: TreeSearch
    split_features: int

    @property
    def table(self) -> TreeTable:
        return TreeTable.of(self.X, N_CUTS)


def draw_tree_case(seed: int) -> TreeCase:
    """Ties, constant and duplicated columns, zero and fractional weights, buckets, prices and depths of all sizes."""
    rng = np.random.default_rng([11, seed])
    p, n, n_classes = (int(rng.integers(low, high)) for low, high in ((1, 7), (8, 70), (2, 5)))
    X = rng.normal(size=(p, n))
    X = np.round(X, int(rng.integers(0, 3))) if seed % 3 else X
    if seed % 5 == 0:
        X[-1] = 4.25
    if seed % 7 == 0:
        X[-1] = X[0]
    X = X.astype(np.float32) if seed % 6 == 2 else X
    edges = np.sort(rng.normal(size=n_classes - 1))
    classes = np.searchsorted(edges, rng.normal(size=p) @ X + 0.3 * rng.normal(size=n)).astype(np.int64)
    weights = (rng.integers(0, 3, n) * (0.1 if seed % 4 == 0 else 1.0)).astype(np.float64)
    weights[0] = 1.0
    goal = Goal(int(rng.integers(0, 4)), float(rng.choice([0.0, 1.0, 4.0])), float(rng.choice([0.0, 0.01, 0.05, 2.0])))
    starts = tuple(range(int(rng.integers(1, 4))))
    return TreeCase(X, Labels(classes, weights, n_classes), goal, TreeSearch(starts, 2, seed), int(rng.integers(2, 4)))


def oblique(seed: int, direction: list[float], *, n: int, p: int) -> TreeCase:
    """Two classes on the sides of one hyperplane through the first features, at some distance from it."""
    rng = np.random.default_rng([12, seed])
    X = rng.normal(size=(p, 2 * n))
    sums = np.array(direction) @ X[: len(direction)] - 0.3
    X, sums = X[:, np.abs(sums) > 0.05][:, :n], sums[np.abs(sums) > 0.05][:n]
    labels = Labels((sums > 0).astype(np.int64), np.ones(X.shape[1]), 2)
    return TreeCase(X, labels, Goal(2, 1.0, 0.01), TreeSearch((0,), 3, seed), len(direction))


def walked(tree: Tree, sample: np.ndarray) -> int:
    """The leaf of one sample (rows,)."""
    node = 0
    while tree.left[node] >= 0:
        total = 0.0
        for feature, weight in zip(tree.features[node], tree.weights[node], strict=True):
            total += weight * sample[feature] if feature >= 0 else 0.0
        node = int(tree.left[node] if total <= tree.thresholds[node] else tree.right[node])
    return node


def literal_objective(tree: Tree, case: TreeCase) -> float:
    """The objective by walking every sample, with the heaviest class of each leaf."""
    held: dict[int, np.ndarray] = {}
    for sample, label, weight in zip(case.X.T, case.labels.classes, case.labels.weights, strict=True):
        held.setdefault(walked(tree, sample), np.zeros(case.labels.n_classes))[label] += weight
    wrong = sum(float(sums.sum() - sums.max()) for sums in held.values())
    return wrong / float(case.labels.weights.sum()) + case.goal.complexity * int((tree.left >= 0).sum())


def fewest_mistakes_of_a_line(X: np.ndarray, labels: Labels) -> float:
    """The least weight that one line in the plane (2, samples) leaves on the wrong side.

    A best line can be moved until it touches two samples, which then may go to either side of it.
    """
    best = float(labels.counts.sum() - labels.counts.max())
    for a, b in combinations(range(X.shape[1]), 2):
        normal = np.array([X[1, b] - X[1, a], X[0, a] - X[0, b]])
        sides = np.sign(np.round(normal @ (X - X[:, [a]]), 12))
        for first in (-1, 1):
            for second in (-1, 1):
                sides[a], sides[b] = first, second
                best = min(best, _mistakes(sides > 0, labels))
    return best


def _mistakes(right: np.ndarray, labels: Labels) -> float:
    sums = [labels.take(side).counts for side in (right, ~right)]
    return sum(float(side.sum() - side.max()) for side in sums)
