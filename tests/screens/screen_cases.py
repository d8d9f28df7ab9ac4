"""What the tests of several screens need: columns as float64, and labels from a response."""

from __future__ import annotations

import numpy as np

from backbone_dask.columns import Columns

DTYPES = ("float32", "float64", "int8", "uint8")


def standard_rows(columns: Columns) -> np.ndarray:
    """The columns in float64, missing values as the mean of the others, with mean 0 and variance 1; constants are 0."""
    rows = columns.values.astype(np.float64)
    if columns.missing is not None:
        rows[columns.values == columns.missing] = np.nan
    means = np.array([np.nanmean(row) if np.isfinite(row).any() else 0.0 for row in rows])
    rows = np.where(np.isnan(rows), 0.0, rows - means[:, None])
    return np.divide(rows, columns.scale[:, None], out=np.zeros_like(rows), where=columns.scale[:, None] > 0)


def two_classes(response: np.ndarray, share: float = 0.5) -> np.ndarray:
    """-1 for the smaller responses, +1 for a `share` of them; both labels occur."""
    rank = np.argsort(np.argsort(response, kind="stable"))
    smaller = min(max(round((1 - share) * response.size), 1), response.size - 1)
    return np.where(rank >= smaller, 1.0, -1.0)


def classes(response: np.ndarray, count: int, power: float = 1.0) -> np.ndarray:
    """0, ..., count - 1 by the rank of the response; the classes have the same size if the power is 1."""
    rank = np.argsort(np.argsort(response, kind="stable"))
    ends = response.size * (np.arange(1, count) / count) ** power
    return np.searchsorted(ends, rank, side="right").astype(np.float64)
