"""The zarr arrays of a store: chunks, codecs, and the fill values by which a lost chunk is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import zarr
from zarr.codecs import BloscCodec, Crc32cCodec

from backbone_dask.store import locate
from backbone_dask.store.names import LOST, encoded
from backbone_dask.store.schema import Schema
from backbone_dask.values import Target

VECTOR_CHUNK = 1 << 16
NAME_CHUNK_BYTES = 8 << 20
VECTORS = {"mean": ("float64", float("nan")), "scale": ("float64", float("nan")), "missing": ("int64", -1)}
"""Dtype and fill value of what is kept of every feature. No finite column has a fill value here."""
# Means and scales hardly shrink; counts, nearly all of them 0, shrink to nothing.
_PACKED: dict[str, list[Any]] = {"missing": [BloscCodec(cname="lz4", shuffle="shuffle")]}


def needed_bytes(schema: Schema) -> int:
    """What a store takes on disk at least; how far integers shrink is not known beforehand."""
    matrix = schema.n_bytes if schema.dtype.startswith("float") else 0
    return matrix + schema.n_features * sum(np.dtype(dtype).itemsize for dtype, _ in VECTORS.values())


def create_matrix(location: str, schema: Schema) -> None:
    # Gaussian floats shrink by 6-11 %, which is not worth the time; genotypes shrink fourfold.
    packed = [] if schema.dtype.startswith("float") else [BloscCodec(cname="lz4", shuffle="bitshuffle")]
    zarr.create_array(
        locate.zarr_store(location),
        name="X",
        shape=(schema.n_features, schema.n_samples),
        dtype=schema.dtype,
        chunks=(schema.chunk_features, schema.n_samples),
        shards=(schema.shard_features, schema.n_samples) if schema.shard_features else None,
        compressors=[*packed, Crc32cCodec()],
        filters=None,
        fill_value=schema.fill,
        dimension_names=("feature", "sample"),
        zarr_format=3,
    )


def create_target(location: str, name: str, values: Target) -> None:
    array = _create(location, f"targets/{name}", values.shape, values.shape, "float64", float("nan"), [])
    array[:] = values


def create_samples(location: str, ids: Sequence[str]) -> None:
    """Ids of the samples, as names are kept."""
    rows = encoded(ids, what="sample")
    _create(location, "samples", rows.shape, rows.shape, "uint8", LOST, [BloscCodec(cname="zstd")])[:] = rows


def create_vectors(location: str, n_features: int, name_width: int) -> dict[str, zarr.Array[Any]]:
    """Mean, scale and missing counts, and names where they have a width."""
    rows = min(VECTOR_CHUNK, n_features)
    created = {
        name: _create(location, name, (n_features,), (rows,), dtype, fill, _PACKED.get(name, []))
        for name, (dtype, fill) in VECTORS.items()
    }
    if name_width:
        shape, chunks = (n_features, name_width), (_name_rows(name_width), name_width)
        created["names"] = _create(location, "names", shape, chunks, "uint8", LOST, [BloscCodec(cname="zstd")])
    return created


def _name_rows(width: int) -> int:
    """Names in a chunk: a power of two, so that a piece of the vectors is whole chunks of names too."""
    return int(min(VECTOR_CHUNK, 1 << (NAME_CHUNK_BYTES // width).bit_length() - 1))


def _create(
    location: str,
    name: str,
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    dtype: str,
    fill: float,
    packed: list[Any],
) -> zarr.Array[Any]:
    return zarr.create_array(
        locate.zarr_store(location),
        name=name,
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        fill_value=fill,
        compressors=[*packed, Crc32cCodec()],
        filters=None,
        zarr_format=3,
        overwrite=True,
    )
