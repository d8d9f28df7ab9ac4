"""A face of the problem: the supports of at most k features that hold some features and avoid others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.exact.gram import Positions
from backbone_dask.losses.squared import Vector
from backbone_dask.values import Mask

_NEGLIGIBLE = 1e-100
"""Relative to the largest size: smaller ones would overflow when inverted."""


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
    counts = np.asarray(size > _NEGLIGIBLE * size.max(initial=0.0))
    positive = size[counts]
    if positive.size <= room:
        return counts.astype(np.float64)
    if room == 0:
        return np.zeros_like(size)
    kinks = np.sort(np.concatenate([offset / positive, (1 + offset) / positive]))
    return _clipped(size, _level(positive, room, offset, kinks), offset)


def _level(size: Vector, room: int, offset: float, kinks: Vector) -> float:
    """1/t: the sum of the shares is rising in it, and linear between two kinks."""
    low, high = 0, kinks.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _clipped(size, kinks[middle], offset).sum() >= room else (middle, high)
    below, above = (float(_clipped(size, kinks[at], offset).sum()) for at in (low, high))
    part = min((room - below) / (above - below), 1.0) if above > below else 1.0
    return float(kinks[low] + part * (kinks[high] - kinks[low]))


def _clipped(size: Vector, level: float, offset: float) -> Vector:
    return np.minimum(np.maximum(size * level - offset, 0.0), 1.0)
