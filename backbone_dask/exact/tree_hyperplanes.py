"""Trees whose splits weigh a few features each: hyperplanes by local search, from trees with one feature a split."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from backbone_dask.exact.tree_hyperplane_moves import Ground, widened
from backbone_dask.exact.tree_search import TreeSearch
from backbone_dask.exact.tree_thresholds import centred
from backbone_dask.exact.tree_verdict import ROUNDING, tree_verdict
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Tree
from backbone_dask.values import Outcome, Termination

MOST_SWEEPS = 20
# Of the time, for the trees with one feature a split.
_AXIS_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class HyperplaneSearch:
    """The best tree with at most `split_features` features a split, never worse than the best of `search`.

    What each start of that search comes to is improved node by node until nothing helps, the best tree first.
    """

    search: TreeSearch
    split_features: int

    def split(self, n_parts: int) -> list[HyperplaneSearch]:
        """The same search in up to `n_parts` parts, by starts."""
        return [replace(self, search=part) for part in self.search.split(n_parts)]

    def __call__(self, table: TreeTable, labels: Labels, goal: Goal, *, seconds: float) -> Outcome[Tree]:
        began = time.monotonic()
        found, done = self.search.trees(table, labels, goal, seconds=_AXIS_SHARE * seconds)
        bound = goal.floor(table.values, labels)
        ground = Ground.of(table.values, labels, goal, self.split_features)
        best = centred(widened(found[0].tree, self.split_features), table.values, labels, goal)
        for _, start, tree in found:
            if goal.objective(best) <= bound + ROUNDING:
                break
            rng = np.random.default_rng([self.search.seed, start, self.split_features])
            tree = centred(widened(tree, self.split_features), table.values, labels, goal)
            tree, settled = _descended(ground, tree, rng, began + seconds)
            best, done = _better(goal, best, tree), done and settled
        ended = Termination.ROUND_LIMIT if done else Termination.TIME_LIMIT
        return tree_verdict(best, goal, bound, ended, len(self.search.starts), began)


def _descended(ground: Ground, tree: Tree, rng: np.random.Generator, deadline: float) -> tuple[Tree, bool]:
    """The tree that no change at a single node improves, and whether that was reached before the deadline."""
    for _ in range(MOST_SWEEPS):
        before = tree
        for node in rng.permutation(tree.n_nodes):
            for changed in ground.neighbours(tree, int(node), rng) if node < tree.n_nodes else ():
                if time.monotonic() >= deadline:
                    return tree, False
                tree = _better(ground.goal, tree, changed)
        tree = _better(ground.goal, tree, centred(tree, ground.values, ground.labels, ground.goal))
        if tree is before:
            return tree, True
    return tree, True


def _better(goal: Goal, tree: Tree, other: Tree) -> Tree:
    """The other tree if it is allowed and its objective is lower, or the same with fewer features in its splits."""
    fall = goal.objective(tree) - goal.objective(other)
    fewer = (other.features >= 0).sum() < (tree.features >= 0).sum()
    return other if goal.allows(other) and (fall > ROUNDING or (fewer and fall >= -ROUNDING)) else tree
