"""Classes of samples, with weights: what a tree explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Labels:
    """`classes` (samples,) count from 0 to n_classes - 1; a sample of weight 2 counts as two, one of weight 0 not."""

    classes: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_classes: int

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    @property
    def counts(self) -> NDArray[np.float64]:
        """The weight of every class (K,)."""
        return np.bincount(self.classes, self.weights, self.n_classes).astype(np.float64)

    def take(self, samples: NDArray[Any]) -> Labels:
        """Some of the samples, positions or a mask."""
        return Labels(self.classes[samples], self.weights[samples], self.n_classes)

    def weighted(self, weights: NDArray[np.float64]) -> Labels:
        return Labels(self.classes, weights, self.n_classes)
