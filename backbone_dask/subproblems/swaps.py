"""The best of all swaps of one feature for another, by the formulas of a ridge fit that loses and gains a column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.subproblems.products import Positions
from backbone_dask.subproblems.task import Choice, Task
from backbone_dask.values import Standardised

ROWS_AT_A_TIME = 1024


@dataclass(frozen=True, slots=True)
class Neighbours:
    """X_j'X_i for every column j of X and every i of a support: `products` has shape (m, q)."""

    columns: Positions
    products: NDArray[np.float32]

    @classmethod
    def none(cls, X: Standardised) -> Neighbours:
        """For the empty support."""
        return cls(np.empty(0, np.int64), np.empty((X.shape[0], 0), np.float32))

    def of(self, X: Standardised, columns: Positions) -> Neighbours:
        """The same for another support; only columns that are new cost a product."""
        products = np.empty((X.shape[0], columns.size), np.float32)
        known = np.isin(columns, self.columns)
        products[:, known] = self.products[:, np.searchsorted(self.columns, columns[known])]
        products[:, ~known] = X @ X[columns[~known]].T
        return Neighbours(columns, products)


def best_partners(task: Task, choice: Choice, neighbours: Neighbours, scores: Vector) -> tuple[Positions, Vector]:
    """For every column, the place in the support that it takes best, and by how much c(S) then falls; shapes (m,).

    `scores` holds X_j'r, shape (m,). The fall is 0 for the members of the support themselves.
    """
    places, falls = np.zeros(scores.size, np.int64), np.zeros(scores.size)
    if choice.columns.size == 0:
        return places, falls
    inverse = _inverse(task, choice)
    for start in range(0, scores.size, ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        table = _falls(task, choice, inverse, neighbours.products[rows].astype(np.float64), scores[rows])
        places[rows], falls[rows] = table.argmax(axis=1), table.max(axis=1)
    falls[choice.columns] = 0
    return places, falls


def _inverse(task: Task, choice: Choice) -> Matrix:
    gram = task.pool(choice.columns).gram
    identity = np.eye(gram.shape[0])
    return np.asarray(cho_solve(cho_factor(gram + identity / task.gamma), identity))


def _falls(task: Task, choice: Choice, inverse: Matrix, products: Matrix, scores: Vector) -> Matrix:
    """Fall of c(S) if column j replaces member i, shape (rows, q).

    With A the inverse of G_SS + I/gamma, u = A X_S'X_j and s = X_j'X_j + 1/gamma - u'X_S'X_j: once i has left, the
    residual's product with X_j is X_j'r + u_i w_i / A_ii, and s has grown by u_i^2 / A_ii.
    """
    u = products @ inverse
    diagonal = np.diagonal(inverse)
    # A column that lies in the span of the support has s = 1/gamma; rounding must not take it below.
    s = np.maximum(task.y.size - np.einsum("ji,ji->j", u, products), 0) + 1 / task.gamma
    residual = scores[:, None] + u * (choice.fit.weights / diagonal)
    return np.asarray(residual**2 / (2 * (s[:, None] + u**2 / diagonal)) - choice.fit.removal_cost)
