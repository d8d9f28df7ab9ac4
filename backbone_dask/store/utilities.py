"""The utilities of all columns, kept as a zarr array that many tasks write at once."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import Crc32cCodec

from backbone_dask.errors import StoreError
from backbone_dask.store import locate


@dataclass(frozen=True, slots=True)
class ZarrUtilities:
    """An array of shape (questions, features), float64; a column that was not scored is NaN."""

    location: str

    def write(self, start: int, utilities: NDArray[np.float64]) -> None:
        """Write a region; regions of two tasks must not share a chunk."""
        with locate.disk_errors(self.location):
            array = zarr.open_array(locate.zarr_store(self.location), mode="r+")
            array[:, start : start + utilities.shape[1]] = utilities


def is_utilities(location: str | os.PathLike[str]) -> bool:
    """Whether an array of utilities is there."""
    try:
        array = zarr.open_array(locate.zarr_store(locate.plain(location), read_only=True), mode="r", zarr_format=3)
    except (OSError, ValueError, KeyError):
        return False
    return array.metadata.dimension_names == ("question", "feature")  # type: ignore[union-attr]


def create_utilities(
    location: str | os.PathLike[str], n_questions: int, n_features: int, chunk_features: int
) -> ZarrUtilities:
    """Begin the array, or go on with the same one where a killed run left it."""
    # Absolute: the tasks that write may run in another folder.
    place = locate.absolute(locate.plain(location))
    shape, chunks = (n_questions, n_features), (n_questions, min(chunk_features, n_features))
    if locate.exists(place):
        array = zarr.open_array(locate.zarr_store(place, read_only=True), mode="r")
        if (array.shape, array.chunks) != (shape, chunks):
            raise StoreError(f"{place} holds the utilities of another screen; choose another name")
        return ZarrUtilities(place)
    zarr.create_array(
        locate.zarr_store(place),
        shape=shape,
        chunks=chunks,
        dtype="float64",
        fill_value=float("nan"),
        compressors=[Crc32cCodec()],
        filters=None,
        dimension_names=("question", "feature"),
        config={"write_empty_chunks": True},
    )
    return ZarrUtilities(place)
