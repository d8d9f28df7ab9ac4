"""Forward selection: a support grown from nothing, by the feature that lowers c(S) most."""

from __future__ import annotations

import numpy as np

from backbone_dask.subproblems.products import Positions, correlate, largest
from backbone_dask.subproblems.task import NEGLIGIBLE, Choice, Pool, Task

PASSES = 10
"""Over X, at most: with more features than that to find, several enter in between, of those that a pass named."""
_NAMED = 64


def grow(task: Task) -> Choice:
    """A support of `n_nonzero` columns, or of as many as lower c(S)."""
    choice, at_once = task.nothing(), -(-task.n_nonzero // PASSES)
    while choice.columns.size < task.n_nonzero:
        scores = correlate(task.X, task.residual(choice)) ** 2
        scores[choice.columns] = 0
        pool = task.pool(np.concatenate([choice.columns, largest(scores, _NAMED)]))
        grown = _grown(task, choice, pool, min(choice.columns.size + at_once, task.n_nonzero))
        if grown.columns.size == choice.columns.size:
            break
        choice = grown
    return choice


def _grown(task: Task, choice: Choice, pool: Pool, size: int) -> Choice:
    """The first columns of a pool are those of the choice; the best of the others join them, one at a time."""
    members = np.arange(choice.columns.size)
    while members.size < min(size, pool.columns.size):
        gains = _gains(task, pool, members)
        best = int(gains.argmax())
        if gains[best] <= NEGLIGIBLE * task.yy:
            break
        members = np.append(members, best)
    return task.choose(pool, members)


def _gains(task: Task, pool: Pool, members: Positions) -> np.ndarray:
    """By how much c(S) falls with each column of the pool: (X_j'r)^2 over twice what is new in the column."""
    inner = pool.gram[np.ix_(members, members)] + np.eye(members.size) / task.gamma
    known = pool.gram[members]
    solved = np.linalg.solve(inner, np.column_stack([known, pool.b[members]]))
    residual = pool.b - solved[:, -1] @ known
    new = np.maximum(np.diagonal(pool.gram) - np.einsum("ij,ij->j", known, solved[:, :-1]), 0) + 1 / task.gamma
    gains = residual**2 / (2 * new)
    gains[members] = 0
    return np.asarray(gains)
