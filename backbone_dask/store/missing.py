"""What happens to values that are not there: one rule, for every way in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from backbone_dask.columns import Columns, measured
from backbone_dask.errors import InvalidDataError
from backbone_dask.store.schema import MISSING_CODES, MissingPolicy

Label = Callable[[int], str]
"""What to call a row of the values at hand, in messages: its feature's id, and its name if it has one."""


def label(j: int, name: str | None) -> str:
    return f"feature {j}" if name is None else f"feature {j} ({name!r})"


def admit(values: NDArray[Any], policy: MissingPolicy, called: Label) -> tuple[Columns, NDArray[np.int64]]:
    """Check raw columns (features, samples) and measure them; the second answer counts the missing values.

    Under "mean" a float's NaN becomes the mean of its column at once; an integer's code stays and stands for it.
    Infinity is refused always.
    """
    if values.dtype.kind != "f":
        code = MISSING_CODES[values.dtype.name] if policy == "mean" else None
        return measured(values, code)
    columns, absent = measured(values)
    # A value that is not finite makes the mean of its column so: no second look at the others is needed.
    if not np.isfinite(columns.mean).all() and not np.isfinite(values).all():
        absent = _count_missing(values, policy, called)
        columns = measured(_mean_imputed(values))[0]
    return _within_range(columns, called), absent


def require_values(table: Any, policy: MissingPolicy, called: Label) -> None:
    """Refuse infinity anywhere in a table (samples, features) in memory, and NaN unless the policy has a way with it.

    The table is dense or sparse.
    """
    is_sparse = sparse.issparse(table)
    values = table.data if is_sparse else table
    if values.dtype.kind != "f" or _has_finite_sum(values):
        return
    wrong = np.isinf(values) if policy == "mean" else ~np.isfinite(values)
    if wrong.any():
        j = int(table.tocoo().col[wrong].min() if is_sparse else np.argmax(wrong.any(axis=0)))
        column = table[:, [j]].toarray() if is_sparse else table[:, [j]]
        _count_missing(column.T, policy, lambda _: called(j))


def _has_finite_sum(values: NDArray[Any]) -> bool:
    """If so every value is finite; and no array of truth values is needed to know it."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum(dtype=np.float64)))


def _count_missing(values: NDArray[Any], policy: MissingPolicy, called: Label) -> NDArray[np.int64]:
    infinite = np.flatnonzero(np.isinf(values).any(axis=1))
    if infinite.size:
        raise InvalidDataError(f"{called(int(infinite[0]))} contains infinity; replace it before it is used")
    counts: NDArray[np.int64] = np.isnan(values).sum(axis=1, dtype=np.int64)
    if policy == "refuse":
        worst = int(np.flatnonzero(counts)[0])
        raise InvalidDataError(
            f"{called(worst)} contains NaN in {counts[worst]} of {values.shape[1]} samples; "
            "declare missing='mean' (--missing mean) to use the mean of each column, or clean the data"
        )
    return counts


def _mean_imputed(values: NDArray[Any]) -> NDArray[Any]:
    present = ~np.isnan(values)
    with np.errstate(over="ignore"):
        sums = np.where(present, values, 0).sum(axis=1, dtype=np.float64)
    mean = (sums / np.maximum(present.sum(axis=1), 1)).astype(values.dtype)
    return np.where(present, values, mean[:, None])


def _within_range(columns: Columns, called: Label) -> Columns:
    """The sum of very large floats overflows: such a column has no mean."""
    lost = np.flatnonzero(~(np.isfinite(columns.mean) & np.isfinite(columns.scale)))
    if lost.size:
        raise InvalidDataError(
            f"{called(int(lost[0]))} has values too large for their mean to be a float64; rescale it"
        )
    return columns
