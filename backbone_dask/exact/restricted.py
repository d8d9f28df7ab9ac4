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
