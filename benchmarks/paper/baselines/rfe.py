"""RFE: the columns with the least coefficients (or importances) leave, a hundred at a time, down to a hundred."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lstsq
from sklearn.feature_selection import RFE
from sklearn.tree import DecisionTreeClassifier

STEP = 100
KEEP = 100
"""The paper does not say how many are left; this is one step."""
BROAD = 1.2
"""Columns for each sample from which on XX' is far from singular."""
SINGULAR = 1e-10
Matrix = NDArray[np.float64]
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]


def eliminate_by_regression(X: NDArray[Any], y: NDArray[np.float64], keep: int = KEEP, step: int = STEP) -> Ids:
    """Ids that scikit-learn's RFE with a LinearRegression leaves of standardised columns.

    While there are more columns than samples, the least-squares coefficients of least norm are X'(XX')^-1 y, and
    XX' loses only the columns that leave: a step costs O(n^2 step + n^3 + n p) instead of O(n^2 p).
    """
    rows, response = _standardised(X), y - y.mean()
    left, products = np.arange(len(rows)), _products(rows)
    while left.size > keep:
        alive, products = _halved(rows, products, response, keep, step)
        rows, left = rows[alive], left[alive]
    return left


def _halved(rows: Matrix, products: Matrix, response: Matrix, keep: int, step: int) -> tuple[Mask, Matrix]:
    """Marks the rows that stay until about half have left, and their products; a copy at every step would cost more."""
    alive = np.ones(len(rows), np.bool_)
    while (size := int(alive.sum())) > max(len(rows) // 2, keep):
        weights = np.full(len(rows), np.inf)
        weights[alive] = _coefficients(rows, alive, products, response) ** 2
        leaving = np.argsort(weights, kind="stable")[: min(step, size - keep)]
        products = products - _products(rows[leaving])
        alive[leaving] = False
    return alive, products


def eliminate_by_trees(X: NDArray[Any], y: NDArray[Any], seed: int, keep: int = KEEP) -> Ids:
    """Ids that scikit-learn's RFE with a CART leaves."""
    chosen = RFE(DecisionTreeClassifier(random_state=seed), n_features_to_select=keep, step=STEP).fit(X, y)
    return np.flatnonzero(chosen.support_)


def _standardised(X: NDArray[Any]) -> Matrix:
    """Columns as rows (p, n), centred and of length sqrt(n); constant ones are zeros."""
    rows = X.T.astype(np.float64)
    rows -= rows.mean(axis=1, keepdims=True)
    spread = rows.std(axis=1, keepdims=True)
    return np.divide(rows, spread, out=rows, where=spread > 0)


def _products(rows: Matrix) -> Matrix:
    return np.asarray(rows.T @ rows)


def _coefficients(rows: Matrix, alive: Mask, products: Matrix, response: Matrix) -> Matrix:
    """Least squares, of least norm where there is a choice; rows are centred, so the ones are free to be added."""
    n, size = response.size, int(alive.sum())
    if size >= BROAD * n:
        dual = cho_solve(cho_factor(products + size / n), response)
        return np.asarray((rows @ dual)[alive])
    return np.asarray(lstsq(rows[alive].T, response, cond=SINGULAR, lapack_driver="gelsy")[0])
