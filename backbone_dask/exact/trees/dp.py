"""Optimal trees by dynamic programming over all splits (STreeD, through pystreed): far larger ones than by MIO.

It takes no weights: samples are repeated. Its comparisons of costs are not exact, so that what they may have hidden is
looked for once more, by number of splits, where costs are whole numbers and comparisons are exact.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidSettingError, MissingExtraError
from backbone_dask.exact.trees.proof import Finding, Reduced, sample_counts, solve_reduced
from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.exact.trees.verdict import closed
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Ints, Tree
from backbone_dask.values import Outcome, Termination

MOST_DEPTH = 5
MOST_SPLITS = 2000
"""Its tables hold every pair of splits, and are filled without a look at the clock."""
MOST_SAMPLES = 100_000
_SLACK = 1e-4
"""Costs that differ by less than this, relatively, are equal to it."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class TreeDp:
    """Proven optimal trees of a depth up to 5; without a proof in time, a tree not worse than local search's.

    Attributes
    ----------
    width, seed : as in `TreeSearch`, whose greedy start is improved here.
    """

    width: int
    seed: int

    def split(self, n_parts: int) -> list[TreeDp]:
        """One part: pystreed runs on one thread."""
        return [self]

    def __call__(self, table: TreeTable, labels: Labels, goal: Goal, *, seconds: float) -> Outcome[Tree]:
        _pystreed()
        _refuse(labels, goal)
        search = TreeSearch((0,), self.width, self.seed)
        return solve_reduced(table, labels, goal, search, _prove, seconds=seconds)


def _refuse(labels: Labels, goal: Goal) -> None:
    if goal.depth > MOST_DEPTH:
        raise InvalidSettingError(
            f"dynamic programming takes a depth up to {MOST_DEPTH}, not {goal.depth}; use less depth or local search"
        )
    counts = sample_counts(labels)
    if counts is None:
        raise InvalidSettingError(
            "dynamic programming takes equal or whole-number sample weights, and no large ones; round them, or use "
            "another solver (local search, mixed-integer optimisation)"
        )
    if counts.sum() > MOST_SAMPLES:
        raise InvalidSettingError(
            f"dynamic programming repeats samples by their weights, and {counts.sum()} are more than {MOST_SAMPLES}; "
            f"use smaller whole numbers, or another solver"
        )


def _prove(problem: Reduced, deadline: float) -> Finding:
    if problem.splits.size > MOST_SPLITS:
        raise InvalidSettingError(
            f"dynamic programming takes up to {MOST_SPLITS} splits, and there are {problem.splits.size}; use fewer "
            f"thresholds, fewer features, or local search"
        )
    programme = _Programme.of(problem, deadline)
    first = programme.cheapest()
    best = problem.better(first.tree)
    problem.recorder.note(problem.goal.objective(best), problem.floor)
    if not first.optimal:
        return Finding(best, problem.floor, Termination.TIME_LIMIT, 1)
    # Every level compares sums of what the level below compared, and bounds that were made of them.
    hidden = _SLACK * (2 * problem.goal.depth + 2)
    return _without_slack(programme, best, problem.goal.objective(first.tree) * (1 - hidden))


def _without_slack(programme: _Programme, best: Tree, least: float) -> Finding:
    """The best tree of all, if none is below `least`: numbers of splits that leave room for a better one are tried."""
    problem, objective = programme.problem, programme.problem.goal.objective
    values, rounds = problem.attainable(least), 1
    for n_splits, value in enumerate(values.tolist()):
        if closed(objective(best), value):
            continue
        tree, optimal = programme.most_accurate(n_splits)
        best, rounds = min(best, problem.better(tree), key=objective), rounds + 1
        if not optimal:
            break
        values[n_splits] = np.inf
        problem.recorder.note(objective(best), min(float(values.min()), objective(best)))
    return Finding(best, min(float(values.min()), objective(best)), Termination.TIME_LIMIT, rounds)


class _Run(NamedTuple):
    tree: Tree
    optimal: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Programme:
    """The problem as pystreed takes it: X (samples, splits) of zeros and ones."""

    problem: Reduced
    X: NDArray[np.intc]
    classes: Ints
    least_samples: int
    deadline: float

    @classmethod
    def of(cls, problem: Reduced, deadline: float) -> _Programme:
        labels, splits = problem.labels, problem.splits
        counts = sample_counts(labels)
        assert counts is not None, "other weights are refused before"
        repeated = np.repeat(np.arange(splits.present.size), counts[splits.present])
        classes = np.unique(labels.classes[splits.present], return_inverse=True)[1]
        # In samples; a bucket that is full but for rounding is a full one.
        bucket = problem.goal.min_bucket / labels.total * counts.sum()
        least = max(math.ceil(bucket - _ROUNDING * counts.sum()), 1)
        return cls(problem, splits.right.T[repeated].astype(np.intc), classes[repeated], least, deadline)

    def cheapest(self) -> _Run:
        """The tree of the least objective, but for the slack."""
        # Bounds by similarity would carry the slack of larger sets of samples over to smaller ones.
        goal = self.problem.goal
        return self._run("cost-complex-accuracy", cost_complexity=goal.complexity, use_similarity_lower_bound=False)

    def most_accurate(self, n_splits: int) -> _Run:
        """The tree of the fewest mistakes with at most `n_splits`."""
        return self._run("accuracy", max_num_nodes=n_splits)

    def _run(self, task: str, **settings: Any) -> _Run:
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            return _Run(self.problem.start, False)
        solver = _pystreed().STreeDClassifier(
            task,
            max_depth=min(self.problem.goal.depth, settings.get("max_num_nodes", MOST_DEPTH)),
            min_leaf_node_size=self.least_samples,
            time_limit=seconds,
            **settings,
        )
        solver.fit(self.X, self.classes)
        heap = np.full(2 ** (self.problem.goal.depth + 1) - 1, -1)
        _fill(heap, 0, solver.tree_)
        return _Run(self.problem.tree(heap), solver.fit_result.is_optimal())


def _fill(heap: Ints, at: int, node: Any) -> None:
    if node.is_branching_node():
        heap[at] = node.feature
        _fill(heap, 2 * at + 1, node.left_child)
        _fill(heap, 2 * at + 2, node.right_child)


def _pystreed() -> Any:
    try:
        import pystreed
    except ImportError as cause:
        raise MissingExtraError("dynamic programming needs pystreed: pip install 'backbone-dask[tree]'") from cause
    return pystreed
