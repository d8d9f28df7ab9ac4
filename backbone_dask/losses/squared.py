"""Squared loss: c(S) = min_w 1/2 |y - X_S w|^2 + 1/(2 gamma) |w|^2, from products that do not grow with n."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RidgeFit:
    """The ridge fit on one support.

    `removal_cost` is how much the objective rises at the least when one feature leaves: w_j^2 / (2 [inverse]_jj).
    """

    weights: Vector
    objective: float
    removal_cost: Vector


def ridge(gram: Matrix, b: Vector, yy: float, gamma: float) -> RidgeFit:
    """Minimise over w, given gram = X_S X_S', b = X_S y and yy = y'y (rows of X_S are features)."""
    factor = cho_factor(gram + np.eye(b.size) / gamma)
    weights = cho_solve(factor, b)
    inverse = cho_solve(factor, np.eye(b.size))
    return RidgeFit(weights, 0.5 * (yy - float(b @ weights)), weights**2 / (2 * np.diagonal(inverse)))
