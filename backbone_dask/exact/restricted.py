"""The relaxation over a working set of columns, and what its dual vector proves once all columns are priced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from backbone_dask.exact.everything import ray_bound
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram, Positions
from backbone_dask.exact.incumbent import Incumbent, evaluate, improve, round_up
from backbone_dask.exact.perspective import solve_relaxation
from backbone_dask.losses.squared import Vector
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import Standardised

TOLERANCE = 1e-9
"""Of a relaxation whose dual vector all columns are priced against: a pass costs more than a few steps."""
_HALVINGS, _LEAST_SHARE = 9, 1e-8
_FEW = 300
"""Rows that are solved at once, and that come in at a time."""
_DEARER = 1 + 1e-6


@dataclass(frozen=True, slots=True)
class Restricted:
    """The relaxation over the rows of X, and the best support that a descent from it found.

    `a` (n,) is its dual vector, `value` its optimal value; `support` has positions in X.
    """

    weights: Vector
    z: Vector
    value: float
    a: Vector
    support: Positions
    objective: float


class Loss(Protocol):
    """One loss with its target and limits: what pricing asks of it. Frozen and small enough to travel."""

    @property
    def n_nonzero(self) -> int: ...

    @property
    def gamma(self) -> float: ...

    def at(self, gamma: float) -> Self:
        """The same with another ridge weight."""
        ...

    def solve(self, X: Standardised, start: Vector, support: Positions) -> Restricted:
        """The relaxation from some weights, and the best support on the way from `support` and from its own z."""
        ...

    def bound(self, a: Vector, heaviest: float) -> float:
        """No support costs less, if no n_nonzero columns have a larger sum of (X_j'a)^2 than `heaviest`."""
        ...


@dataclass(frozen=True, slots=True)
class SquaredLoss:
    """1/2 |y - X'w|^2 + 1/(2 gamma) |w|^2 over at most n_nonzero columns; y may be off by the length y_error."""

    y: Vector
    n_nonzero: int
    gamma: float
    y_error: float = 0.0

    def at(self, gamma: float) -> SquaredLoss:
        return replace(self, gamma=gamma)

    def solve(self, X: Standardised, start: Vector, support: Positions) -> Restricted:
        with one_blas_thread():
            return narrowed(self._solved, X, start, support, self.n_nonzero)

    def _solved(self, X: Standardised, start: Vector, support: Positions) -> Restricted:
        gram = Gram.of(X, self.y)
        face = Face.whole(len(X), self.n_nonzero)
        found = solve_relaxation(gram, face, self.gamma, start=start, tolerance=TOLERANCE)
        a = self.y - found.weights @ X.astype(np.float64)
        best, _ = best_support(found.z, support, self.n_nonzero, lambda at: self._descend(gram, at))
        objective = self._cost(X, evaluate(gram, best, self.gamma))
        return Restricted(found.weights, found.z, found.objective, a, best, objective)

    def _cost(self, X: Standardised, found: Incumbent) -> float:
        """By samples: products of columns have lost the digits of an objective far below y'y."""
        left = self.y - found.weights @ X[found.support].astype(np.float64)
        return 0.5 * float(left @ left) + float(found.weights @ found.weights) / (2 * self.gamma)

    def _descend(self, gram: Gram, columns: Positions) -> Callable[[Positions], tuple[Positions, float]]:
        part = Gram(gram.G[np.ix_(columns, columns)], gram.b[columns], gram.yy, gram.n_samples)

        def descend(support: Positions) -> tuple[Positions, float]:
            found = improve(part, support, self.n_nonzero, self.gamma)
            return found.support, found.objective

        return descend

    def bound(self, a: Vector, heaviest: float) -> float:
        with one_blas_thread():
            return ray_bound(self.y, a, self.gamma, heaviest, self.y_error)


def narrowed(
    solve: Callable[[Standardised, Vector, Positions], Restricted],
    X: Standardised,
    start: Vector,
    support: Positions,
    n_nonzero: int,
) -> Restricted:
    """What `solve` finds on all rows of X, by solving on few: those that matter come in by their prices.

    A row outside whose |X_j'a| is no larger than the n_nonzero-th inside has no share in the relaxation.
    """
    kept = np.union1d(np.flatnonzero(start), support) if len(X) > _FEW else np.arange(len(X))
    value = np.inf
    while True:
        found = solve(X[kept], start[kept], np.searchsorted(kept, support))
        start, support = _spread(found.weights, kept, len(X)), kept[found.support]
        entering = _missing(X, found.a, kept, n_nonzero)
        # Rows leave again, too: without a fall in value there would be no end.
        if not entering.size or not found.value < value * (1 - TOLERANCE):
            return replace(found, weights=start, z=_spread(found.z, kept, len(X)), support=support)
        kept, value = np.unique(np.concatenate([np.flatnonzero(start), support, entering])), found.value


def _missing(X: Standardised, a: Vector, kept: Positions, n_nonzero: int) -> Positions:
    """The dearest of the rows that are dearer than the n_nonzero-th of the kept ones."""
    prices = np.abs(X @ (a / (np.linalg.norm(a) or 1.0)).astype(np.float32))
    inside = np.sort(prices[kept])
    level = inside[-n_nonzero] if inside.size >= n_nonzero else np.float32(0)
    prices[kept] = 0
    dearest = np.argsort(-prices, kind="stable")[:_FEW]
    return dearest[prices[dearest] > _DEARER * level]


def _spread(values: Vector, kept: Positions, size: int) -> Vector:
    whole = np.zeros(size)
    whole[kept] = values
    return whole


Descend = Callable[[Positions], tuple[Positions, float]]


def best_support(
    z: Vector, known: Positions, n_nonzero: int, descend_on: Callable[[Positions], Descend]
) -> tuple[Positions, float]:
    """The better of two descents, from the known support and from the rounded z, among columns that have a share."""
    columns = np.union1d(np.flatnonzero(z > 0), known)
    if not columns.size:
        columns = np.arange(z.size)
    descend = descend_on(columns)
    starts = [np.searchsorted(columns, known), np.searchsorted(columns, round_up(z, n_nonzero))]
    support, objective = min((descend(start) for start in starts), key=lambda found: found[1])
    return columns[support], objective


def advised_gamma(loss: Loss, X: Standardised, found: Restricted, tolerance: float) -> float | None:
    """About the largest gamma at which the relaxation over X is within `tolerance` of a support's objective.

    None where no smaller gamma was seen to be so.
    """
    # At 1/n the method's theory begins: the search must get there from however far.
    low, high = np.log(min(loss.gamma, 1 / X.shape[1]) * _LEAST_SHARE), np.log(loss.gamma)
    seen = False
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        near = loss.at(float(np.exp(middle))).solve(X, found.weights, found.support)
        close = near.objective - near.value <= tolerance * near.objective
        low, high, seen = (middle, high, True) if close else (low, middle, seen)
    return float(np.exp(low)) if seen else None
