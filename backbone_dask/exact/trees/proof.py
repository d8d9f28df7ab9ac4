"""What the exact tree solvers share: a start by local search, an early end, the better of two trees, a safe bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from backbone_dask.exact.trace import Recorder
from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.exact.trees.splits import Splits
from backbone_dask.exact.trees.verdict import closed, tree_verdict
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.pruning import pruned_at
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Floats, Ints, Tree, from_heap
from backbone_dask.values import Outcome, Termination

# Counts of samples are whole numbers, whatever the rounding of shares.
_ROUNDING = 1e-6
# Up to here shares of the weight, in double precision, tell any two counts apart.
_MOST_COUNTS = 10**7
_LARGEST_WEIGHT = 2.0**53


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """The tree problem whose thresholds are the cuts of a table, and the tree to begin with, on the codes."""

    table: TreeTable
    labels: Labels
    goal: Goal
    splits: Splits
    start: Tree
    floor: float
    recorder: Recorder = field(default_factory=Recorder)

    def tree(self, heap: Ints) -> Tree:
        """The tree on the codes whose node t has split `heap[t]`, or is a leaf if that is -1."""
        features = np.where(heap >= 0, self.splits.rows[heap], -1)
        cuts = np.where(heap >= 0, self.splits.cuts[heap], 0)
        return from_heap(features, cuts, self.table.codes, self.labels)

    def better(self, *trees: Tree) -> Tree:
        """The best of `start` and of those trees that are allowed, without useless splits; of equals the first."""
        pruned = (tree.pruned(pruned_at(tree, tree.is_split, self.goal.complexity)) for tree in trees)
        return min((self.start, *filter(self.goal.allows, pruned)), key=self.goal.objective)

    @property
    def n_counts(self) -> int | None:
        """The sum of `sample_counts`."""
        counts = sample_counts(self.labels)
        return None if counts is None else int(counts.sum())

    def attainable(self, bound: float) -> Floats:
        """For every number of splits, the least objective that a tree may have if none is below `bound`.

        Where weights have a common measure, mistakes are whole numbers.
        """
        prices = self.goal.complexity * np.arange(2**self.goal.depth)
        shares, measure = np.maximum(bound - prices, 0.0), self.n_counts
        if measure is not None:
            shares = np.maximum(np.ceil(shares * measure - _ROUNDING), 0.0) / measure
        return np.asarray(prices + shares)


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """The best tree on the codes, a lower bound for the reduced problem, and what it took."""

    tree: Tree
    bound: float
    ended: Termination
    rounds: int


def solve_reduced(
    table: TreeTable,
    labels: Labels,
    goal: Goal,
    search: TreeSearch,
    prove: Callable[[Reduced, float], Finding],
    *,
    seconds: float,
) -> Outcome[Tree]:
    """Search for a tree on the cuts, then `prove(problem, deadline)` unless there is nothing left to prove."""
    recorder = Recorder()
    deadline = recorder.began + seconds
    splits = Splits.of(table, labels, goal)
    start = search.trees(table, labels, goal, deadline=deadline, recorder=recorder)[0][0].tree
    floor = goal.floor(splits.right, labels.take(splits.present))
    recorder.note(goal.objective(start), floor)
    problem = Reduced(table, labels, goal, splits, start, floor, recorder)
    found = Finding(start, floor, Termination.PROVEN, 0)
    if not closed(goal.objective(start), floor):
        found = prove(problem, deadline)
    tree, bound = table.in_units(found.tree), max(found.bound, floor)
    return tree_verdict(tree, goal, bound, found.ended, found.rounds, recorder)


def sample_counts(labels: Labels) -> Ints | None:
    """How often every sample counts, as small whole numbers; None if weights have no common measure, or a tiny one."""
    present = labels.weights[labels.weights > 0]
    if np.ptp(present) == 0:
        return np.asarray(labels.weights > 0, np.int64)
    if (labels.weights != np.round(labels.weights)).any() or labels.total > _LARGEST_WEIGHT:
        return None
    whole = labels.weights.astype(np.int64)
    counts = np.asarray(whole // np.gcd.reduce(whole))
    return counts if counts.sum() <= _MOST_COUNTS else None
