"""Exchanges between a support and the columns outside, until none lowers the logistic objective."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from backbone_dask.losses.squared import Vector
from backbone_dask.subproblems.logistic_swaps import Curved, MetricAt
from backbone_dask.subproblems.logistic_task import Choice, Task
from backbone_dask.subproblems.products import Positions, largest

AT_ONCE = (10, 5, 2, 1)
"""How many features change places at once."""
USELESS = 1e-12
"""A removal cost below this share of the largest is rounding."""


def polish(task: Task, starts: Iterable[Choice], metric_at: MetricAt) -> Choice:
    """The best of what descent reaches from each start; `metric_at` says in which metric swaps are compared."""
    best: Choice | None = None
    curved: Curved | None = None
    for start in starts:
        found, curved = descend(task, start, best, curved, metric_at)
        best = found if best is None or found.beats(best) else best
    return task.nothing() if best is None else best


def descend(
    task: Task, choice: Choice, known: Choice | None, curved: Curved | None, metric_at: MetricAt
) -> tuple[Choice, Curved | None]:
    """Change features as long as c(S) falls, or until the support is that of `known`, from where nothing falls.

    Exchanges come first, one pass over X each. When they fail, all single swaps are compared by a quadratic model, in
    the metric `curved` as long as it is near that of the fit. The last metric comes back as well.
    """
    while known is None or not np.array_equal(choice.columns, known.columns):
        scores = task.scores(choice.fit.dual)
        if (after := exchange(task, choice, scores)).beats(choice):
            choice = after
            continue
        curved = curved if curved is not None and curved.is_near(task, choice) else metric_at(choice)
        curved = curved.of(task.X, choice.columns)
        if not (after := swap(task, choice, curved, scores)).beats(choice):
            break
        choice = after
    return choice, curved


def exchange(task: Task, choice: Choice, scores: Vector) -> Choice:
    """Features with the least removal cost make room for those with the largest scores; `scores` has X_j'a (m,)."""
    outside = task.totals(task.usable(scores))
    outside[choice.features] = 0
    entering = largest(outside, AT_ONCE[0])
    entering = entering[np.argsort(-outside[entering], kind="stable")]
    return replace(task, choice, np.argsort(task.costs(choice), kind="stable"), entering)


def swap(task: Task, choice: Choice, curved: Curved, scores: Vector) -> Choice:
    """The best swaps of one member each, alone or together; `scores` holds X_j'a, shape (m,)."""
    leaving, falls = curved.best_partners(task, choice, scores)
    entering = np.flatnonzero(falls > 0)
    entering = entering[np.argsort(-falls[entering], kind="stable")]
    _, first = np.unique(leaving[entering], return_index=True)
    entering = entering[np.sort(first)[: AT_ONCE[0]]]
    return replace(task, choice, leaving[entering], entering)


def replace(task: Task, choice: Choice, leaving: Positions, entering: Positions) -> Choice:
    """A better support after the first c features of `entering` came in and as many of `leaving` as needed went out.

    `leaving` holds places in the support. As long as there is room nothing leaves. The quadratic model at the fit says
    which c are worth a try; the first that lowers c(S) is taken, and it is `choice` itself if none does.
    """
    if entering.size == 0:
        return choice
    pool = task.pool(choice, entering)
    proposals = [task.proposal(pool, features) for features in _memberships(task, choice, leaving, entering)]
    proposals = [proposal for proposal in proposals if proposal.fall > 0]
    for proposal in sorted(proposals, key=lambda proposal: -proposal.fall):
        after = task.choose_from(proposal.columns, proposal.weights, proposal.free)
        if after.beats(choice):
            return after
    return choice


def _memberships(task: Task, choice: Choice, leaving: Positions, entering: Positions) -> list[Positions]:
    """The features after a change, for every number of changes that is possible."""
    room = task.n_nonzero - choice.features.size
    if room > 0:
        return [np.concatenate([choice.features, entering[: min(room, AT_ONCE[0])]])]
    sizes = [c for c in AT_ONCE if c <= min(entering.size, leaving.size)]
    return [np.concatenate([np.delete(choice.features, leaving[:c]), entering[:c]]) for c in sizes]


def trim(task: Task, choice: Choice) -> Choice:
    """Leave out, one at a time, features without which c(S) is the same up to rounding."""
    while choice.features.size:
        costs = task.costs(choice)
        if costs.min() > USELESS * costs.max():
            break
        choice = task.choose(np.delete(choice.features, costs.argmin()), choice)
    return choice
