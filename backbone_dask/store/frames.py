"""Tables of libraries that this package does not need, as ones that it knows; recognised without importing them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from backbone_dask.errors import InvalidDataError


def is_array_of_xarray(table: Any) -> bool:
    return type(table).__name__ == "DataArray" and hasattr(table, "dims")


def is_lazy(table: Any) -> bool:
    """Whether values are computed only when they are asked for: a dask array or frame, or an xarray of one."""
    # A frame of pandas may have a column of that name.
    return hasattr(type(table), "dask") or (is_array_of_xarray(table) and table.chunks is not None)


def require_table(table: Any) -> None:
    """Refuse, with what would work, what looks like a table and is none."""
    if type(table).__name__ == "LazyFrame":
        raise InvalidDataError("a polars LazyFrame has no values yet; call its collect() first")
    if type(table).__name__ == "Dataset" and hasattr(table, "data_vars"):
        known = ", ".join(map(repr, table.data_vars)) or "none"
        raise InvalidDataError(f"an xarray Dataset holds several arrays; give one of them: {known}")
    if is_array_of_xarray(table) and table.ndim != 2:
        dims = ", ".join(map(str, table.dims)) or "none"
        raise InvalidDataError(f"a DataArray of samples x features is needed, and this one has the dimensions {dims}")
    if hasattr(table, "dtypes") and len(table.shape) == 2:
        _require_columns(table)


def eager_frame(table: Any) -> Any:
    """A table in memory as one that scikit-learn knows; a DataArray is named by the coordinate of its features."""
    require_table(table)
    return table.to_pandas() if is_array_of_xarray(table) else table


def lazy_array(table: Any) -> tuple[Any, list[Any] | None]:
    """A lazy table as a dask array, and the names of its columns."""
    require_table(table)
    if is_array_of_xarray(table):
        features = table.dims[1]
        return table.data, table.indexes[features].tolist() if features in table.indexes else None
    if hasattr(table, "to_dask_array"):
        return table.to_dask_array(lengths=True), list(table.columns) if table.ndim == 2 else None
    return table, None


def only_columns(table: Any, names: Collection[str]) -> Any:
    """The columns of a frame that have these names; a table without names, or without these, as it is."""
    known = [name for name in getattr(table, "columns", ()) if str(name) in names]
    return table[list(dict.fromkeys(known))] if known else table


def _require_columns(frame: Any) -> None:
    """Every column has numbers, and a name of its own."""
    seen: dict[Any, int] = {}
    for at, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        if name in seen:
            raise InvalidDataError(f"columns {seen[name]} and {at} are both called {name!r}; rename one")
        seen[name] = at
        if not _is_numeric(dtype) and not _converts(frame, at, dtype):
            raise InvalidDataError(f"column {name!r} is {dtype}, not numeric; convert it to numbers or leave it out")


def _is_numeric(dtype: Any) -> bool:
    """Of pandas, where types have a kind, or of polars."""
    if hasattr(dtype, "kind"):
        return bool(dtype.kind in "biuf")
    return bool(dtype.is_numeric() or str(dtype) == "Boolean")


def _converts(frame: Any, at: int, dtype: Any) -> bool:
    """Python objects in memory may all be numbers."""
    if dtype != np.dtype(object) or is_lazy(frame):
        return False
    try:
        np.asarray(frame.iloc[:, at], np.float64)
    except (TypeError, ValueError):
        return False
    return True
