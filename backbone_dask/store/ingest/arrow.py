"""pyarrow, where it is installed; pandas is not asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from backbone_dask.errors import MissingExtraError


def arrow(module: str) -> Any:
    """A module of pyarrow: "parquet", "types"."""
    try:
        return import_module(f"pyarrow.{module}")
    except ImportError as cause:
        raise MissingExtraError("Parquet needs pyarrow: pip install 'backbone-dask[parquet]'") from cause


def plain_values(column: Any) -> NDArray[Any]:
    """An Arrow column as numpy: None or NaN where it is null."""
    # to_numpy takes the last category for a null in a column of categories.
    plain = column.cast(column.type.value_type) if arrow("types").is_dictionary(column.type) else column
    found: NDArray[Any] = plain.to_numpy()
    return found
