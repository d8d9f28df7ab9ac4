"""The ridge weight of a subproblem: one value, or a grid that the hold-out chooses from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from backbone_dask.errors import InvalidSettingError
from backbone_dask.values import Standardised


class GammaRule(Protocol):
    """Which ridge weights are tried."""

    @property
    def is_settled(self) -> bool:
        """Whether there is but one."""
        ...

    def first(self, n_samples: int) -> float:
        """The one at which the support size is chosen."""
        ...

    def others(self, X: Standardised, n_nonzero: int) -> list[float]:
        """What is tried after it, at the chosen size; each is the next one's neighbour."""
        ...


@dataclass(frozen=True, slots=True)
class OneGamma:
    """A given value, or 1/sqrt(samples)."""

    gamma: float | None = None

    def __post_init__(self) -> None:
        if self.gamma is not None and not 0 < self.gamma < math.inf:
            raise InvalidSettingError(f"gamma must be positive and finite, not {self.gamma}")

    @property
    def is_settled(self) -> bool:
        return True

    def first(self, n_samples: int) -> float:
        return usual_gamma(n_samples) if self.gamma is None else self.gamma

    def others(self, X: Standardised, n_nonzero: int) -> list[float]:
        return []


@dataclass(frozen=True, slots=True)
class GammaGrid:
    """`length` values, in a geometric sequence from 1/sqrt(n) down to p / (k n max_i |x_i|^2)."""

    length: int = 5

    def __post_init__(self) -> None:
        if self.length < 1:
            raise InvalidSettingError(f"a grid of gammas has at least 1 value, not {self.length}")

    @property
    def is_settled(self) -> bool:
        return self.length == 1

    def first(self, n_samples: int) -> float:
        return usual_gamma(n_samples)

    def others(self, X: Standardised, n_nonzero: int) -> list[float]:
        if self.length == 1:
            return []
        values = np.geomspace(usual_gamma(X.shape[1]), least_gamma(X, n_nonzero), self.length)
        return [float(gamma) for gamma in values[1:]]


def usual_gamma(n_samples: int) -> float:
    """1/sqrt(n): good for most regressions."""
    return 1 / math.sqrt(max(n_samples, 1))


def least_gamma(X: Standardised, n_nonzero: int) -> float:
    """p / (k n max_i |x_i|^2) for X (m, n), where p counts the rows that are not constant; 1/(k n) without any."""
    lengths = np.einsum("ji,ji->i", X, X, dtype=np.float64)
    n_features = max(int(X.any(axis=1).sum()), 1)
    longest = float(lengths.max(initial=0.0)) or 1.0
    return float(n_features / (n_nonzero * max(X.shape[1], 1) * longest))
