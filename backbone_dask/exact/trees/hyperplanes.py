"""Trees whose splits weigh a few features each: hyperplanes by local search, from trees with one feature a split."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from backbone_dask.exact.trace import Recorder
from backbone_dask.exact.trees.hyperplane_moves import Ground
from backbone_dask.exact.trees.search import TreeSearch, greedy_tree
from backbone_dask.exact.trees.thresholds import centred
from backbone_dask.exact.trees.verdict import ROUNDING, tree_verdict
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.surgery import widened
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Tree
from backbone_dask.values import Outcome, Termination

MOST_SWEEPS = 20
# Of the time, for the trees with one feature a split.
_AXIS_SHARE = 0.5
# Of the features, what a split sees in a random tree, and in a part of the best one that is grown at random.
_SEEN_IN_TREE = 0.25
_SEEN_IN_PART = 0.5


@dataclass(frozen=True, slots=True)
class HyperplaneSearch:
    """The best tree with at most `split_features` features a split, never worse than the best of `search`.

    That one is improved node by node until nothing helps. Every other start of the search begins anew: in turn with a
    random tree, and with a random part of the best tree so far.
    """

    search: TreeSearch
    split_features: int

    def split(self, n_parts: int) -> list[HyperplaneSearch]:
        """The same search in up to `n_parts` parts, by starts."""
        return [replace(self, search=part) for part in self.search.split(n_parts)]

    def __call__(self, table: TreeTable, labels: Labels, goal: Goal, *, seconds: float) -> Outcome[Tree]:
        recorder = Recorder()
        table = table.with_cuts(greedy_tree(table.values, labels, goal))
        soon = recorder.began + _AXIS_SHARE * seconds
        found, done = self.search.trees(table, labels, goal, deadline=soon, recorder=recorder)
        bound = goal.floor(table.values, labels)
        ground = Ground.of(table.values, labels, goal, self.split_features, recorder.began + seconds)
        best = centred(widened(table.in_units(found[0].tree), self.split_features), table.values, labels, goal)
        for turn, (_, start, _) in enumerate(found):
            if goal.objective(best) <= bound + ROUNDING or ground.late:
                break
            rng = np.random.default_rng([self.search.seed, start, self.split_features])
            best = _better(goal, best, _descended(ground, _begun(ground, best, turn, rng), rng))
            recorder.note(goal.objective(best), bound)
        best = centred(best, table.values, labels, goal)
        ended = Termination.ROUND_LIMIT if done and not ground.late else Termination.TIME_LIMIT
        return tree_verdict(best, goal, bound, ended, len(self.search.starts), recorder)


def _begun(ground: Ground, best: Tree, turn: int, rng: np.random.Generator) -> Tree:
    """Where a descent sets out: the first time from the best tree, then by turns."""
    if turn == 0:
        return best
    balanced = bool(rng.integers(2))
    if turn % 2:
        return ground.regrown(best, 0, balanced, _SEEN_IN_TREE, rng)
    return ground.regrown(best, int(rng.integers(best.n_nodes)), balanced, _SEEN_IN_PART, rng)


def _descended(ground: Ground, tree: Tree, rng: np.random.Generator) -> Tree:
    """The tree that no change at a single node improves, or what the deadline leaves of the way there."""
    anew = False
    for _ in range(MOST_SWEEPS):
        before, tree = tree, _swept(ground, tree, anew, rng)
        if ground.late or (anew and tree is before):
            break
        # Subtrees grown anew all lead to the same few trees, so that they are the last resort.
        anew = tree is before
    return tree


def _swept(ground: Ground, tree: Tree, anew: bool, rng: np.random.Generator) -> Tree:
    """The tree after one change, if one helps, at each of its nodes in random order, and at its thresholds."""
    for node in rng.permutation(tree.n_nodes):
        if node < tree.n_nodes:
            for changed in ground.neighbours(tree, int(node), anew, rng):
                tree = _better(ground.goal, tree, changed)
                if ground.late:
                    return tree
    return _better(ground.goal, tree, centred(tree, ground.values, ground.labels, ground.goal))


def _better(goal: Goal, tree: Tree, other: Tree) -> Tree:
    """The other tree if it is allowed and its objective is lower, or the same with fewer features in its splits."""
    fall = goal.objective(tree) - goal.objective(other)
    fewer = (other.features >= 0).sum() < (tree.features >= 0).sum()
    return other if goal.allows(other) and (fall > ROUNDING or (fewer and fall >= -ROUNDING)) else tree
