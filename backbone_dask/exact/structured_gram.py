"""The data of a structured problem: products of the columns, and which of them enter together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.exact.cuts import Cut, dual_cut
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram, Positions
from backbone_dask.exact.incumbent import Incumbent
from backbone_dask.losses.squared import Vector
from backbone_dask.losses.structured import fit_weights
from backbone_dask.losses.structured_swaps import GroupBlocks
from backbone_dask.structure import Structure
from backbone_dask.values import Mask


@dataclass(frozen=True, slots=True)
class GroupIncumbent(Incumbent):
    """`support` has groups, `weights` those of all columns."""

    def spread(self, n_features: int) -> Vector:
        return self.weights


@dataclass(frozen=True, slots=True)
class GroupedGram:
    """Products of the columns, their structure, and the products within every group."""

    gram: Gram
    structure: Structure
    blocks: GroupBlocks

    @classmethod
    def of(cls, gram: Gram, structure: Structure) -> GroupedGram:
        return cls(gram, structure, GroupBlocks.of_gram(gram.G, structure))

    @property
    def n_features(self) -> int:
        """What there is to choose among: groups."""
        return self.structure.n_groups

    def evaluate(self, groups: Positions, gamma: float) -> GroupIncumbent:
        """The fit on some groups, without those that it gives no weight."""
        columns = self.structure.columns_of(groups)
        G, b = self.gram.G[np.ix_(columns, columns)], self.gram.b[columns]
        weights = fit_weights(G, b, gamma, self.structure)
        # Also right where the fit had to use a larger ridge than 1/gamma.
        objective = 0.5 * self.gram.yy - float(b @ weights) + 0.5 * float(weights @ (G @ weights))
        spread = np.zeros(self.gram.n_features)
        spread[columns] = weights
        support = self.structure.groups_of(columns[weights != 0])
        return GroupIncumbent(support, spread, objective + float(weights @ weights) / (2 * gamma))

    def scores(self, weights: Vector) -> Vector:
        """sum over every group of phi(X_j'r)^2, for the residual r of the weights."""
        return self.structure.sums(self.structure.usable(self.gram.b - self.gram.G @ weights) ** 2)

    def cut(self, weights: Vector, gamma: float, length: float = 1.0) -> Cut:
        """y'a - 1/2 a'a - gamma/2 sum_g z_g sum_{j in g} phi(X_j'a)^2 at a = length * (y - X'w), length >= 0.

        A column whose X_j'a is negative beyond doubt has phi = 0; where rounding leaves a doubt, its slope stays.
        """
        plain = dual_cut(self.gram, weights, gamma, length)
        slopes = np.where(self._useless(weights), 0.0, plain.slopes) if self.structure.nonnegative else plain.slopes
        eps = float(np.finfo(np.float64).eps)
        return Cut(plain.intercept, self.structure.sums(slopes) * (1 + self.gram.n_features * eps))

    def _useless(self, weights: Vector) -> Mask:
        size = np.sqrt(self.gram.yy) + float(np.abs(weights) @ self.gram.norms)
        doubt = self.gram.rounding * size * self.gram.norms
        return np.asarray(self.gram.b - self.gram.G @ weights < -doubt)

    def best_length_cut(self, weights: Vector, gamma: float, face: Face) -> Cut:
        """The cut along the ray of y - X'w whose bound over a face of groups is largest."""
        image, yy = self.gram.G @ weights, self.gram.yy
        explained = float(self.gram.b @ weights)
        curvature = yy - 2 * explained + float(weights @ image) + gamma * face.heaviest(self.scores(weights))
        length = max(yy - explained, 0.0) / curvature if curvature > 0 else 0.0
        return self.cut(weights, gamma, length)
