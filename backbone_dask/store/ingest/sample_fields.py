"""What files say of their samples: numbers with NaN, or text that is empty, where they say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.table import Wanted


def as_field(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers as float64, anything else as text."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.array([_text(each) for each in values.tolist()], dtype=str)


def _text(value: Any) -> str:
    """None, and what does not equal itself, is no value."""
    if isinstance(value, bytes):
        return value.decode()
    return "" if value is None or value != value else str(value)


def chosen_ids(fields: Mapping[str, NDArray[Any]], wanted: Wanted, location: str) -> list[str] | None:
    """The column that people want samples to be told apart by; None if they name none."""
    name = wanted.sample_id
    if name is None:
        return None
    if name not in fields:
        raise InvalidDataError(
            f"{location} has no column {name!r} of its samples; it has {', '.join(fields) or 'none'}"
        )
    return [f"{each:g}" if isinstance(each, float) else str(each) for each in fields[name].tolist()]
