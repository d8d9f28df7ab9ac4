"""The data of a logistic problem, fits on its supports, and the cuts that dual vectors give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.exact import incumbent as squared
from backbone_dask.exact.cuts import Cut
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram, Positions
from backbone_dask.exact.perspective import Relaxation, solve_relaxation
from backbone_dask.losses.logistic import LogisticFit, Margin, fit, free_part
from backbone_dask.losses.logistic_dual import Feasible, certified, dual_value, feasible
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.values import Standardised

_EPS = float(np.finfo(np.float64).eps)
_TIGHT = 1 - 1e-6
"""A proof below this share of what it could be is worth another fit of the free part."""


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A support (sorted) with its fit, and the columns (sorted) that the fit gives weights."""

    support: Positions
    columns: Positions
    fit: LogisticFit

    @property
    def objective(self) -> float:
        return self.fit.objective

    def spread(self, n_columns: int) -> Vector:
        """The weights as a vector over all columns."""
        full = np.zeros(n_columns)
        full[self.columns] = self.fit.weights
        return full


@dataclass(frozen=True, slots=True)
class LogisticData:
    """X (columns, samples) in float64, the margin of its samples, the ridge weight, and |X_j| of every column.

    What a support chooses among are features: here the columns themselves. A problem whose features are something else
    overrides what depends on it, from `n_features` to `neighbours`.
    """

    X: Matrix
    margin: Margin
    gamma: float
    norms: Vector

    @classmethod
    def of(cls, X: Standardised, margin: Margin, gamma: float) -> LogisticData:
        wide = X.astype(np.float64)
        return cls(wide, margin, gamma, np.sqrt(np.einsum("ji,ji->j", wide, wide)))

    @property
    def n_features(self) -> int:
        return len(self.X)

    def columns_of(self, features: Positions) -> Positions:
        """All columns of some features, sorted."""
        return features

    def features_of(self, columns: Positions) -> Positions:
        """The features that have one of these columns, sorted."""
        return columns

    def of_columns(self, values: Vector) -> Vector:
        """For every column the value of its feature."""
        return values

    def lengths(self, weights: Vector) -> Vector:
        """|w| of every feature, for weights of all columns."""
        return np.abs(weights)

    def slopes(self, scores: Vector, error: Vector) -> Vector:
        """The largest (X_j'a)^2 of every feature, given X @ a and a bound for the error of each."""
        return np.asarray((np.abs(scores) + error) ** 2)

    def fit(self, columns: Positions, start: tuple[Vector, Vector]) -> LogisticFit:
        """The fit on some columns, from weights and a free part."""
        return fit(self.margin, self.X[columns], self.gamma, start)

    def costs(self, found: Incumbent) -> Vector:
        """What the loss of each feature of a support costs."""
        return found.fit.removal_cost

    def relax(self, gram: Gram, face: Face, start: Vector, tolerance: float, deadline: float) -> Relaxation:
        """The relaxation of a quadratic model of the loss."""
        return solve_relaxation(gram, face, self.gamma, start=start, tolerance=tolerance, deadline=deadline)

    def descend(self, gram: Gram, found: Incumbent, n_nonzero: int) -> Positions:
        """The support that the quadratic model thinks best."""
        return squared.improve(gram, found.support, n_nonzero, self.gamma).support

    def neighbours(self, gram: Gram, found: Incumbent, n_nonzero: int, count: int) -> list[Positions]:
        """The supports one swap away that cost least by the quadratic model, best first."""
        if found.support.size in (0, self.n_features):
            return []
        model = squared.Incumbent(found.support, found.fit.weights, found.objective)
        return squared.swap_neighbours(gram, model, self.gamma, count)

    def scores(self, a: Vector) -> Vector:
        """What a dual vector wants of every feature."""
        return self.slopes(self.X @ a, np.zeros(len(self.X)))

    def predictor(self, weights: Vector) -> Vector:
        """u (n,) of weights of all columns with the best free part."""
        offset = weights @ self.X
        return np.asarray(offset + free_part(self.margin, offset) @ self.margin.basis)

    def evaluate(self, support: Positions, near: Incumbent | None = None) -> Incumbent:
        """The fit on a support, from the weights that `near` gives its columns; without features of no weight."""
        start, free = np.zeros(len(self.X)), np.zeros(len(self.margin.basis))
        if near is not None:
            start, free = near.spread(len(self.X)), near.fit.free
        columns = self.columns_of(support)
        found = self.fit(columns, (start[columns], free))
        used = found.weights != 0
        return Incumbent(self.features_of(columns[used]), columns[used], found.only(used))

    def cut(self, proof: Feasible) -> Cut:
        """The cut of a dual vector: value - gamma/2 sum_j z_j (X_j'a)^2.

        |X_j'a| is moved up by all that separates it from |X_j'a'| of the vector that the proof is about.
        """
        n = self.margin.y.size
        error = proof.error + (n + 16) * _EPS * float(np.linalg.norm(proof.a))
        reach = self.slopes(self.X @ proof.a, self.norms * error * (1 + 4 * n * _EPS))
        return Cut(proof.value, 0.5 * self.gamma * reach * (1 + 8 * _EPS))

    def cut_at(self, found: Incumbent) -> Cut:
        """The cut that is tight at a support."""
        margin, a = self.margin, found.fit.dual
        proof = certified(margin, a)
        if proof.value < _TIGHT * dual_value(margin, a):
            proof = max(proof, feasible(margin, a), key=lambda proof: proof.value)
        return self.cut(proof)
