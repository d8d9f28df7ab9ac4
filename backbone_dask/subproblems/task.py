"""One subproblem of sparse regression with squared loss: its data, and the ridge fits on a few of its columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.losses.squared import Matrix, RidgeFit, Vector, ridge
from backbone_dask.subproblems.products import Positions
from backbone_dask.values import SparseFit, Standardised, Target

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


@dataclass(frozen=True, slots=True)
class Normalised:
    """A task whose y was divided by `scale`; 0 for a y of zeros, which leaves nothing to explain.

    `gamma` is the one asked for: the task's own is within the reach of double precision.
    """

    task: Task
    scale: float
    gamma: float

    def answer(self, choice: Choice) -> SparseFit:
        """The fit in the units of y."""
        return literal_fit(self.task, choice.columns, choice.fit.weights, self.gamma, self.scale)


def literal_fit(task: Task, columns: Positions, weights: Vector, gamma: float, scale: float) -> SparseFit:
    """In the units of y, with the objective at these weights from the samples: y'y/2 - b'w/2 would cancel."""
    # A gamma below reach makes weights that are proportional to it.
    weights = weights * min(gamma / task.gamma, 1.0)
    residual = task.y - weights @ task.rows(columns)
    objective = 0.5 * float(residual @ residual) + float(weights @ weights) / (2 * gamma)
    kept = weights * scale != 0
    return SparseFit(task.X.shape[0], columns[kept], weights[kept] * scale, objective * scale * scale)


def normalised(X: Standardised, y: Target, n_nonzero: int, gamma: float | None) -> Normalised:
    """The task of X (m, n) and y (n,), checked; gamma is 1/sqrt(n) if None."""
    _check(X, y, n_nonzero, gamma)
    scaled, scale = unit(np.asarray(y, np.float64))
    literal = 1 / math.sqrt(max(y.size, 1)) if gamma is None else gamma
    task = Task(np.ascontiguousarray(X, np.float32), scaled, n_nonzero, _usable(literal, n_nonzero, y.size))
    return Normalised(task, scale, literal)


def _check(X: Standardised, y: Target, n_nonzero: int, gamma: float | None) -> None:
    if X.ndim != 2 or y.shape != (X.shape[1],):
        raise InvalidDataError(f"X of shape {X.shape} (features, samples) does not fit y of shape {y.shape}")
    if not np.isfinite(y).all():
        raise InvalidDataError("y holds values that are not finite; drop those samples first")
    if n_nonzero < 1:
        raise InvalidSettingError(f"n_nonzero must be at least 1, not {n_nonzero}")
    if gamma is not None and not 0 < gamma < math.inf:
        raise InvalidSettingError(f"gamma must be positive and finite, not {gamma}")


def unit(y: Vector) -> tuple[Vector, float]:
    """z and scale with y = scale * z and z'z = n; zeros and 0 for a y of zeros."""
    # The largest value goes first, so that squares neither overflow nor vanish.
    size = float(np.abs(y).max(initial=0.0))
    if size == 0:
        return np.zeros_like(y), 0.0
    z = y / size
    spread = float(np.sqrt(z @ z / z.size))
    return z / spread, spread * size


def _usable(gamma: float, n_nonzero: int, n_samples: int) -> float:
    # G_SS has eigenvalues up to k n: a smaller 1/gamma would vanish in their rounding, and with it the factorisation
    # of columns that depend on each other. At the other end, squares of weights must not underflow.
    return min(max(gamma, 1e-100), 1e11 / (n_nonzero * max(n_samples, 1)))
