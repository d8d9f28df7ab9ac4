"""Good sets of groups: descent by the best addition or swap of a group, until none lowers the objective."""

from __future__ import annotations

import numpy as np

from backbone_dask.exact.gram import Positions
from backbone_dask.exact.incumbent import Incumbent, cheapest
from backbone_dask.exact.structured_gram import GroupedGram, GroupIncumbent
from backbone_dask.losses.structured import ActiveFit
from backbone_dask.losses.structured_swaps import swap_falls

_LEAST_FALL = 1e-12
"""Relative to y'y: a smaller fall of the objective may be rounding."""
_TRIED = 10
"""Moves that are fitted before the best is made, where the formula of the swaps only estimates."""
_LARGEST_GAMMA = 1e8
"""Times n. Beyond it the formula divides rounding by rounding where columns depend on each other."""


def improve_groups(problem: GroupedGram, groups: Positions, n_nonzero: int, gamma: float) -> GroupIncumbent:
    """Descend from some groups: cut them down to n_nonzero, then make the best move until none helps."""
    best = _truncated(problem, groups, n_nonzero, gamma)
    tried = _TRIED if problem.structure.nonnegative else 1
    while True:
        moves = group_neighbours(problem, best, n_nonzero, gamma, tried)
        fits = [problem.evaluate(move, gamma) for move in moves]
        found = min(fits, key=lambda fit: fit.objective, default=best)
        if not found.objective < best.objective - _LEAST_FALL * problem.gram.yy:
            return best
        best = found


def group_neighbours(
    problem: GroupedGram, incumbent: Incumbent, n_nonzero: int, gamma: float, count: int
) -> list[Positions]:
    """Sets of groups one swap away, or one addition while there is room, by the objective that the formula promises."""
    gamma = min(gamma, _LARGEST_GAMMA / problem.gram.n_samples)
    columns, fit = _active(problem, incumbent, gamma)
    scores = problem.gram.b - problem.gram.G @ incumbent.weights
    falls = swap_falls(problem.blocks, fit, problem.gram.G[:, columns], scores, gamma)
    falls[incumbent.support] = -np.inf
    if incumbent.support.size < n_nonzero:
        falls[:, :-1] = -np.inf
    else:
        falls[:, -1] = -np.inf
    order = np.argsort(-falls, axis=None, kind="stable")[:count]
    moves = [divmod(int(flat), falls.shape[1]) for flat in order if np.isfinite(falls.flat[flat])]
    # Nobody is at the place after the last.
    return [np.union1d(np.delete(incumbent.support, slice(place, place + 1)), [group]) for group, place in moves]


def _truncated(problem: GroupedGram, groups: Positions, n_nonzero: int, gamma: float) -> GroupIncumbent:
    """Drop the groups that cost least, by and by, until n_nonzero are left."""
    fit = problem.evaluate(np.unique(groups), gamma)
    while fit.support.size > n_nonzero:
        costs = _active(problem, fit, gamma)[1].costs
        fit = problem.evaluate(np.delete(fit.support, cheapest(costs, n_nonzero)), gamma)
    return fit


def _active(problem: GroupedGram, incumbent: Incumbent, gamma: float) -> tuple[Positions, ActiveFit]:
    """The columns with a weight, and what their groups do."""
    columns = np.flatnonzero(incumbent.weights)
    G, groups = problem.gram.G[np.ix_(columns, columns)], problem.structure.groups[columns]
    return columns, ActiveFit.of(G, incumbent.weights[columns], gamma, groups)
