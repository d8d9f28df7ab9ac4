"""Optimal trees by mixed-integer optimisation: a flow formulation without big-M, in Pyomo, solved by HiGHS.

The full tree of the goal's depth is a heap: node t has the children 2t + 1 and 2t + 2, and leaf l is node n_nodes + l.
A node has at most one split, none below a node without; a kind of sample (all that are on the same side of every
split) flows to one leaf, and left where there is no split; a leaf has one class. A sample is right if it flows to a
leaf of its class. Only splits and classes have to be whole numbers: with them fixed, the flow is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
from pyomo.contrib.appsi.base import TerminationCondition
from pyomo.core.expr import LinearExpression

from backbone_dask.errors import InvalidSettingError
from backbone_dask.exact.highs import OPTIONS, TOLERANCE, QuietHighs, own_turn
from backbone_dask.exact.trees.kinds import Kinds, start_heap
from backbone_dask.exact.trees.proof import Finding, Reduced, solve_reduced
from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Floats, Ints, Tree
from backbone_dask.values import Outcome, Termination

MOST_ENTRIES = 400_000
"""Of the constraint matrix: it is built in seconds. Proofs end far below, see benchmarks/exact/trees.py."""
_PROBLEM = "the tree problem"
_MOST_WHOLE = 100_000
"""Larger numbers would be beyond the solver's tolerances."""


@dataclass(frozen=True, slots=True)
class TreeMio:
    """Proven optimal trees of small problems; with less time a bound, and a tree not worse than local search's.

    Attributes
    ----------
    width, seed : as in `TreeSearch`, whose greedy start is improved here.
    """

    width: int
    seed: int

    def split(self, n_parts: int) -> list[TreeMio]:
        """One part: HiGHS runs on one thread."""
        return [self]

    def __call__(self, table: TreeTable, labels: Labels, goal: Goal, *, seconds: float) -> Outcome[Tree]:
        search = TreeSearch((0,), self.width, self.seed)
        return solve_reduced(table, labels, goal, search, _prove, seconds=seconds)


def _prove(problem: Reduced, deadline: float) -> Finding:
    kinds = Kinds.of(problem.splits, problem.labels)
    _refuse_too_large(problem, kinds)
    with own_turn(deadline - time.monotonic(), _PROBLEM) as granted:
        if not granted or time.monotonic() >= deadline:
            return Finding(problem.start, problem.floor, Termination.TIME_LIMIT, 0)
        heap, bound, finished = _FlowModel(problem, kinds).solve(deadline)
    trees = [] if heap is None else [problem.tree(heap)]
    ended = Termination.PROVEN if finished else Termination.TIME_LIMIT
    return Finding(problem.better(*trees), float(problem.attainable(bound).min()), ended, 1)


