"""Classification trees: the five functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product, starmap
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from backbone_dask.algorithm.sampling import Sampler
from backbone_dask.columns import Columns
from backbone_dask.exact.trees.dp import TreeDp
from backbone_dask.exact.trees.hyperplanes import HyperplaneSearch
from backbone_dask.exact.trees.mio import TreeMio
from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.problems.questions import named_panel
from backbone_dask.problems.sparse import raw_values
from backbone_dask.protocols import Problem
from backbone_dask.subproblems.cart import FitCart, used_features
from backbone_dask.tree_settings import ResolvedTreeSettings
from backbone_dask.trees.bins import COARSE_BITS, Ranks, spread_ranks
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Tree
from backbone_dask.values import CandidateIds, Outcome

N_BINS = 1 << COARSE_BITS
_COLUMNS_AT_A_TIME = 512


def ranked(columns: Columns) -> Ranks:
    """Ranks of the values of each column, a missing value at that of the mean: what subproblems share."""
    ranks = np.empty(columns.values.shape, np.uint16)
    for start in range(0, columns.n_features, _COLUMNS_AT_A_TIME):
        strip = slice(start, start + _COLUMNS_AT_A_TIME)
        ranks[strip] = spread_ranks(tree_values(columns[strip]))
    return ranks


def tree_values(columns: Columns) -> NDArray[np.generic]:
    """Values as a tree compares them: floats as they are, others in float64 with the mean where they are missing."""
    return columns.values if columns.values.dtype.kind == "f" else np.asarray(raw_values(columns))


class TreeSolver(Protocol):
    """Solves the reduced problem; `split` cuts it into parts for several workers."""

    def __call__(self, table: TreeTable, labels: Labels, goal: Goal, *, seconds: float) -> Outcome[Tree]: ...

    def split(self, n_parts: int) -> Sequence[TreeSolver]: ...


@dataclass(frozen=True, slots=True)
class FitTree:
    """The reduced problem on the values of the backbone's columns, by one of the solvers."""

    solver: TreeSolver
    goal: Goal
    n_thresholds: int

    def at(self, goal: Goal) -> FitTree:
        return replace(self, goal=goal)

    def split(self, n_parts: int) -> list[FitTree]:
        """Parts that can be solved at the same time; the best of their outcomes is the whole's."""
        return [replace(self, solver=part) for part in self.solver.split(n_parts)]

    def __call__(self, X: NDArray[Any], y: Labels, *, warm_start: CandidateIds, seconds: float) -> Outcome[Tree]:
        there = np.flatnonzero(y.weights > 0)
        table = TreeTable.of(np.ascontiguousarray(X[:, there]), self.n_thresholds)
        return self.solver(table, y.take(there), self.goal, seconds=seconds)


def tree_solver(settings: ResolvedTreeSettings) -> TreeSolver:
    """The solver that the settings name."""
    if settings.exact == "mio":
        return TreeMio(settings.search_width, settings.seed)
    if settings.exact == "dynamic-programming":
        return TreeDp(settings.search_width, settings.seed)
    search = TreeSearch(tuple(range(settings.n_starts)), settings.search_width, settings.seed)
    return search if settings.split_features == 1 else HyperplaneSearch(search, settings.split_features)


def goals(settings: ResolvedTreeSettings) -> tuple[Goal, ...]:
    """Every depth, bucket and complexity that is to be tried."""
    return tuple(starmap(Goal, product(settings.depths, settings.min_buckets, settings.complexities)))


def tree_sampler(settings: ResolvedTreeSettings) -> Sampler:
    return Sampler(settings.sampling, settings.subproblem_fraction, settings.backbone_max, settings.seed)


@dataclass(frozen=True, slots=True)
class TreeTask:
    """Labels, and how settings become the functions of the spine."""

    labels: Labels

    def problem(self, settings: ResolvedTreeSettings) -> Problem[Tree]:
        return Problem(
            screen=named_panel(settings.screen, self.labels.classes.astype(np.float64), self.labels.weights),
            construct_subproblems=tree_sampler(settings),
            fit_subproblem=FitCart(settings.subproblem_depths, settings.min_buckets, N_BINS),
            extract_relevant=used_features,
            fit=FitTree(tree_solver(settings), goals(settings)[-1], settings.n_thresholds),
            prepare=ranked,
        )

    def weighted(self, weights: NDArray[np.float64]) -> TreeTask:
        return replace(self, labels=self.labels.weighted(weights))
