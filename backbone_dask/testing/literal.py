"""Objectives as they are written down, minimised by a general solver: slow, and independent of everything else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from backbone_dask.losses.logistic import Margin

_OPTIONS = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-15, "gtol": 1e-10}


def least_logistic(
    margin: Margin,
    rows: NDArray[np.float64],
    gamma: float,
    *,
    nonnegative: bool = False,
    offset: NDArray[np.float64] | float = 0.0,
) -> float:
    """c(S) from above for the rows (k, n) of a support: by L-BFGS-B, with weights >= 0 if asked for.

    `offset` (n,) is part of every predictor.
    """
    # Weights in units in which a strong ridge is 1.
    unit, k = min(np.sqrt(gamma), 1.0), len(rows)
    design = np.concatenate([unit * rows, margin.basis])
    ridge = np.where(np.arange(len(design)) < k, unit**2 / gamma, 0.0)

    def height(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        agreed = margin.y * (offset + point @ design)
        slope = ridge * point - design @ (margin.weights * margin.y * expit(-agreed))
        return float(margin.weights @ np.logaddexp(0.0, -agreed) + ridge @ point**2 / 2), slope

    nothing = np.zeros(len(design))
    if nothing.size == 0:
        return height(nothing)[0]
    bounds = [(0.0 if nonnegative and j < k else None, None) for j in range(len(design))]
    return float(minimize(height, nothing, jac=True, method="L-BFGS-B", bounds=bounds, options=_OPTIONS).fun)