def _refuse_too_large(problem: Reduced, kinds: Kinds) -> None:
    depth, n_splits = problem.goal.depth, problem.splits.size
    # Every kind meets about half of the splits at every node, and every leaf thrice.
    entries = kinds.size * 2**depth * (n_splits // 2 + 3 + depth)
    if entries > MOST_ENTRIES:
        raise InvalidSettingError(
            f"{n_splits} splits, {kinds.size} different samples and depth {depth} make a mixed-integer problem of "
            f"about {entries:.1e} entries, more than {MOST_ENTRIES:.0e}; use fewer thresholds, fewer features, "
            f"less depth, or another solver (local search, dynamic programming)"
        )


class _Answer(NamedTuple):
    """The best tree that was met, as a heap of splits; a bound for all trees; and whether the solve came to its end."""

    heap: Ints | None
    bound: float
    finished: bool


class _FlowModel:
    """Shares of the weight are multiplied by `unit`, so that what tolerances can hide is below 1e-9 of it."""

    def __init__(self, problem: Reduced, kinds: Kinds) -> None:
        self.problem, self.kinds = problem, kinds
        depth, n_classes = problem.goal.depth, problem.labels.n_classes
        self.nodes, self.leaves = range(2**depth - 1), range(2**depth)
        self.classes, self.groups = range(n_classes), range(kinds.group_kinds.size)
        self.columns = range(problem.splits.size)
        n_columns = len(self.nodes) * len(self.columns)
        n_columns += len(self.leaves) * (n_classes + kinds.size + len(self.groups))
        self.allowance = (n_columns + 2) * TOLERANCE
        # Whole numbers, where weights have a common measure, let HiGHS see that objectives lie on a grid.
        n_counts = problem.n_counts
        self.whole = n_counts is not None and n_counts <= _MOST_WHOLE
        measure = n_counts if n_counts is not None and self.whole else 1
        self.unit = float(measure * math.ceil(2 * (n_columns + 2) / measure))
        self.model = self._variables()
        self._constrain()
        self._set_start()

    def _variables(self) -> Any:
        model = pyo.ConcreteModel()
        model.split = pyo.Var(self.nodes, self.columns, domain=pyo.Binary)
        model.label = pyo.Var(self.leaves, self.classes, domain=pyo.Binary)
        model.flow = pyo.Var(range(self.kinds.size), self.leaves, bounds=(0, 1))
        model.right = pyo.Var(self.groups, self.leaves, bounds=(0, 1))
        model.rows = pyo.ConstraintList()
        return model

    def solve(self, deadline: float) -> _Answer:
        solver = QuietHighs.of(self.model, OPTIONS)
        solver.watch(self._note)
        results = solver.run(seconds=deadline - time.monotonic(), mip_gap=0.0, problem=_PROBLEM)
        bound = results.best_objective_bound
        share = -np.inf if bound is None else self._share(bound)
        heap = None
        if results.best_feasible_objective is not None:
            values = solver.get_primals(list(self.model.split.values())).values()
            heap = self._heap(np.array(list(values)))
        return _Answer(heap, share, results.termination_condition is TerminationCondition.optimal)

    def _share(self, bound: float) -> float:
        """A safe bound, in shares of the weight."""
        return (bound - self.allowance) / self.unit

    def _note(self, objective: float, bound: float) -> None:
        problem = self.problem
        proven = float(problem.attainable(self._share(bound)).min()) if np.isfinite(bound) else problem.floor
        best = min(objective / self.unit, problem.goal.objective(problem.start))
        problem.recorder.note(best, max(proven, problem.floor))

    def _heap(self, values: Floats) -> Ints:
        heap = np.full(2 * len(self.leaves) - 1, -1)
        chosen = values.reshape(len(self.nodes), -1) > 0.5
        heap[: len(self.nodes)] = np.where(chosen.any(axis=1), chosen.argmax(axis=1), -1)
        return heap

    def _constrain(self) -> None:
        self._one_split_a_node()
        self._one_path_a_kind()
        self._right_where_the_class_is()
        self._full_buckets()
        cost = _sum(self.model.split.values(), self.problem.goal.complexity * self.unit)
        gains = [-gain for gain in self._gains().tolist() for _ in self.leaves]
        errors = LinearExpression(constant=self.unit, linear_coefs=gains, linear_vars=list(self.model.right.values()))
        self.model.objective = pyo.Objective(expr=cost + errors)

    def _gains(self) -> Floats:
        """What getting a group right is worth."""
        gains = self.kinds.group_weights * (self.unit / self.problem.labels.total)
        return np.round(gains) if self.whole else gains

    def _splits_of(self, node: int) -> list[Any]:
        return [self.model.split[node, column] for column in self.columns]

    def _one_split_a_node(self) -> None:
        self.model.rows.add(_sum(self._splits_of(0)) <= 1)
        for node in self.nodes[1:]:
            parent = (node - 1) // 2
            self.model.rows.add(_sum(self._splits_of(node)) - _sum(self._splits_of(parent)) <= 0)

    def _one_path_a_kind(self) -> None:
        for kind, goes_right in enumerate(self.kinds.right.T):
            self.model.rows.add(_sum(self.model.flow[kind, leaf] for leaf in self.leaves) == 1)
            to_right = np.flatnonzero(goes_right).tolist()
            for node in self.nodes:
                pulls = _sum(self.model.split[node, column] for column in to_right)
                left, right = (self._flow_below(kind, child) for child in (2 * node + 1, 2 * node + 2))
                self.model.rows.add(right - pulls <= 0)
                self.model.rows.add(left + pulls <= 1)

    def _flow_below(self, kind: int, node: int) -> Any:
        return _sum(self.model.flow[kind, leaf] for leaf in _leaves_below(node, len(self.nodes)))

    def _right_where_the_class_is(self) -> None:
        model, groups_of = self.model, self.kinds.groups_of
        for leaf in self.leaves:
            model.rows.add(_sum(model.label[leaf, k] for k in self.classes) == 1)
            for kind, groups in enumerate(groups_of):
                model.rows.add(_sum(model.right[group, leaf] for group in groups) - model.flow[kind, leaf] <= 0)
            for group, k in enumerate(self.kinds.group_classes.tolist()):
                model.rows.add(model.right[group, leaf] - model.label[leaf, k] <= 0)

    def _full_buckets(self) -> None:
        """A leaf is in use if there is a split where its path last turns right; the first one, if there is any."""
        # Relaxed a little, so that rounding cannot exclude a tree that is allowed.
        total = self.problem.labels.total
        least = self.problem.goal.min_bucket / total - TOLERANCE
        if least <= 0:
            return
        shares = (self.kinds.weights / total).tolist()
        for leaf in self.leaves:
            held = LinearExpression(
                linear_coefs=shares, linear_vars=[self.model.flow[kind, leaf] for kind in range(self.kinds.size)]
            )
            self.model.rows.add(held - _sum(self._splits_of(self._last_right_turn(leaf)), least) >= 0)

    def _last_right_turn(self, leaf: int) -> int:
        node = len(self.nodes) + leaf
        while node > 0 and node % 2 == 1:
            node = (node - 1) // 2
        return max((node - 1) // 2, 0)

    def _set_start(self) -> None:
        heap = start_heap(self.problem)
        ends = self.kinds.leaves_in(heap)
        labels = self.kinds.best_classes(ends, len(self.leaves))
        _set(self.model.split, heap[: len(self.nodes), None] == np.arange(len(self.columns)))
        _set(self.model.label, labels[:, None] == np.arange(len(self.classes)))
        _set(self.model.flow, ends[:, None] == np.arange(len(self.leaves)))
        there = ends[self.kinds.group_kinds]
        right = labels[there] == self.kinds.group_classes
        _set(self.model.right, right[:, None] & (there[:, None] == np.arange(len(self.leaves))))


def _leaves_below(node: int, n_nodes: int) -> range:
    first = last = node
    while first < n_nodes:
        first, last = 2 * first + 1, 2 * last + 2
    return range(first - n_nodes, last - n_nodes + 1)


def _sum(variables: Iterable[Any], factor: float = 1.0) -> Any:
    terms = list(variables)
    return LinearExpression(constant=0, linear_coefs=[factor] * len(terms), linear_vars=terms)


def _set(variables: Any, values: Any) -> None:
    for variable, value in zip(variables.values(), values.ravel().tolist(), strict=True):
        variable.set_value(float(value), skip_validation=True)
