"""What files say of their samples: numbers with NaN, or text that is empty, where they say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.store.ingest.table import Wanted


def as_field(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers as they are, for those of ids may have more digits than float64; anything else as text."""
    if values.dtype.kind in "biuf":
        return values
    return np.array([_text(each) for each in values.tolist()], dtype=str)


def _text(value: Any) -> str:
    """None, and what does not equal itself, is no value."""
    if isinstance(value, bytes):
        return value.decode()
    return "" if value is None or value != value else str(value)


def id_column(fields: Mapping[str, NDArray[Any]], wanted: Wanted) -> str | None:
    """The column that people want samples to be told apart by; None, for the files' own ids, if there is no such."""
    return wanted.sample_id if wanted.sample_id in fields else None
