"""SR-REL for sparse classification with structure: groups of features that enter together, weights with a sign."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from backbone_dask.losses.logistic import Margin, model_hessian
from backbone_dask.losses.nonnegative import partly_nonnegative
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.losses.structured import ActiveFit
from backbone_dask.losses.structured_logistic import fit_columns, group_costs
from backbone_dask.losses.structured_swaps import GroupBlocks, swap_falls
from backbone_dask.structure import Structure
from backbone_dask.subproblems.logistic_relaxation import check_margin, solve_task
from backbone_dask.subproblems.logistic_swaps import Curved
from backbone_dask.subproblems.logistic_task import Choice, Task
from backbone_dask.subproblems.products import Positions
from backbone_dask.subproblems.structured_polish import LARGEST_GAMMA
from backbone_dask.values import CandidateIds, SparseFit, Standardised


def fit_structured_logistic(
    X: Standardised,
    margin: Margin,
    structure: Structure,
    *,
    n_nonzero: int,
    gamma: float,
    start: CandidateIds | None = None,
    seed: int,
) -> SparseFit:
    """The best support found of at most `n_nonzero` groups of rows of X, with its weights and c(S).

    X has shape (features, samples). `start` holds positions in X whose groups to start from, of any number; without it
    the relaxation's dual gives them. The free part is `losses.logistic.free_part` at the weights. The support has the
    columns with a weight: constant columns never, and with `structure.nonnegative` only those whose weight is positive.
    Nothing is drawn: `seed` is there because the protocol has it.
    """
    check_margin(X, margin, n_nonzero, gamma)
    structure.require_columns(X.shape[0])
    task = GroupTask(np.ascontiguousarray(X, np.float32), margin, n_nonzero, gamma, structure)
    return solve_task(task, partial(GroupCurved.within, task), start)


@dataclass(frozen=True, slots=True)
class GroupTask(Task):
    """Features are the groups of a structure."""

    structure: Structure

    def columns_of(self, features: Positions) -> Positions:
        return self.structure.columns_of(features)

    def features_of(self, columns: Positions) -> Positions:
        return self.structure.groups_of(columns)

    def usable(self, scores: Vector) -> Vector:
        return self.structure.usable(scores)

    def totals(self, scores: Vector) -> Vector:
        return self.structure.sums(scores**2)

    def costs(self, choice: Choice) -> Vector:
        groups = self.structure.groups[choice.columns]
        return group_costs(self.margin, self.rows(choice.columns), choice.fit, self.gamma, groups)

    def choose_from(self, columns: Positions, weights: Vector, free: Vector) -> Choice:
        """As for columns; those without a weight, and groups of nothing else, are not in the choice."""
        found = fit_columns(self.margin, self.rows(columns), self.gamma, self.structure, (weights, free))
        used = found.weights != 0
        return Choice(self.features_of(columns[used]), columns[used], found.only(used))

    def minimum(self, hessian: Matrix, b: Vector, n_weights: int) -> Vector:
        if self.structure.nonnegative:
            return partly_nonnegative(hessian, b, n_weights)
        return Task.minimum(self, hessian, b, n_weights)


@dataclass(frozen=True, slots=True)
class GroupCurved(Curved):
    """The metric of a fit with the products within every group."""

    blocks: GroupBlocks

    @classmethod
    def within(cls, task: GroupTask, choice: Choice) -> GroupCurved:
        """The metric of a fit, without products with the columns of a support yet."""
        plain = Curved.at(task, choice)
        blocks = GroupBlocks.of_rows(task.X, task.structure, plain.h)
        return cls(plain.h, plain.squares, plain.free, plain.columns, plain.products, blocks)

    def best_partners(self, task: Task, choice: Choice, scores: Vector) -> tuple[Positions, Vector]:
        """As for columns; while there is room no place is given up."""
        gamma = min(task.gamma, LARGEST_GAMMA / task.margin.y.size)
        hessian = model_hessian(task.margin, task.rows(choice.columns), self.h, gamma)
        fit = ActiveFit.of_system(hessian, choice.fit.weights, self.blocks.structure.groups[choice.columns])
        falls = swap_falls(self.blocks, fit, self.with_free(slice(None)), scores, gamma)
        table = falls[:, -1:] if choice.features.size < task.n_nonzero else falls[:, :-1]
        table[choice.features] = 0
        return table.argmax(axis=1), table.max(axis=1)
