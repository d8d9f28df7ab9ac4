"""The data of a squared-loss problem as products that do not grow with n."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh

from backbone_dask.losses.squared import Matrix, RidgeFit, Vector, ridge
from backbone_dask.values import Standardised, Target

Positions = NDArray[np.int64]
_MANY, _NEAR = 300, 1e-3
"""From so many columns on a few products take less time than all eigenvalues, and come so near."""


@dataclass(frozen=True)
class Gram:
    """G = X X', b = X y and yy = y'y in float64, for X of shape (features, samples)."""

    G: Matrix
    b: Vector
    yy: float
    n_samples: int
    known_eigenvalue: float | None = None

    @classmethod
    def of(cls, X: Standardised, y: Target) -> Gram:
        wide = X.astype(np.float64)
        G = wide @ wide.T
        return cls(G, wide @ y, float(y @ y), y.size)

    @cached_property
    def eigenvalue(self) -> float:
        """The largest of G; not every solver needs it."""
        if self.known_eigenvalue is not None:
            return self.known_eigenvalue
        return largest_eigenvalue(self.G)

    @property
    def n_features(self) -> int:
        return self.b.size

    @property
    def norms(self) -> Vector:
        """|X_j| of every feature."""
        return np.sqrt(np.diagonal(self.G))

    @property
    def rounding(self) -> float:
        """Relative error of an inner product of vectors of length n that went through G and b: (n + p + 8) u."""
        return (self.n_samples + self.n_features + 8) * float(np.finfo(np.float64).eps)

    def fit(self, support: Positions, gamma: float) -> RidgeFit:
        """The ridge fit on a support."""
        return ridge(self.G[np.ix_(support, support)], self.b[support], self.yy, gamma)

    def correlations(self, support: Positions, weights: Vector) -> Vector:
        """X_j'r of every feature with the residual r of a fit."""
        return np.asarray(self.b - self.G[:, support] @ weights)


def largest_eigenvalue(G: Matrix) -> float:
    """Of a positive semidefinite matrix; of a large one a little more than that."""
    if len(G) < _MANY or not G.any():
        return float(np.linalg.eigvalsh(G)[-1]) if len(G) else 0.0
    start = np.random.default_rng(0).standard_normal(len(G))
    (found,) = eigsh(G, 1, v0=start, tol=_NEAR, return_eigenvectors=False)
    return float(found) * (1 + _NEAR)
