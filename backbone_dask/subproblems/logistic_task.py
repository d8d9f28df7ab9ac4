"""One subproblem of sparse classification with logistic loss: its data, and the ridge fits on a few of its columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from backbone_dask.errors import InvalidDataError
from backbone_dask.losses.logistic import LogisticFit, Margin, curvature, fit, model_hessian
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.subproblems.products import Positions, correlate
from backbone_dask.values import Standardised

NEGLIGIBLE = 1e-10
"""Differences below this share of the objective are rounding, or what a fit has left to go."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A support with its fit: the features (sorted) that were chosen, and their columns (q,), sorted."""

    features: Positions
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
    """The quadratic model of the objective at a fit, in the weights of some columns (q,), sorted, and the free part.

    `hessian` has the ridge in it; `b` is the right-hand side whose solution is the model's minimum. `explained` is what
    the fit itself explains of the model.
    """

    columns: Positions
    hessian: Matrix
    b: Vector
    explained: float


@dataclass(frozen=True, slots=True)
class Task:
    """min over |S| <= n_nonzero of c(S), for the margin of n samples and X (m, n).

    What a support chooses among are features: here the columns themselves. A task whose features are something else
    overrides what depends on it, from `columns_of` to `minimum`.
    """

    X: Standardised
    margin: Margin
    n_nonzero: int
    gamma: float

    def columns_of(self, features: Positions) -> Positions:
        """All columns of some features, sorted."""
        return np.sort(features)

    def features_of(self, columns: Positions) -> Positions:
        """The features that have one of these columns, sorted."""
        return columns

    def usable(self, scores: Vector) -> Vector:
        """The part of X_j'a that a weight can use."""
        return scores

    def totals(self, scores: Vector) -> Vector:
        """The sum of squares of every feature, for usable scores of all columns."""
        return np.asarray(scores**2)

    def costs(self, choice: Choice) -> Vector:
        """To second order what the loss of each feature of a choice costs."""
        return choice.fit.removal_cost

    def choose_from(self, columns: Positions, weights: Vector, free: Vector) -> Choice:
        """The fit on the given columns (sorted), starting from weights (q,) and a free part."""
        return Choice(columns, columns, fit(self.margin, self.rows(columns), self.gamma, (weights, free)))

    def minimum(self, hessian: Matrix, b: Vector, n_weights: int) -> Vector:
        """Of a quadratic model in `n_weights` weights and the free part."""
        return np.asarray(cho_solve(cho_factor(hessian), b))

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

    def choose(self, features: Positions, near: Choice) -> Choice:
        """The fit on the given features, starting from the weights that `near` gives their columns."""
        columns = self.columns_of(features)
        return self.choose_from(columns, _spread(near, columns), near.fit.free)

    def pool(self, choice: Choice, entering: Positions) -> Pool:
        """The quadratic model at a fit, for its own features and those that may enter."""
        columns = self.columns_of(np.concatenate([choice.features, entering]))
        rows, h = self.rows(columns), curvature(self.margin, choice.fit.predictor)
        hessian = model_hessian(self.margin, rows, h, self.gamma)
        b = np.concatenate([rows, self.margin.basis]) @ (h * choice.fit.predictor + choice.fit.dual)
        point = np.concatenate([_spread(choice, columns), choice.fit.free])
        return Pool(columns, hessian, b, float(b @ point - 0.5 * point @ (hessian @ point)))

    def proposal(self, pool: Pool, features: Positions) -> Proposal:
        """The model's minimum on some of the features of a pool."""
        columns = self.columns_of(features)
        free = np.arange(pool.columns.size, pool.b.size)
        used = np.concatenate([np.searchsorted(pool.columns, columns), free])
        b = pool.b[used]
        point = self.minimum(pool.hessian[np.ix_(used, used)], b, columns.size)
        fall = 0.5 * float(b @ point) - pool.explained
        return Proposal(columns, point[: columns.size], point[columns.size :], fall)

    def nothing(self) -> Choice:
        """The empty support."""
        return self.choose_from(np.empty(0, np.int64), np.empty(0), np.zeros(len(self.margin.basis)))


def _spread(choice: Choice, columns: Positions) -> Vector:
    """The weights that a choice gives to some columns (sorted)."""
    weights = np.zeros(columns.size)
    known = np.isin(columns, choice.columns)
    weights[known] = choice.fit.weights[np.isin(choice.columns, columns)]
    return weights
