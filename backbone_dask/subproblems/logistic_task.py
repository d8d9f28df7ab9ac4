"""One subproblem of sparse classification with logistic loss: its data, and the ridge fits on a few of its columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from backbone_dask.errors import InvalidDataError
from backbone_dask.losses.logistic import LogisticFit, Margin, curvature, fit
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.subproblems.products import Positions, correlate
from backbone_dask.values import Standardised

NEGLIGIBLE = 1e-10
"""Differences below this share of the objective are rounding, or what a fit has left to go."""


FAINT = 1e-10
"""Relative ridge that keeps a model definite whose columns depend on each other."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A support (q,), sorted, with its fit."""

    columns: Positions
    fit: LogisticFit

    def beats(self, other: Choice) -> bool:
        """Whether c(S) is lower than the other's by more than rounding."""
        return self.fit.objective < other.fit.objective * (1 - NEGLIGIBLE)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Columns (sorted) with the weights and the free part that a quadratic model gives them, and how far it falls."""

    columns: Positions
    weights: Vector
    free: Vector
    fall: float


@dataclass(frozen=True, slots=True)
class Pool:
    """The quadratic model of the objective at a fit, in the weights of some columns (q,) and then the free part.

    `hessian` has the ridge in it; `b` is the right-hand side whose solution is the model's minimum. `explained` is what
    the fit itself explains of the model.
    """

    columns: Positions
    hessian: Matrix
    b: Vector
    explained: float

    def proposal(self, members: Positions) -> Proposal:
        """The model's minimum on the columns at positions `members`."""
        members = members[np.argsort(self.columns[members])]
        used = np.concatenate([members, np.arange(self.columns.size, self.b.size)])
        point = cho_solve(cho_factor(self.hessian[np.ix_(used, used)]), self.b[used])
        fall = 0.5 * float(self.b[used] @ point) - self.explained
        return Proposal(self.columns[members], point[: members.size], point[members.size :], fall)


@dataclass(frozen=True, slots=True)
class Task:
    """min over |S| <= n_nonzero of c(S), for the margin of n samples and X (m, n)."""

    X: Standardised
    margin: Margin
    n_nonzero: int
    gamma: float

    def rows(self, columns: Positions) -> Matrix:
        """The given columns in double precision, shape (q, n)."""
        return self.X[columns].astype(np.float64)

    def scores(self, a: Vector) -> Vector:
        """X_j'a for every column, in one pass over X."""
        found = correlate(self.X, a)
        if not np.isfinite(found).all():
            raise InvalidDataError(
                "X holds values that are not finite, or is not standardised; standardise its columns first"
            )
        return found

    def choose(self, columns: Positions, near: Choice) -> Choice:
        """The fit on the given columns (sorted), starting from the weights that `near` gives them."""
        weights = np.zeros(columns.size)
        known = np.isin(columns, near.columns)
        weights[known] = near.fit.weights[np.searchsorted(near.columns, columns[known])]
        return self.choose_from(columns, weights, near.fit.free)

    def choose_from(self, columns: Positions, weights: Vector, free: Vector) -> Choice:
        """The fit on the given columns (sorted), starting from weights (q,) and a free part."""
        return Choice(columns, fit(self.margin, self.rows(columns), self.gamma, (weights, free)))

    def pool(self, choice: Choice, entering: Positions) -> Pool:
        """The quadratic model at a fit, for its own columns and those that may enter."""
        columns = np.concatenate([choice.columns, entering])
        design = np.concatenate([self.rows(columns), self.margin.basis])
        h = curvature(self.margin, choice.fit.predictor)
        hessian = self.hessian(design, h)
        b = design @ (h * choice.fit.predictor + choice.fit.dual)
        point = np.concatenate([choice.fit.weights, np.zeros(entering.size), choice.fit.free])
        return Pool(columns, hessian, b, float(b @ point - 0.5 * point @ (hessian @ point)))

    def hessian(self, design: Matrix, h: Vector) -> Matrix:
        """Of the objective at the curvature h, for rows of features that the rows of the basis follow."""
        scaled = design * np.sqrt(h)
        hessian = np.asarray(scaled @ scaled.T)
        ridge = np.full(len(design), 1 / self.gamma)
        ridge[len(design) - len(self.margin.basis) :] = np.finfo(np.float64).tiny
        hessian[np.diag_indices_from(hessian)] += ridge + FAINT * np.diagonal(hessian)
        return hessian

    def nothing(self) -> Choice:
        """The empty support."""
        return self.choose_from(np.empty(0, np.int64), np.empty(0), np.zeros(len(self.margin.basis)))
