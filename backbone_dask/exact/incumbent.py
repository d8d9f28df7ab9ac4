"""Good supports: rounding of a relaxed z, and descent by exchanges until no single swap lowers the objective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.exact.gram import Gram, Positions
from backbone_dask.losses.squared import Matrix, Vector

_LEAST_FALL = 1e-12
"""Relative to y'y: a smaller fall of the objective may be rounding."""


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A support (sorted), its weights, and its objective."""

    support: Positions
    weights: Vector
    objective: float

    def spread(self, n_features: int) -> Vector:
        """The weights as a vector over all features."""
        full = np.zeros(n_features)
        full[self.support] = self.weights
        return full


def evaluate(gram: Gram, support: Positions, gamma: float) -> Incumbent:
    """The ridge fit on a support, without the features that it gives no weight."""
    fit = gram.fit(support, gamma)
    used = np.abs(fit.weights) > 0
    return Incumbent(support[used], fit.weights[used], fit.objective)


def round_up(z: Vector, n_nonzero: int) -> Positions:
    """The n_nonzero features with the largest z > 0; ties by position."""
    order = np.argsort(-z, kind="stable")[:n_nonzero]
    return np.sort(order[z[order] > 0])


def truncate(gram: Gram, support: Positions, n_nonzero: int, gamma: float) -> Positions:
    """Drop the features that cost least, half of those there is no room for at a time, until n_nonzero are left."""
    support = np.unique(support)
    while support.size > n_nonzero:
        support = np.delete(support, cheapest(gram.fit(support, gamma).removal_cost, n_nonzero))
    return support


def cheapest(costs: Vector, n_nonzero: int) -> Positions:
    """The places of half of those that n_nonzero leaves no room for, at least one: the last to go do so alone."""
    leaving = max(1, (costs.size - n_nonzero) // 2)
    return np.argsort(costs, kind="stable")[:leaving]


def improve(gram: Gram, support: Positions, n_nonzero: int, gamma: float) -> Incumbent:
    """Descend from a support: fill it up, then make the best swap, until nothing lowers the objective."""
    best = evaluate(gram, truncate(gram, support, n_nonzero, gamma), gamma)
    while True:
        step = _best_addition if best.support.size < n_nonzero else _best_swap
        found = evaluate(gram, step(gram, best, gamma), gamma)
        if not found.objective < best.objective - _LEAST_FALL * gram.yy:
            return best
        best = found


def swap_neighbours(gram: Gram, incumbent: Incumbent, gamma: float, count: int) -> list[Positions]:
    """The supports one swap away that cost least, best first."""
    change = _swap_changes(gram, incumbent, gamma)
    order = np.argsort(change, axis=None, kind="stable")[:count]
    finite = order[np.isfinite(change.ravel()[order])]
    return [_swapped(incumbent.support, *divmod(int(flat), gram.n_features)) for flat in finite]


def _best_addition(gram: Gram, incumbent: Incumbent, gamma: float) -> Positions:
    if incumbent.support.size == gram.n_features:
        return incumbent.support
    sensitivity = _sensitivity(gram, incumbent.support, gamma)
    gain = gram.correlations(incumbent.support, incumbent.weights) ** 2 / sensitivity.pivot
    gain[incumbent.support] = -1.0
    return np.union1d(incumbent.support, [int(np.argmax(gain))])


def _best_swap(gram: Gram, incumbent: Incumbent, gamma: float) -> Positions:
    if incumbent.support.size in (0, gram.n_features):
        return incumbent.support
    leaving, entering = divmod(int(np.argmin(_swap_changes(gram, incumbent, gamma))), gram.n_features)
    return _swapped(incumbent.support, leaving, entering)


def _swapped(support: Positions, leaving: int, entering: int) -> Positions:
    return np.sort(np.append(np.delete(support, leaving), entering))


@dataclass(frozen=True, slots=True)
class _Sensitivity:
    """How the ridge system on a support answers to a change of one feature.

    `inverse` is (G_SS + I/gamma)^-1, `solved` its product with G_S for every feature, `pivot` the Schur complement
    that a feature would add.
    """

    inverse: Matrix
    solved: Matrix
    pivot: Vector


def _sensitivity(gram: Gram, support: Positions, gamma: float) -> _Sensitivity:
    system: Matrix = gram.G[np.ix_(support, support)] + np.eye(support.size) / gamma
    inverse = np.asarray(np.linalg.inv(system), np.float64)
    solved = inverse @ gram.G[support]
    pivot = np.diagonal(gram.G) - np.einsum("ij,ij->j", solved, gram.G[support])
    # At least 1/gamma in exact arithmetic, also where rounding says less.
    return _Sensitivity(inverse, solved, np.maximum(pivot, 0.0) + 1 / gamma)


def _swap_changes(gram: Gram, incumbent: Incumbent, gamma: float) -> Matrix:
    """Change of the objective by every swap, (support, features); infinite where the feature is in already.

    Removing i moves the weights by -inverse_i w_i / inverse_ii; both the correlation and the pivot of an entering
    feature follow by a rank-one update, so the whole neighbourhood costs one matrix product.
    """
    support, weights = incumbent.support, incumbent.weights
    sensitivity = _sensitivity(gram, support, gamma)
    diagonal = np.diagonal(sensitivity.inverse)[:, None]
    loose = gram.correlations(support, weights) + sensitivity.solved * weights[:, None] / diagonal
    pivot = sensitivity.pivot + sensitivity.solved**2 / diagonal
    change = (weights[:, None] ** 2 / diagonal - loose**2 / pivot) / 2
    change[:, support] = np.inf
    return np.asarray(change)
