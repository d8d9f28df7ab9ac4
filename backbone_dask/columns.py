"""Raw columns with what is needed to standardise them: how the matrix travels from a store to the mathematics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.values import Standardised


@dataclass(frozen=True, slots=True)
class Columns:
    """Whole features as stored.

    Attributes
    ----------
    values : array (features, samples)
        float32, float64, int8 or uint8; floats are finite.
    mean, scale : array (features,), float64
        Over the samples that are present; `scale` is the population standard deviation, 0 for a constant feature.
    missing : int or None
        The code of a missing value in an integer matrix; a missing value stands for the mean.
    """

    values: NDArray[Any]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    missing: int | None = None

    @property
    def n_features(self) -> int:
        return int(self.values.shape[0])

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Columns:
        return Columns(self.values[rows], self.mean[rows], self.scale[rows], self.missing)

    def standardised(self) -> Standardised:
        """Mean 0 and X_j'X_j = n in every row; constant features are all zero."""
        out = np.empty(self.values.shape, np.float32)
        _standardise(self.values, self.mean, self.scale, missing_code(self.missing), out)
        return out


# Outside every integer dtype of a store, so that "no missing code" never matches a value.
_NO_CODE = -32768


def missing_code(missing: int | None) -> int:
    """The code as kernels take it: an integer that equals no stored value where nothing is missing."""
    return _NO_CODE if missing is None else missing


def measured(values: NDArray[Any], missing: int | None = None) -> tuple[Columns, NDArray[np.int64]]:
    """Columns with mean and scale computed from the values, and the number of missing values in each."""
    features = values.shape[0]
    mean, scale = np.empty(features), np.empty(features)
    absent = np.empty(features, np.int64)
    _measure(values, missing_code(missing), mean, scale, absent)
    return Columns(values, mean, scale, missing), absent


@numba.njit(cache=True, nogil=True)
def _measure(values, code, mean, scale, absent):  # type: ignore[no-untyped-def]
    """Two passes over a column that is still in cache: exact for columns far from zero."""
    features, samples = values.shape
    for j in range(features):
        column = values[j]
        total, present = 0.0, 0
        low, high = np.inf, -np.inf
        for i in range(samples):
            if column[i] != code:
                value = np.float64(column[i])
                total += value
                present += 1
                low, high = min(low, value), max(high, value)
        absent[j] = samples - present
        centre = total / present if present else 0.0
        squares = 0.0
        for i in range(samples):
            if column[i] != code:
                squares += (np.float64(column[i]) - centre) ** 2
        # A constant column must give exactly 0, whatever the rounding of its mean.
        mean[j] = centre
        scale[j] = np.sqrt(squares / samples) if low < high else 0.0


@numba.njit(cache=True, nogil=True)
def _standardise(values, mean, scale, code, out):  # type: ignore[no-untyped-def]
    features, samples = values.shape
    for j in range(features):
        column, centre = values[j], mean[j]
        inverse = 1.0 / scale[j] if scale[j] > 0 else 0.0
        for i in range(samples):
            value = np.float64(column[i]) - centre if column[i] != code else 0.0
            out[j, i] = np.float32(value * inverse)
