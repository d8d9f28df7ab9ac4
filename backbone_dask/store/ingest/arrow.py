"""pyarrow, where it is installed; pandas is not asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from backbone_dask.errors import MissingExtraError


def arrow(module: str) -> Any:
    """A module of pyarrow: "parquet", "types"."""
    try:
        return import_module(f"pyarrow.{module}")
    except ImportError as cause:
        raise MissingExtraError("Parquet needs pyarrow: pip install 'backbone-dask[parquet]'") from cause
