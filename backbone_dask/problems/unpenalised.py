"""What a ridge does to the coefficients of a model: the fit of the same features without it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backbone_dask.adjustment import Adjustment
from backbone_dask.columns import Columns
from backbone_dask.losses import logistic
from backbone_dask.losses.logistic import Margin
from backbone_dask.problems.sparse import raw_values
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import Target

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

_DEPENDENT = 1e-8
_NEXT_TO_NONE = (1e6, 1e9)
"""Ridge weights for each sample. Coefficients that still move from one to the next have no end: classes are apart."""


def least_squares(y: Target, adjusted: Adjustment, columns: Columns) -> Vector | None:
    """Coefficients of raw columns beside the free rows, by weighted least squares; None where they are not unique."""
    with one_blas_thread():
        rows, scale = _alone(columns, adjusted)
        if not _independent(rows):
            return None
        return np.asarray(np.linalg.lstsq(rows.T, adjusted.target(y))[0]) / scale


def largest_likelihood(margin: Margin, adjusted: Adjustment, columns: Columns) -> Vector | None:
    """The same for the log odds of two classes; None also where some combination of the columns tells them apart."""
    with one_blas_thread():
        if not _independent(_alone(columns, adjusted)[0]):
            return None
        raw = raw_values(columns)
        rows = (raw - raw.mean(axis=1, keepdims=True) * adjusted.has_intercept) / columns.scale[:, None]
        first, last = (logistic.fit(margin, rows, gamma * margin.y.size).weights for gamma in _NEXT_TO_NONE)
        return last / columns.scale if np.allclose(first, last, rtol=1e-3, atol=1e-6) else None


def _alone(columns: Columns, adjusted: Adjustment) -> tuple[Matrix, Vector]:
    """Weighted columns without their part in the span of the free rows, and what they were divided by."""
    scale = np.where(columns.scale > 0, columns.scale, 1.0)
    rows = (raw_values(columns) - columns.mean[:, None] * adjusted.has_intercept) / scale[:, None] * adjusted.root
    return rows - (rows @ adjusted.basis.T) @ adjusted.basis, scale


def _independent(rows: Matrix) -> bool:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not len(rows):
        return True
    # Lengths are about sqrt(n) for columns with a spread: one of nothing but rounding is in the span of the free rows.
    if not (lengths > _DEPENDENT * np.sqrt(rows.shape[1])).all():
        return False
    singular = np.linalg.svd(rows / lengths, compute_uv=False)
    return len(rows) <= rows.shape[1] and bool(singular[-1] > _DEPENDENT * singular[0])
