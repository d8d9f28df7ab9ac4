"""Exchanges of groups until none lowers the objective."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.losses.structured_swaps import GroupBlocks, swap_falls
from backbone_dask.subproblems.polish import AT_ONCE
from backbone_dask.subproblems.products import Positions, correlate, largest
from backbone_dask.subproblems.structured_task import NOTHING, GroupChoice, StructuredTask
from backbone_dask.subproblems.swaps import Neighbours
from backbone_dask.subproblems.task import NEGLIGIBLE, Pool

Move: TypeAlias = tuple[Positions, Positions]
"""Groups that come in, groups that go out."""
MoveRule: TypeAlias = Callable[[StructuredTask, GroupChoice, Vector], GroupChoice]
"""A better choice, or the same one, given X_j'r of every column."""
_TRIED = 10
"""Single swaps that are fitted one by one: where weights keep their signs, the formula of the swaps only estimates."""
LARGEST_GAMMA = 1e5
"""Times n. Products in single precision cannot tell a column from one that a smaller ridge would keep apart."""


def polish_groups(task: StructuredTask, *starts: GroupChoice) -> GroupChoice:
    """The best of what descent reaches from each start."""
    best, moves = task.nothing(), (exchange_groups, _Swaps(task))
    for start in starts:
        found = _descend(task, start, best, moves)
        best = found if found.beats(best) else best
    return best


def _descend(task: StructuredTask, choice: GroupChoice, known: GroupChoice, moves: tuple[MoveRule, ...]) -> GroupChoice:
    """Change groups as long as c(S) falls, or until they are those of `known`.

    It takes one pass over X a round, and a few where all swaps are compared.
    """
    while known.groups.size == 0 or not np.array_equal(choice.groups, known.groups):
        scores = correlate(task.plain.X, task.residual(choice))
        tried = (move(task, choice, scores) for move in moves)
        better = next((after for after in tried if after.beats(choice)), None)
        if better is None:
            break
        choice = better
    return choice


def exchange_groups(task: StructuredTask, choice: GroupChoice, scores: Vector) -> GroupChoice:
    """Groups with the least removal cost make room for those with the largest sum of phi(X_j'r)^2; `scores` (m,)."""
    outside = task.structure.sums(task.structure.usable(scores) ** 2)
    outside[choice.groups] = 0
    entering = largest(outside, AT_ONCE[0])
    entering = entering[np.argsort(-outside[entering], kind="stable")]
    pool = task.pool(np.concatenate([choice.groups, entering]))
    leaving = choice.groups[np.argsort(task.roles(pool, choice, task.plain.gamma).costs, kind="stable")]
    room = task.room - choice.groups.size
    counts = [c for c in AT_ONCE if c <= min(entering.size, leaving.size + room)]
    return _best_after(task, choice, pool, [(entering[:c], leaving[: max(0, c - room)]) for c in counts])


def truncated(task: StructuredTask, choice: GroupChoice) -> GroupChoice:
    """Without groups that have no effect, and without the cheapest of those that there is no room for."""
    while choice.groups.size:
        costs = task.roles(task.pool(choice.groups), choice, task.plain.gamma).costs
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
        moves = list(_moves(entering, places))
        pool = task.pool(np.concatenate([choice.groups, *(new for new, _ in moves)]))
        return _best_after(task, choice, pool, moves)

    def _falls(self, task: StructuredTask, choice: GroupChoice, scores: Vector) -> Matrix:
        self._neighbours = self._neighbours.of(task.plain.X, choice.columns)
        if self._blocks is None:
            self._blocks = GroupBlocks.of_rows(task.plain.X, task.structure, np.ones_like(task.plain.y))
        gamma = min(task.plain.gamma, LARGEST_GAMMA / task.plain.y.size)
        fit = task.roles(task.pool(choice.groups), choice, gamma)
        products = self._neighbours.products.astype(np.float64)
        falls = swap_falls(self._blocks, fit, products, scores, gamma)
        falls[choice.groups] = -np.inf
        if choice.groups.size >= task.room:
            falls[:, -1] = -np.inf
        return falls


def _best_after(task: StructuredTask, choice: GroupChoice, pool: Pool, moves: list[Move]) -> GroupChoice:
    """The best choice after one of the moves, or the choice itself; the pool has all of their groups."""
    best = choice
    for entering, leaving in moves:
        groups = np.concatenate([np.setdiff1d(choice.groups, leaving), entering])
        if groups.size <= task.room:
            after = task.choose(pool, groups)
            best = after if after.beats(best) else best
    return best


def _moves(entering: Positions, leaving: list[Positions]) -> Iterator[Move]:
    """Of the swaps entering[i] for leaving[i], the first alone; then several of different members together."""
    for at in range(min(_TRIED, entering.size)):
        yield entering[at : at + 1], leaving[at]
    first = np.unique([int(gone[0]) if gone.size else -1 for gone in leaving], return_index=True)[1]
    apart = np.sort(first)
    for c in AT_ONCE[:-1]:
        if c <= apart.size:
            yield entering[apart[:c]], np.concatenate([NOTHING, *(leaving[at] for at in apart[:c])])
