"""From the dtype of a file to that of the store, without a value that changes unnoticed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.missing import Label
from backbone_dask.store.schema import MISSING_CODES, MissingPolicy

Mask = NDArray[np.bool_]
# Whole numbers up to these are exact in float32 and in float64.
_WHOLE = (float(1 << 24), float(1 << 53))


def common_dtype(dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """The narrowest dtype of a store that holds the values of all these."""
    common = np.result_type(*dtypes)
    return common if common.name in (*MISSING_CODES, "float32", "float64") else np.dtype(np.float32)


def cast(
    values: NDArray[Any], coded: bool, dtype: np.dtype[Any], missing: MissingPolicy, called: Label
) -> NDArray[Any]:
    """Values (features, samples) as `dtype`; `coded` says that their missing code stands for a missing value.

    Whole numbers must come out as they were, and no finite value may become infinite.
    """
    absent = values == MISSING_CODES[values.dtype.name] if coded and values.dtype.kind in "iu" else None
    if absent is not None and missing == "refuse":
        _refuse_missing(absent, called)
    if values.dtype == dtype:
        if absent is None and missing == "mean" and dtype.kind in "iu":
            _refuse(values, values == MISSING_CODES[dtype.name], dtype, "float32", called)
        return values
    if dtype.kind == "f":
        return _to_float(values, absent, dtype, called)
    return _to_integer(values, np.isnan(values) if absent is None else absent, dtype, missing, called)


def _refuse_missing(absent: Mask, called: Label) -> None:
    rows = np.flatnonzero(absent.any(axis=1))
    if rows.size:
        row = int(rows[0])
        raise InvalidDataError(
            f"{called(row)} has no value in {int(absent[row].sum())} of {absent.shape[1]} samples; "
            "declare missing='mean' (--missing mean) to use the mean of each column, or clean the data"
        )


def _to_float(values: NDArray[Any], absent: Mask | None, dtype: np.dtype[Any], called: Label) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        out = values.astype(dtype)
    large = np.abs(out) >= _WHOLE[0]
    if large.any():
        # Beyond its own limit a float64 is whole by its size alone.
        whole = large & (np.abs(values) < _WHOLE[1]) & (values == np.rint(values))
        lost = (whole & (out != values)) | (np.isinf(out) & np.isfinite(values))
        _refuse(values, lost, dtype, "float64", called)
    if absent is not None:
        out[absent] = np.nan
    return out


def _to_integer(
    values: NDArray[Any], absent: Mask, dtype: np.dtype[Any], missing: MissingPolicy, called: Label
) -> NDArray[Any]:
    if missing == "refuse":
        _refuse_missing(absent, called)
    with np.errstate(invalid="ignore"):
        out = values.astype(dtype)
    lost = out != values
    lost[absent] = False
    if missing == "mean":
        # The code would make a value of it that is missing.
        lost |= (out == MISSING_CODES[dtype.name]) & ~absent
    _refuse(values, lost, dtype, _that_would_do(values[lost]), called)
    out[absent] = MISSING_CODES[dtype.name]
    return out


def _refuse(values: NDArray[Any], lost: Mask, dtype: np.dtype[Any], instead: str, called: Label) -> None:
    if lost.any():
        row, sample = (int(at[0]) for at in np.nonzero(lost))
        raise InvalidDataError(
            f"{called(row)} is {_shown(values[row, sample])} in sample {sample}, which {dtype} cannot hold"
            f"{_reason(values[row, sample], dtype)}; use --dtype {instead}"
        )


def _that_would_do(values: NDArray[Any]) -> str:
    finite = values[np.isfinite(values)].astype(np.float64)
    return "float64" if finite.size and np.abs(finite).max() > np.finfo(np.float32).max else "float32"


def _shown(value: Any) -> str:
    number = float(value)
    return f"{number:.0f}" if number.is_integer() and abs(number) < _WHOLE[1] else f"{number:g}"


def _reason(value: Any, dtype: np.dtype[Any]) -> str:
    is_code = dtype.kind in "iu" and value == MISSING_CODES[dtype.name]
    return " beside missing values, for which it stands" if is_code else ""
