"""Exchanges between a support and the columns outside, until none lowers the objective."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backbone_dask.losses.squared import Vector
from backbone_dask.subproblems.products import correlate, largest
from backbone_dask.subproblems.swaps import Neighbours, best_swap
from backbone_dask.subproblems.task import NEGLIGIBLE, Choice, Task

EXCHANGES = (10, 5, 2, 1)
"""How many features are exchanged at once. All of these are tried a round, since a fit is cheap next to a pass."""


def polish(task: Task, choice: Choice) -> Choice:
    """Exchange features as long as c(S) falls; one pass over X a round.

    Exchanges of the features that are missed least for the columns most correlated with the residual come first. When
    they fail, all single swaps are compared at the price of a few passes: among correlated columns, a
    better neighbour of a member of the support is hardly correlated with the residual.
    """
    neighbours = Neighbours.none(task)
    while True:
        scores = correlate(task.X, task.residual(choice))
        if (after := exchange(task, choice, scores)).beats(choice):
            choice = after
            continue
        neighbours = neighbours.of(task.X, choice.columns)
        if not (after := best_swap(task, choice, neighbours, scores)).beats(choice):
            return choice
        choice = after


def exchange(task: Task, choice: Choice, scores: Vector) -> Choice:
    """The best support after c features with the least removal cost made room for the c largest |X_j'r|.

    `scores` holds X_j'r, shape (m,). Features are only added as long as the support has room.
    """
    incoming = _incoming(choice, scores)
    pool = task.pool(np.concatenate([choice.columns, incoming]))
    size, room = choice.columns.size, task.n_nonzero - choice.columns.size
    by_cost = np.argsort(choice.fit.removal_cost, kind="stable")
    for c in EXCHANGES:
        if c <= min(incoming.size, size + room):
            members = np.concatenate([by_cost[max(0, c - room) :], size + np.arange(c)])
            after = task.choose(pool, members)
            choice = after if after.beats(choice) else choice
    return choice


def _incoming(choice: Choice, scores: Vector) -> NDArray[np.int64]:
    """The columns outside the support with the largest |X_j'r|, largest first."""
    outside = scores**2
    outside[choice.columns] = 0
    columns = largest(outside, EXCHANGES[0])
    return columns[np.argsort(-outside[columns], kind="stable")]


def trim(task: Task, choice: Choice) -> Choice:
    """Leave out, one at a time, features without which c(S) is the same up to rounding."""
    while choice.columns.size and choice.fit.removal_cost.min() <= NEGLIGIBLE * choice.explained:
        kept = np.delete(choice.columns, choice.fit.removal_cost.argmin())
        choice = task.choose(task.pool(kept), np.arange(kept.size))
    return choice
