"""Logistic loss on groups of features: the fit on some columns, and what the loss of a group would cost."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from backbone_dask.losses.logistic import LogisticFit, Margin, curvature, fit, model_hessian
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.losses.steps import newton_step, signed_step
from backbone_dask.losses.structured import ActiveFit
from backbone_dask.structure import Structure


def fit_columns(
    margin: Margin, rows: Matrix, gamma: float, structure: Structure, start: tuple[Vector, Vector]
) -> LogisticFit:
    """The fit on some columns, rows (q, n), from a start whose weights (q,) the structure allows."""
    rule = partial(signed_step, n_signed=len(rows)) if structure.nonnegative else newton_step
    return fit(margin, rows, gamma, start, rule)


def group_costs(margin: Margin, rows: Matrix, found: LogisticFit, gamma: float, groups: NDArray[np.int64]) -> Vector:
    """To second order what the loss of each group costs a fit of rows (q, n), given the group of each row (q,)."""
    h = curvature(margin, found.predictor)
    return ActiveFit.of_system(model_hessian(margin, rows, h, gamma), found.weights, groups).costs
