"""Elastic nets for one mixture and falling lambda."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.subproblems.products import Positions

UNBOUNDED = 9.9e35
"""glmnet's infinity; also the first lambda of a path that it finds itself."""


@dataclass(frozen=True, slots=True)
class Path:
    """Models from the largest lambda to the least: weights (q, models) of the rows (q,) of X that enter at all.

    `offsets` (1 + r, models) belong to the intercept and to the other rows of a basis.
    """

    penalties: Vector
    features: Positions
    weights: Matrix
    offsets: Matrix

    def over(self, scale: Vector) -> Path:
        """The same models as weights of rows that are `scale` (m,) times as long."""
        return replace(self, weights=self.weights / scale[self.features, None])

    def until(self, n_nonzero: int) -> Path:
        """The models up to the first with that many features: glmnet stops no earlier than with the fifth."""
        enough = np.flatnonzero(np.count_nonzero(self.weights, axis=0) >= n_nonzero)
        kept = slice(int(enough[0]) + 1 if enough.size else None)
        return Path(self.penalties[kept], self.features, self.weights[:, kept], self.offsets[:, kept])


def empty_path(free: int) -> Path:
    """The empty model alone, for a basis of `free` rows besides the intercept."""
    return Path(np.array([UNBOUNDED]), np.empty(0, np.int64), np.empty((0, 1)), np.zeros((1 + free, 1)))
