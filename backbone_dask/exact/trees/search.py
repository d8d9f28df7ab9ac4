"""Optimal trees by local search: from the greedy tree and from random ones, node by node, until nothing helps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from backbone_dask.exact.trace import Recorder
from backbone_dask.exact.trees.moves import settle, sweep
from backbone_dask.exact.trees.thresholds import centred
from backbone_dask.exact.trees.verdict import tree_verdict
from backbone_dask.trees.bins import COARSE_BITS, between, spread_ranks
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.growth import Coded, coded, empty_heap, grow, grow_heap
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.pruning import pruned_at
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Tree, from_heap
from backbone_dask.values import Outcome, Termination

MOST_SWEEPS = 50
TRIVIAL_BOUND = 0.0
"""No tree has a lower objective: what is known of the bound until it is computed."""
# A random start sees some of the features and some of the samples, drawn with replacement.
_START_FEATURES = 0.25
_START_SAMPLES = 0.5


class Found(NamedTuple):
    """The tree that a start came to, on the codes."""

    objective: float
    start: int
    tree: Tree


@dataclass(frozen=True, slots=True)
class TreeSearch:
    """The best tree of several starts, of which 0 is the greedy tree; never worse than that tree on all values.

    Attributes
    ----------
    starts : numbers of the starts; every one has random draws of its own.
    width : how many of a node's best splits are tried with everything below them grown anew.
    """

    starts: tuple[int, ...]
    width: int
    seed: int

    def split(self, n_parts: int) -> list[TreeSearch]:
        """The same search in up to `n_parts` parts, by starts."""
        n_parts = min(n_parts, len(self.starts))
        return [replace(self, starts=self.starts[at::n_parts]) for at in range(n_parts)]

    def __call__(self, table: TreeTable, labels: Labels, goal: Goal, *, seconds: float) -> Outcome[Tree]:
        recorder = Recorder()
        greedy = greedy_tree(table.values, labels, goal)
        recorder.note(goal.objective(greedy), TRIVIAL_BOUND)
        table = table.with_cuts(greedy)
        found, done = self.trees(table, labels, goal, deadline=recorder.began + seconds, recorder=recorder)
        searched = table.in_units(found[0].tree)
        tree = min((centred(each, table.values, labels, goal) for each in (searched, greedy)), key=goal.objective)
        ended = Termination.ROUND_LIMIT if done else Termination.TIME_LIMIT
        return tree_verdict(tree, goal, goal.floor(table.values, labels), ended, len(self.starts), recorder)

    def trees(
        self, table: TreeTable, labels: Labels, goal: Goal, *, deadline: float, recorder: Recorder | None = None
    ) -> tuple[list[Found], bool]:
        """What the starts came to, the best first and of equals the first start; and whether all came to their end."""
        return _Search(table, labels, goal, self.width, deadline, recorder or Recorder()).found(self.starts, self.seed)


def greedy_tree(values: NDArray[Any], labels: Labels, goal: Goal) -> Tree:
    """CART on every value, pruned for the goal, in the units of the values."""
    ranks = spread_ranks(values)
    grown = grow(ranks, labels, n_bins=1 << COARSE_BITS, depth=goal.depth, min_bucket=goal.min_bucket)
    tree = grown.pruned(pruned_at(grown, grown.is_split, goal.complexity))
    thresholds = tree.thresholds.copy()
    for node in np.flatnonzero(tree.is_split):
        row = tree.features[node, 0]
        left = ranks[row] <= tree.thresholds[node]
        thresholds[node] = between(np.float64(values[row][left].max()), np.float64(values[row][~left].min()))
    return replace(tree, thresholds=thresholds).filled(values, labels)


@dataclass(frozen=True, slots=True)
class _Search:
    table: TreeTable
    labels: Labels
    goal: Goal
    width: int
    deadline: float
    recorder: Recorder

    def found(self, starts: Sequence[int], seed: int) -> tuple[list[Found], bool]:
        found: list[Found] = []
        done = True
        for start in starts:
            if found and time.monotonic() >= self.deadline:
                done = False
                break
            tree, settled = self._from(start, np.random.default_rng([seed, start]))
            found.append(Found(self.goal.objective(tree), start, tree))
            self.recorder.note(found[-1].objective, TRIVIAL_BOUND)
            done = done and settled
        return sorted(found, key=lambda each: each[:2]), done

    def _from(self, start: int, rng: np.random.Generator) -> tuple[Tree, bool]:
        features, cuts = self._start(start, rng)
        settled = self._descend(features, cuts, rng)
        return from_heap(features, cuts, self.table.codes, self.labels), settled

    def _start(self, start: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        features, cuts = empty_heap(self.goal.depth)
        rows, samples = np.arange(self.table.codes.shape[0]), self._present
        if start > 0 and rows.size:
            rows = np.sort(rng.choice(rows, max(1, round(_START_FEATURES * rows.size)), replace=False))
            samples = np.sort(rng.choice(samples, max(1, round(_START_SAMPLES * samples.size))))
        grow_heap(self._data, rows, samples, features, cuts)
        return features, cuts

    @property
    def _data(self) -> Coded:
        return coded(self.table.codes, self.labels, self.table.n_bins, self.goal.min_bucket)

    @property
    def _present(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.labels.weights > 0)

    def _descend(self, features: NDArray[np.int64], cuts: NDArray[np.int64], rng: np.random.Generator) -> bool:
        """Sweep until nothing improves; False if the time was up before."""
        data, price = self._data, self.goal.complexity * self.labels.total
        settle(data, self._present, price, features, cuts)
        calm, looked = np.zeros(features.size, np.bool_), np.zeros(features.size, np.bool_)
        for _ in range(MOST_SWEEPS):
            if not sweep(data, price, self.width, rng.permutation(features.size), calm, looked, features, cuts):
                return True
            if time.monotonic() >= self.deadline:
                return False
        return True
