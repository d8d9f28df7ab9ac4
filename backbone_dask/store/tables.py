"""From what people have in memory to something that slices by column like numpy does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.frames import eager_frame, is_lazy, lazy_array
from backbone_dask.store.schema import DTYPES

# Exact in fewer bytes than float64.
_NARROW = {"bool": "uint8", "float16": "float32", "int16": "float32", "uint16": "float32"}


def as_table(table: Any) -> tuple[Any, list[str] | None]:
    """The samples x features table, and the names it carried."""
    plain, names = _sliceable(table)
    if len(plain.shape) != 2 or 0 in plain.shape:
        raise InvalidDataError(f"a table of samples x features is needed, not an array of shape {plain.shape}")
    if np.isnan(plain.shape).any():
        raise InvalidDataError("a dask array of unknown shape cannot be used; call its compute_chunk_sizes() first")
    table = plain.tocsc() if sparse.issparse(plain) else plain
    return table, None if names is None else [str(name) for name in names]


def stored_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The narrowest dtype of a store that holds these values."""
    if dtype.kind not in "biuf":
        raise InvalidDataError(f"a table of {dtype} cannot be used; convert it to numbers, for example .astype(float)")
    return np.dtype(dtype.name if dtype.name in DTYPES else _NARROW.get(dtype.name, "float64"))


def _sliceable(table: Any) -> tuple[Any, list[Any] | None]:
    if is_lazy(table):
        return lazy_array(table)
    frame = eager_frame(table)
    return _in_memory(frame), list(frame.columns) if hasattr(frame, "columns") else None


def _in_memory(table: Any) -> Any:
    if sparse.issparse(table):
        return table
    if hasattr(table, "iloc"):
        return _from_pandas(table)
    if isinstance(table, np.ma.MaskedArray):
        return np.ma.filled(table.astype(np.result_type(table.dtype, np.float32)), np.nan)
    try:
        return np.asarray(table)
    except ValueError as cause:
        raise InvalidDataError(f"a {type(table).__name__} cannot be used as a table: {cause}") from cause


def _from_pandas(frame: Any) -> NDArray[Any]:
    kinds = set(frame.dtypes) if frame.ndim == 2 else set()
    if np.dtype(object) in kinds:
        return np.asarray(frame, np.float64)
    if len(kinds) < 2 and all(isinstance(dtype, np.dtype) for dtype in kinds):
        return np.asarray(frame.to_numpy())
    return _column_by_column(frame, _common_dtype(frame))


def _common_dtype(frame: Any) -> np.dtype[Any]:
    """A dtype for all columns; pandas itself would answer with Python objects for a mix with booleans."""
    kinds = {np.dtype("uint8") if dtype.kind == "b" else _numpy_dtype(dtype) for dtype in frame.dtypes}
    if frame.isna().any(axis=None):
        kinds.add(np.dtype("float32"))
    common: np.dtype[Any] = np.result_type(*kinds)
    return common


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The plain dtype behind pandas' nullable, Arrow and sparse ones."""
    plain: np.dtype[Any] = np.dtype(getattr(dtype, "subtype", getattr(dtype, "numpy_dtype", dtype)))
    return plain


def _column_by_column(frame: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    table = np.empty(frame.shape, dtype, order="F")
    absent = {"na_value": np.nan} if dtype.kind == "f" else {}
    for at in range(frame.shape[1]):
        table[:, at] = frame.iloc[:, at].to_numpy(dtype=dtype, **absent)
    return table
