"""Exchanges between a support and the columns outside, until none lowers the objective."""

from __future__ import annotations

import numpy as np

from backbone_dask.losses.squared import Vector
from backbone_dask.subproblems.products import Positions, correlate, largest
from backbone_dask.subproblems.swaps import Neighbours, best_partners
from backbone_dask.subproblems.task import NEGLIGIBLE, Choice, Task

AT_ONCE = (10, 5, 2, 1)
"""How many features change places at once. All of these are tried a round, since a fit is cheap next to a pass."""


def polish(task: Task, *starts: Choice) -> Choice:
    """The best of what descent reaches from each start."""
    best, neighbours = task.nothing(), Neighbours.none(task.X)
    for start in starts:
        found, neighbours = _descend(task, start, best, neighbours)
        best = found if found.beats(best) else best
    return best


def _descend(task: Task, choice: Choice, known: Choice, neighbours: Neighbours) -> tuple[Choice, Neighbours]:
    """Change features as long as c(S) falls, or until it is clear that `known` is better; one pass over X a round.

    Exchanges of the features that are missed least for the columns most correlated with the residual come first. When
    they fail, all single swaps are compared at the price of a few passes: among correlated columns, a better
    neighbour of a member of the support is hardly correlated with the residual. A support that exchanges alone do not
    bring below `known` is not worth that. The last products come back as well.
    """
    while known.columns.size == 0 or not np.array_equal(choice.columns, known.columns):
        scores = correlate(task.X, task.residual(choice))
        if (after := exchange(task, choice, scores)).beats(choice):
            choice = after
            continue
        if known.columns.size and not choice.beats(known):
            break
        neighbours = neighbours.of(task.X, choice.columns)
        if not (after := swap(task, choice, neighbours, scores)).beats(choice):
            break
        choice = after
    return choice, neighbours


def exchange(task: Task, choice: Choice, scores: Vector) -> Choice:
    """Features with the least removal cost make room for the columns with the largest |X_j'r|, `scores` (m,)."""
    outside = scores**2
    outside[choice.columns] = 0
    entering = largest(outside, AT_ONCE[0])
    entering = entering[np.argsort(-outside[entering], kind="stable")]
    return replace(task, choice, np.argsort(choice.fit.removal_cost, kind="stable"), entering)


def swap(task: Task, choice: Choice, neighbours: Neighbours, scores: Vector) -> Choice:
    """The best swaps of one member each, alone or together; `scores` holds X_j'r, shape (m,)."""
    leaving, falls = best_partners(task, choice, neighbours, scores)
    entering = np.flatnonzero(falls > 0)
    entering = entering[np.argsort(-falls[entering], kind="stable")]
    _, first = np.unique(leaving[entering], return_index=True)
    entering = entering[np.sort(first)[: AT_ONCE[0]]]
    return replace(task, choice, leaving[entering], entering)


def replace(task: Task, choice: Choice, leaving: Positions, entering: Positions) -> Choice:
    """The best support after the first c columns of `entering` came in and as many of `leaving` as needed went out.

    `leaving` holds places in the support. It is `choice` itself if no c lowers c(S).
    """
    size, room = choice.columns.size, task.n_nonzero - choice.columns.size
    pool = task.pool(np.concatenate([choice.columns, entering]))
    for c in AT_ONCE:
        if c <= min(entering.size, leaving.size + room):
            members = np.delete(np.arange(size + c), leaving[: max(0, c - room)])
            after = task.choose(pool, members)
            choice = after if after.beats(choice) else choice
    return choice


def trim(task: Task, choice: Choice) -> Choice:
    """Leave out, one at a time, features without which c(S) is the same up to rounding."""
    while choice.columns.size and choice.fit.removal_cost.min() <= NEGLIGIBLE * choice.explained:
        kept = np.delete(choice.columns, choice.fit.removal_cost.argmin())
        choice = task.choose(task.pool(kept), np.arange(kept.size))
    return choice
