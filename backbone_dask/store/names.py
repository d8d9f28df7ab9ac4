"""Names of features, and ids of samples, on disk: UTF-8 bytes, padded with zeros, which every zarr reader reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError

LONGEST = 1024
# No byte of UTF-8 is 255: it marks a chunk that is not there.
LOST = 255


def encoded(names: Sequence[str], first: int = 0, what: str = "feature") -> NDArray[np.uint8]:
    """Names as rows of bytes; `first` is the id of the first one, for messages."""
    raw = [_bytes(name, what, first + offset) for offset, name in enumerate(names)]
    width = max((len(name) for name in raw), default=0) or 1
    return np.array(raw, f"S{width}").view(np.uint8).reshape(len(raw), width)


def decoded(rows: NDArray[np.uint8]) -> list[str]:
    return [bytes(row).rstrip(b"\0").decode() for row in rows]


def widened(rows: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))


def _bytes(name: str, what: str, j: int) -> bytes:
    if not isinstance(name, str):
        raise InvalidDataError(f"the name of {what} {j} is {name!r}; names are strings")
    try:
        raw = name.encode()
    except UnicodeEncodeError as cause:
        raise InvalidDataError(f"the name of {what} {j}, {name!r}, is not valid Unicode") from cause
    if len(raw) > LONGEST or b"\0" in raw:
        raise InvalidDataError(
            f"the name of {what} {j}, {name[:40]!r}, has {len(raw)} bytes; at most {LONGEST} fit, none of them 0"
        )
    return raw
