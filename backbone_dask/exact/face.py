"""A face of the problem: the supports of at most k features that hold some features and avoid others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.exact.gram import Positions
from backbone_dask.losses.squared import Vector
from backbone_dask.values import Mask


@dataclass(frozen=True, slots=True)
class Face:
    """`free` features are undecided, `required` ones are in; at most `room` of the free ones may join them."""

    free: Mask
    required: Mask
    room: int

    @classmethod
    def whole(cls, n_features: int, n_nonzero: int) -> Face:
        return cls(np.ones(n_features, bool), np.zeros(n_features, bool), n_nonzero)

    def fix(self, features: Positions, support: Positions) -> Face:
        """Decide these features as the support has them."""
        free, required = self.free.copy(), self.required.copy()
        free[features] = False
        required[np.intersect1d(features, support)] = True
        return Face(free, required, self.room - int(required.sum()) + int(self.required.sum()))

    def heaviest(self, values: Vector) -> float:
        """The largest sum of values (>= 0) over a support of the face."""
        free = np.sort(values[self.free])
        return float(values[self.required].sum() + free[max(free.size - self.room, 0) :].sum())

    def shares(self, size: Vector, offset: float) -> Vector:
        """The z with the least sum of size_j^2 / (z_j + offset): clip(size_j / t - offset, 0, 1), one t for all."""
        z = self.required.astype(np.float64)
        z[self.free] = _shares(size[self.free], self.room, offset)
        return z


def _shares(size: Vector, room: int, offset: float) -> Vector:
    """They sum to `room`, unless fewer sizes are positive."""
    positive = size[size > 0]
    if positive.size <= room:
        return (size > 0).astype(np.float64)
    if room == 0:
        return np.zeros_like(size)
    # The sum is piecewise linear and rising in 1/t: walk over its kinks.
    kinks = np.concatenate([offset / positive, (1 + offset) / positive])
    order = np.argsort(kinks, kind="stable")
    kinks, slopes = kinks[order], np.cumsum(np.concatenate([positive, -positive])[order])
    totals = np.concatenate([[0.0], np.cumsum(slopes[:-1] * np.diff(kinks))])
    at = min(int(np.searchsorted(totals, room)), totals.size - 1)
    inverse = kinks[at - 1] + (room - totals[at - 1]) / slopes[at - 1]
    return np.asarray(np.clip(size * inverse - offset, 0.0, 1.0))
