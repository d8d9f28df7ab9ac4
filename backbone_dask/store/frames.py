"""Tables of libraries that this package does not need, as ones that it knows; recognised without importing them."""

from __future__ import annotations

from typing import Any

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
    if _is_polars(table):
        _require_numbers(table)


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


def _is_polars(table: Any) -> bool:
    return type(table).__name__ == "DataFrame" and type(table).__module__.startswith("polars")


def _require_numbers(frame: Any) -> None:
    for name, dtype in frame.schema.items():
        if not (dtype.is_numeric() or str(dtype) == "Boolean"):
            raise InvalidDataError(f"column {name!r} is {dtype}, not numeric; convert it to numbers or leave it out")
