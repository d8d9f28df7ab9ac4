"""What every exact solver refuses before it begins."""

from __future__ import annotations

import math

import numpy as np

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.losses.logistic import Margin
from backbone_dask.values import Standardised, Target

_LONGEST = 1e150
"""Of y: the square of a longer one is near the end of double precision, or beyond it."""


def check_regression(X: Standardised, y: Target, n_nonzero: int, gamma: float) -> None:
    """That X (features, samples) and y (samples,) can be used, and the settings be met."""
    if X.ndim != 2 or y.shape != (X.shape[1],):
        raise InvalidDataError(f"X of shape {X.shape} (features, samples) does not fit y of shape {y.shape}")
    if not np.isfinite(y).all():
        raise InvalidDataError("y holds values that are not finite; drop those samples first")
    if float(np.abs(y).max(initial=0.0)) * math.sqrt(y.size) > _LONGEST:
        raise InvalidDataError(
            f"y is longer than {_LONGEST:g}, and its square must not overflow; divide y by its scale"
        )
    _check_rest(X, n_nonzero, gamma)


def check_classification(X: Standardised, margin: Margin, n_nonzero: int, gamma: float) -> None:
    """The same for labels."""
    if X.ndim != 2 or margin.y.shape != (X.shape[1],):
        raise InvalidDataError(f"X of shape {X.shape} (features, samples) does not fit {margin.y.size} labels")
    _check_rest(X, n_nonzero, gamma)


def _check_rest(X: Standardised, n_nonzero: int, gamma: float) -> None:
    if not np.isfinite(X).all():
        raise InvalidDataError("X holds values that are not finite; impute or drop them first")
    if n_nonzero < 1:
        raise InvalidSettingError(f"n_nonzero must be at least 1, not {n_nonzero}")
    if not 0 < gamma < math.inf:
        raise InvalidSettingError(f"gamma must be positive and finite, not {gamma}")
