"""Squared loss on groups of features: the fit on some columns, and what the loss of a group would cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from backbone_dask.losses.nonnegative import nonnegative_weights
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.structure import Structure

_FARTHEST = 1e-11
"""A ridge below this share of the trace would vanish in the rounding of columns that depend on each other."""


def ridge_of(gram: Matrix, gamma: float) -> float:
    """1/gamma, or the least ridge with which the columns of this Gram matrix (q, q) can be factorised."""
    return max(1 / gamma, _FARTHEST * float(np.trace(gram)))


def fit_weights(gram: Matrix, b: Vector, gamma: float, structure: Structure) -> Vector:
    """The weights of least objective, given the products of some columns (q, q) and theirs with y (q,)."""
    if b.size == 0:
        return np.empty(0)
    system = gram + np.eye(b.size) * ridge_of(gram, gamma)
    if structure.nonnegative:
        return nonnegative_weights(system, b)
    return np.asarray(cho_solve(cho_factor(system), b))


@dataclass(frozen=True, slots=True)
class GroupRole:
    """What one group does in a fit: the places (s,) of its columns, and how the rest answers when it leaves.

    With A the inverse of G + I/gamma on the columns of the fit and o the group's places: `spread` (s, s) is R in
    R R' = A_oo^-1, `pull` is A_oo^-1 w_o (s,), and `cost` is w_o' A_oo^-1 w_o / 2, by which c rises.
    """

    places: NDArray[np.int64]
    spread: Matrix
    pull: Vector
    cost: float


@dataclass(frozen=True, slots=True)
class ActiveFit:
    """The columns (q,) that a fit gives weights (q,), A (d, d), and the role of every group among them, by group.

    Without signs to keep, costs are exact. With them, they are those of a fit that lets the other weights take any
    sign and enters no further column: an estimate.
    """

    weights: Vector
    inverse: Matrix
    roles: tuple[GroupRole, ...]

    @classmethod
    def of(cls, gram: Matrix, weights: Vector, gamma: float, groups: NDArray[np.int64]) -> ActiveFit:
        """From the products (q, q) of the columns, and the group of each (q,)."""
        return cls.of_system(gram + np.eye(weights.size) * ridge_of(gram, gamma), weights, groups)

    @classmethod
    def of_system(cls, system: Matrix, weights: Vector, groups: NDArray[np.int64]) -> ActiveFit:
        """From what A is the inverse of (d, d), d >= q: what follows the columns is in every fit."""
        inverse = np.linalg.inv(system)
        inverse = (inverse + inverse.T) / 2
        roles = [_role(inverse, weights, np.flatnonzero(groups == group)) for group in np.unique(groups)]
        return cls(weights, inverse, tuple(roles))

    @property
    def costs(self) -> Vector:
        return np.array([role.cost for role in self.roles])


def _role(inverse: Matrix, weights: Vector, places: NDArray[np.int64]) -> GroupRole:
    # A factor of A_oo gives one of its inverse that survives columns which all but depend on each other.
    spread = solve_triangular(cholesky(inverse[np.ix_(places, places)], lower=True), np.eye(places.size), lower=True).T
    pull = spread @ (spread.T @ weights[places])
    return GroupRole(places, np.asarray(spread), np.asarray(pull), 0.5 * float(weights[places] @ pull))
