"""One subproblem of sparse regression with squared loss: its data, and the ridge fits on a few of its columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.losses.squared import Matrix, RidgeFit, Vector, ridge
from backbone_dask.subproblems.products import Positions
from backbone_dask.values import Standardised

NEGLIGIBLE = 1e-12
"""Differences below this share of what a model explains are rounding."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A support (q,) with its ridge fit; `explained` is y'y/2 - c(S), to full precision at every gamma."""

    columns: Positions
    fit: RidgeFit
    explained: float

    def beats(self, other: Choice) -> bool:
        """Whether c(S) is lower than the other's by more than rounding."""
        return self.explained > other.explained * (1 + NEGLIGIBLE)


@dataclass(frozen=True, slots=True)
class Pool:
    """A few columns in double precision, rows (q, n), with their products: what a ridge fit on some of them needs."""

    columns: Positions
    rows: Matrix
    gram: Matrix
    b: Vector


@dataclass(frozen=True, slots=True)
class Task:
    """min over |S| <= n_nonzero of c(S), for y (n,) with y'y = n, and X (m, n)."""

    X: Standardised
    y: Vector
    n_nonzero: int
    gamma: float

    @property
    def yy(self) -> float:
        return float(self.y @ self.y)

    def rows(self, columns: Positions) -> Matrix:
        """The given columns in double precision, shape (q, n)."""
        return self.X[columns].astype(np.float64)

    def pool(self, columns: Positions) -> Pool:
        """The given columns with their products."""
        rows = self.rows(columns)
        return Pool(columns, rows, rows @ rows.T, rows @ self.y)

    def choose(self, pool: Pool, members: Positions) -> Choice:
        """The ridge fit on the columns at positions `members` of the pool."""
        members = members[np.argsort(pool.columns[members])]
        if members.size == 0:
            return self.nothing()
        b = pool.b[members]
        fit = ridge(pool.gram[np.ix_(members, members)], b, self.yy, self.gamma)
        return Choice(pool.columns[members], fit, 0.5 * float(b @ fit.weights))

    def nothing(self) -> Choice:
        """The empty support."""
        return Choice(np.empty(0, np.int64), RidgeFit(np.empty(0), 0.5 * self.yy, np.empty(0)), 0.0)

    def residual(self, choice: Choice) -> Vector:
        """y - X_S w: the dual vector of a support."""
        return self.y - choice.fit.weights @ self.rows(choice.columns)
