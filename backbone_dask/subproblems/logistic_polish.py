"""Exchanges between a support and the columns outside, until none lowers the logistic objective."""

from __future__ import annotations

import numpy as np

from backbone_dask.losses.squared import Vector
from backbone_dask.subproblems.logistic_swaps import Curved, best_partners
from backbone_dask.subproblems.logistic_task import Choice, Task
from backbone_dask.subproblems.products import Positions, correlate, largest

AT_ONCE = (10, 5, 2, 1)
"""How many features change places at once."""
USELESS = 1e-12
"""A removal cost below this share of the largest is rounding."""


def polish(task: Task, choice: Choice) -> Choice:
    """Change features as long as c(S) falls: first exchanges, one pass over X each, then single swaps."""
    curved: Curved | None = None
    fresh = False
    while True:
        scores = correlate(task.X, choice.fit.dual)
        if (after := exchange(task, choice, scores)).beats(choice):
            choice = after
            continue
        if curved is None:
            curved, fresh = Curved.at(task, choice), True
        curved = curved.of(task.X, choice.columns)
        if (after := swap(task, choice, curved, scores)).beats(choice):
            choice, fresh = after, False
        elif fresh:
            return choice
        else:
            curved = None


def exchange(task: Task, choice: Choice, scores: Vector) -> Choice:
    """Features with the least removal cost make room for the columns with the largest |X_j'a|, `scores` (m,)."""
    outside = scores**2
    outside[choice.columns] = 0
    entering = largest(outside, AT_ONCE[0])
    entering = entering[np.argsort(-outside[entering], kind="stable")]
    return replace(task, choice, np.argsort(choice.fit.removal_cost, kind="stable"), entering)


def swap(task: Task, choice: Choice, curved: Curved, scores: Vector) -> Choice:
    """The best swaps of one member each, alone or together; `scores` holds X_j'a, shape (m,)."""
    leaving, falls = best_partners(task, choice, curved, scores)
    entering = np.flatnonzero(falls > 0)
    entering = entering[np.argsort(-falls[entering], kind="stable")]
    _, first = np.unique(leaving[entering], return_index=True)
    entering = entering[np.sort(first)[: AT_ONCE[0]]]
    return replace(task, choice, leaving[entering], entering)


def replace(task: Task, choice: Choice, leaving: Positions, entering: Positions) -> Choice:
    """The best support after the first c columns of `entering` came in and as many of `leaving` as needed went out.

    `leaving` holds places in the support. It is `choice` itself if no c lowers c(S).
    """
    room, best = task.n_nonzero - choice.columns.size, choice
    for c in AT_ONCE:
        if c <= min(entering.size, leaving.size + room):
            kept = np.delete(choice.columns, leaving[: max(0, c - room)])
            after = task.choose(np.sort(np.concatenate([kept, entering[:c]])), best)
            best = after if after.beats(best) else best
    return best


def trim(task: Task, choice: Choice) -> Choice:
    """Leave out, one at a time, features without which c(S) is the same up to rounding."""
    while choice.columns.size and choice.fit.removal_cost.min() <= USELESS * choice.fit.removal_cost.max():
        kept = np.delete(choice.columns, choice.fit.removal_cost.argmin())
        choice = task.choose(kept, choice)
    return choice
