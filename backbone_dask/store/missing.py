"""What happens to values that are not there: one rule, for every way in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns, measured
from backbone_dask.errors import InvalidDataError
from backbone_dask.store.schema import MISSING_CODES, MissingPolicy


def admit(
    values: NDArray[Any], policy: MissingPolicy, *, first: int = 0
) -> tuple[Columns, NDArray[np.int64]]:
    """Check raw columns (features, samples) and measure them; the second answer counts the missing values.

    `first` is the id of the first column, for messages. Under "mean" a float's NaN becomes the mean of its column
    at once; an integer's code stays and stands for it. Infinity is refused always.
    """
    if values.dtype.kind != "f":
        code = MISSING_CODES[values.dtype.name] if policy == "mean" else None
        return measured(values, code)
    if np.isfinite(values).all():
        return measured(values)
    absent = _count_missing(values, policy, first)
    return measured(_mean_imputed(values))[0], absent


def _count_missing(values: NDArray[Any], policy: MissingPolicy, first: int) -> NDArray[np.int64]:
    absent = np.isnan(values)
    infinite = np.flatnonzero(np.isinf(values).any(axis=1))
    if infinite.size:
        raise InvalidDataError(f"feature {first + infinite[0]} contains infinity; replace it before it is stored")
    counts = absent.sum(axis=1, dtype=np.int64)
    if policy == "refuse":
        worst = int(np.flatnonzero(counts)[0])
        raise InvalidDataError(
            f"feature {first + worst} contains NaN in {counts[worst]} of {values.shape[1]} samples; "
            "declare missing='mean' to use the mean of each column, or clean the data"
        )
    return counts


def _mean_imputed(values: NDArray[Any]) -> NDArray[Any]:
    present = ~np.isnan(values)
    sums = np.where(present, values, 0).sum(axis=1, dtype=np.float64)
    mean = (sums / np.maximum(present.sum(axis=1), 1)).astype(values.dtype)
    return np.where(present, values, mean[:, None])
