"""The best of all swaps of one feature for another, by the quadratic model of the loss at a fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from backbone_dask.losses.logistic import curvature, model_hessian
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.subproblems.logistic_task import Choice, Task
from backbone_dask.subproblems.products import Positions
from backbone_dask.values import Standardised

ROWS_AT_A_TIME = 1024
FARTHEST = 0.2
"""Relative change of the curvature from which on a metric is made anew: it only proposes, the true c(S) decides."""


@dataclass(frozen=True, slots=True)
class Curved:
    """Products in the metric of one curvature h (n,), which may be that of an earlier fit.

    `squares` holds X_j'H X_j, shape (m,); `products` X_j'H X_i for the `columns` i, shape (m, q); `free` the same with
    the rows of the basis.
    """

    h: Vector
    squares: Vector
    free: NDArray[np.float32]
    columns: Positions
    products: NDArray[np.float32]

    @classmethod
    def at(cls, task: Task, choice: Choice) -> Curved:
        """The metric of a fit, without products yet."""
        h = curvature(task.margin, choice.fit.predictor)
        free = task.X @ (task.margin.basis * h).astype(np.float32).T
        none = np.empty((task.X.shape[0], 0), np.float32)
        return cls(h, weighted_squares(task.X, h), free, np.empty(0, np.int64), none)

    def of(self, X: Standardised, columns: Positions) -> Curved:
        """The same metric for another support; only columns that are new cost a product."""
        products = np.empty((X.shape[0], columns.size), np.float32)
        known = np.isin(columns, self.columns)
        products[:, known] = self.products[:, np.searchsorted(self.columns, columns[known])]
        products[:, ~known] = X @ (X[columns[~known]] * self.h.astype(np.float32)).T
        return replace(self, columns=columns, products=products)

    def is_near(self, task: Task, choice: Choice) -> bool:
        """Whether the fit's own metric would say much the same."""
        h = curvature(task.margin, choice.fit.predictor)
        return bool(np.abs(h - self.h).sum() <= FARTHEST * h.sum())

    def best_partners(self, task: Task, choice: Choice, scores: Vector) -> tuple[Positions, Vector]:
        """For every feature, the place in the support that it takes best, and by how much the model then falls.

        `scores` holds X_j'a, shape (m,). The fall is 0 for the members of the support themselves.
        """
        places, falls = np.zeros(scores.size, np.int64), np.zeros(scores.size)
        if choice.columns.size == 0:
            return places, falls
        inverse = _inverse(task, choice, self.h)
        for start in range(0, scores.size, ROWS_AT_A_TIME):
            rows = slice(start, start + ROWS_AT_A_TIME)
            table = _falls(task, choice, inverse, self.with_free(rows), self.squares[rows], scores[rows])
            places[rows], falls[rows] = table.argmax(axis=1), table.max(axis=1)
        falls[choice.columns] = 0
        return places, falls

    def with_free(self, rows: slice) -> Matrix:
        """Products of some rows of X with the columns and then with the basis, in double precision."""
        return np.concatenate([self.products[rows], self.free[rows]], axis=1).astype(np.float64)


MetricAt: TypeAlias = Callable[[Choice], Curved]
"""The metric of a fit."""


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _weighted_squares(X: NDArray[np.float32], h: NDArray[np.float32], out: Vector) -> None:
    for j in range(X.shape[0]):
        total = np.float32(0)
        for i in range(X.shape[1]):
            total += X[j, i] * X[j, i] * h[i]
        out[j] = total


def weighted_squares(X: Standardised, h: Vector) -> Vector:
    """sum_i h_i X_ji^2 for every row of X, shapes (m, n) and (n,) to (m,): one pass over memory."""
    out = np.empty(X.shape[0])
    _weighted_squares(X, h.astype(np.float32), out)
    return out


def _inverse(task: Task, choice: Choice, h: Vector) -> Matrix:
    """Of the Hessian in the weights of the support and, after them, the free part."""
    hessian = model_hessian(task.margin, task.rows(choice.columns), h, task.gamma)
    return np.asarray(cho_solve(cho_factor(hessian), np.eye(len(hessian))))


def _falls(task: Task, choice: Choice, inverse: Matrix, products: Matrix, squares: Vector, scores: Vector) -> Matrix:
    """Fall of the model if column j replaces member i, shape (rows, q).

    With A the inverse Hessian, u = A D'H X_j over support and basis, and s = X_j'H X_j + 1/gamma - u'D'H X_j: once i
    has left, the product of a with X_j is X_j'a + u_i w_i / A_ii, and s has grown by u_i^2 / A_ii.
    """
    u = products @ inverse
    s = np.maximum(squares - np.einsum("ji,ji->j", u, products), 0) + 1 / task.gamma
    members = slice(0, choice.columns.size)
    diagonal = np.diagonal(inverse)[members]
    u = u[:, members]
    left = scores[:, None] + u * (choice.fit.weights / diagonal)
    removal = choice.fit.weights**2 / (2 * diagonal)
    return np.asarray(left**2 / (2 * (s[:, None] + u**2 / diagonal)) - removal)
