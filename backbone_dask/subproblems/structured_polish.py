"""Exchanges of groups until none lowers the objective."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.losses.structured_swaps import GroupBlocks, swap_falls
from backbone_dask.subproblems.polish import AT_ONCE
from backbone_dask.subproblems.products import Positions, correlate, largest
from backbone_dask.subproblems.structured_task import NOTHING, GroupChoice, StructuredTask
from backbone_dask.subproblems.swaps import Neighbours
from backbone_dask.subproblems.task import NEGLIGIBLE

_TRIED = 10
"""Single swaps that are fitted one by one: where weights keep their signs, the formula of the swaps only estimates."""


def polish_groups(task: StructuredTask, choice: GroupChoice) -> GroupChoice:
    """Change groups as long as c(S) falls; one pass over X a round, and a few where all swaps are compared."""
    moves = (exchange_groups, _Swaps(task))
    while True:
        scores = correlate(task.plain.X, task.residual(choice))
        better = (after for move in moves if (after := move(task, choice, scores)).beats(choice))
        after = next(better, None)
        if after is None:
            return choice
        choice = after


def exchange_groups(task: StructuredTask, choice: GroupChoice, scores: Vector) -> GroupChoice:
    """Groups with the least removal cost make room for those with the largest sum of phi(X_j'r)^2; `scores` is X_j'r."""
    outside = task.structure.sums(task.structure.usable(scores) ** 2)
    outside[choice.groups] = 0
    entering = largest(outside, AT_ONCE[0])
    entering = entering[np.argsort(-outside[entering], kind="stable")]
    pool = task.pool(np.concatenate([choice.groups, entering]))
    leaving = choice.groups[np.argsort(task.roles(pool, choice).costs, kind="stable")]
    room = task.room - choice.groups.size
    for c in AT_ONCE:
        if c <= min(entering.size, leaving.size + room):
            kept = np.setdiff1d(choice.groups, leaving[: max(0, c - room)])
            after = task.choose(pool, np.concatenate([kept, entering[:c]]))
            choice = after if after.beats(choice) else choice
    return choice


def truncated(task: StructuredTask, choice: GroupChoice) -> GroupChoice:
    """Without groups that have no effect, and without the cheapest of those that there is no room for."""
    while choice.groups.size:
        costs = task.roles(task.pool(choice.groups), choice).costs
        if choice.groups.size <= task.room and costs.min() > NEGLIGIBLE * choice.explained:
            break
        kept = np.delete(choice.groups, costs.argmin())
        choice = task.choose(task.pool(kept), kept)
    return choice


class _Swaps:
    """All swaps of one group for another, compared by formula; the best are fitted. Products are kept between calls."""

    def __init__(self, task: StructuredTask) -> None:
        self._neighbours = Neighbours.none(task.plain.X)
        self._blocks: GroupBlocks | None = None

    def __call__(self, task: StructuredTask, choice: GroupChoice, scores: Vector) -> GroupChoice:
        if choice.groups.size == 0:
            return choice
        falls = self._falls(task, choice, scores)
        leaving, best = falls.argmax(axis=1), falls.max(axis=1)
        entering = np.flatnonzero(best > 0)
        entering = entering[np.argsort(-best[entering], kind="stable")]
        # The last place stands for nobody leaving.
        places = [choice.groups[at : at + 1] for at in leaving[entering]]
        return _best_swap(task, choice, entering, places)

    def _falls(self, task: StructuredTask, choice: GroupChoice, scores: Vector) -> Matrix:
        self._neighbours = self._neighbours.of(task.plain.X, choice.columns)
        if self._blocks is None:
            self._blocks = GroupBlocks.of_rows(task.plain.X, task.structure)
        fit = task.roles(task.pool(choice.groups), choice)
        products = self._neighbours.products.astype(np.float64)
        falls = swap_falls(self._blocks, fit, products, scores, task.plain.gamma)
        falls[choice.groups] = -np.inf
        if choice.groups.size >= task.room:
            falls[:, -1] = -np.inf
        return falls


def _best_swap(
    task: StructuredTask, choice: GroupChoice, entering: Positions, leaving: list[Positions]
) -> GroupChoice:
    """The best support after the swaps entering[i] for leaving[i], some one by one and some together."""
    tried = list(_combinations(entering, leaving))
    pool = task.pool(np.concatenate([choice.groups, *(new for new, _ in tried)]))
    for new, gone in tried:
        groups = np.concatenate([np.setdiff1d(choice.groups, gone), new])
        if groups.size <= task.room:
            after = task.choose(pool, groups)
            choice = after if after.beats(choice) else choice
    return choice


def _combinations(entering: Positions, leaving: list[Positions]) -> Iterator[tuple[Positions, Positions]]:
    """The first swaps alone; then several of different members, as many as the exchanges take."""
    for at in range(min(_TRIED, entering.size)):
        yield entering[at : at + 1], leaving[at]
    first = np.unique([int(gone[0]) if gone.size else -1 for gone in leaving], return_index=True)[1]
    apart = np.sort(first)
    for c in AT_ONCE[:-1]:
        if c <= apart.size:
            yield entering[apart[:c]], np.concatenate([NOTHING, *(leaving[at] for at in apart[:c])])
