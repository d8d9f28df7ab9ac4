"""The logistic relaxation over a working set of columns, and what its dual vector proves once all are priced."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Positions
from backbone_dask.exact.logistic_data import LogisticData
from backbone_dask.exact.logistic_incumbent import improve
from backbone_dask.exact.logistic_outer_approximation import cleaned
from backbone_dask.exact.logistic_perspective import solve_logistic_relaxation
from backbone_dask.exact.restricted import TOLERANCE, Restricted, best_support, narrowed
from backbone_dask.losses.logistic import Margin, dual_vector
from backbone_dask.losses.logistic_dual import best_length, certified
from backbone_dask.losses.squared import Vector
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import Standardised

_EPS = float(np.finfo(np.float64).eps)
_CARE = 1.01


@dataclass(frozen=True, slots=True)
class LogisticLoss:
    """Logistic loss with free rows + 1/(2 gamma) |w|^2 over at most n_nonzero columns of weighted mean square 1."""

    margin: Margin
    n_nonzero: int
    gamma: float

    @classmethod
    def of(cls, margin: Margin, n_nonzero: int, gamma: float) -> LogisticLoss:
        return cls(cleaned(margin), n_nonzero, gamma)

    def at(self, gamma: float) -> LogisticLoss:
        return replace(self, gamma=gamma)

    def solve(self, X: Standardised, start: Vector, support: Positions) -> Restricted:
        with one_blas_thread():
            return narrowed(self._solved, X, start, support, self.n_nonzero)

    def _solved(self, X: Standardised, start: Vector, support: Positions) -> Restricted:
        data = LogisticData.of(X, self.margin, self.gamma)
        face = Face.whole(len(X), self.n_nonzero)
        found = solve_logistic_relaxation(data, face, start=start, tolerance=TOLERANCE)
        a = dual_vector(self.margin, data.predictor(found.weights))
        best, objective = best_support(found.z, support, self.n_nonzero, lambda at: self._descend(data, at))
        return Restricted(found.weights, found.z, found.objective, a, best, objective)

    def _descend(self, data: LogisticData, columns: Positions) -> Callable[[Positions], tuple[Positions, float]]:
        part = replace(data, X=data.X[columns], norms=data.norms[columns])

        def descend(support: Positions) -> tuple[Positions, float]:
            found = improve(part, support, self.n_nonzero, math.inf)
            return found.support, found.objective

        return descend

    def bound(self, a: Vector, heaviest: float) -> float:
        """At the best length t: |X_j'a'| of the vector that is proven of differs from t |X_j'a| by |X_j| |a' - t a|."""
        with one_blas_thread():
            length = best_length(self.margin, a, self.gamma * heaviest)
            proof = certified(self.margin, length * a)
        moved = proof.error + float(np.linalg.norm(proof.a - length * a))
        reach = length * math.sqrt(heaviest) + math.sqrt(self.n_nonzero) * _CARE * self._longest * moved
        return max(proof.value - 0.5 * self.gamma * reach**2 * (1 + 16 * _EPS), 0.0)

    @property
    def _longest(self) -> float:
        """Of a column, on samples that count: no weight is below the least of them."""
        weights = self.margin.weights[self.margin.weights > 0]
        return float(np.sqrt(weights.sum() / weights.min()))
