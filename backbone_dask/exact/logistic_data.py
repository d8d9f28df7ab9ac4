"""The data of a logistic problem, fits on its supports, and the cuts that dual vectors give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.exact.cuts import Cut
from backbone_dask.exact.gram import Positions
from backbone_dask.losses.logistic import LogisticFit, Margin, fit, free_part
from backbone_dask.losses.logistic_dual import Feasible, certified, feasible
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.values import Standardised

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A support (sorted) with its fit."""

    support: Positions
    fit: LogisticFit

    @property
    def objective(self) -> float:
        return self.fit.objective


@dataclass(frozen=True, slots=True)
class LogisticData:
    """X (features, samples) in float64, the margin of its samples, the ridge weight, and |X_j| of every feature."""

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

    def predictor(self, weights: Vector) -> Vector:
        """u (n,) of weights (p,) with the best free part."""
        offset = weights @ self.X
        return np.asarray(offset + free_part(self.margin, offset) @ self.margin.basis)

    def evaluate(self, support: Positions, near: Incumbent | None = None) -> Incumbent:
        """The fit on a support, from the weights that `near` gives its features; without features of no weight."""
        start = np.zeros(self.n_features)
        free = np.zeros(len(self.margin.basis))
        if near is not None:
            start[near.support], free = near.fit.weights, near.fit.free
        found = fit(self.margin, self.X[support], self.gamma, (start[support], free))
        used = found.weights != 0
        if used.all():
            return Incumbent(support, found)
        return self.evaluate(support[used], Incumbent(support, found))

    def cut(self, proof: Feasible, scores: Vector) -> Cut:
        """The cut of a dual vector with scores X @ a (features,): value - gamma/2 sum_j z_j (X_j'a)^2.

        |X_j'a| is moved up by all that separates it from |X_j'a'| of the vector that the proof is about.
        """
        n = self.margin.y.size
        error = proof.error + (n + 16) * _EPS * float(np.linalg.norm(proof.a))
        reach = np.abs(scores) + self.norms * error * (1 + 4 * n * _EPS)
        return Cut(proof.value, 0.5 * self.gamma * reach**2 * (1 + 8 * _EPS))

    def cut_at(self, found: Incumbent) -> Cut:
        """The cut that is tight at a support."""
        proof = certified(self.margin, found.fit.dual)
        if proof.value == 0:
            proof = feasible(self.margin, found.fit.dual)
        return self.cut(proof, self.X @ proof.a)
