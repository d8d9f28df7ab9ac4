"""The on-disk format: what a store holds, how it is cut into chunks, and which version wrote it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from backbone_dask.errors import FormatVersionError, IncompleteStoreError, InvalidDataError, StoreError
from backbone_dask.values import FeatureBlock

FORMAT = 1
ATTRIBUTE = "backbone_dask"
DTYPES = ("float32", "float64", "int8", "uint8")
CHUNK_BYTES = 8 << 20
CHUNKS_PER_SHARD = 16
# More files than this hurt most file systems; then chunks are packed into shards.
MOST_FILES = 4096

MissingPolicy = Literal["refuse", "mean"]
# In an integer matrix this code marks a missing value.
MISSING_CODES = {"int8": -128, "uint8": 255}


@dataclass(frozen=True, slots=True)
class Schema:
    """Shape, dtype and cut of one store. Chunks and shards run along features only."""

    n_features: int
    n_samples: int
    dtype: str
    missing: MissingPolicy
    chunk_features: int
    shard_features: int | None
    named: bool

    @property
    def partition_features(self) -> int:
        """Features in the smallest part that can be written on its own: a shard, or a chunk where there are none."""
        return self.shard_features or self.chunk_features

    @property
    def n_partitions(self) -> int:
        return -(-self.n_features // self.partition_features)

    @property
    def n_bytes(self) -> int:
        return self.n_features * self.n_samples * np.dtype(self.dtype).itemsize

    @property
    def missing_code(self) -> int | None:
        return MISSING_CODES.get(self.dtype) if self.missing == "mean" else None

    def partition(self, index: int) -> FeatureBlock:
        if not 0 <= index < self.n_partitions:
            raise InvalidDataError(f"partition {index} does not exist; there are {self.n_partitions}, from 0")
        start = index * self.partition_features
        return FeatureBlock(index, start, min(start + self.partition_features, self.n_features))

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self)}


def plan_schema(
    n_features: int, n_samples: int, dtype: str, *, missing: MissingPolicy = "refuse", named: bool = False
) -> Schema:
    """Cut a matrix into chunks of about 8 MB of whole features, in shards where the files would be too many."""
    if dtype not in DTYPES:
        raise InvalidDataError(f"a store cannot hold {dtype}; convert to one of {', '.join(DTYPES)}")
    if n_features < 1 or n_samples < 1:
        raise InvalidDataError(f"a store needs at least one feature and one sample, not {n_features} x {n_samples}")
    if missing not in get_args(MissingPolicy):
        raise InvalidDataError(f"missing policy {missing!r} is unknown; use one of {', '.join(get_args(MissingPolicy))}")
    chunk = max(1, min(n_features, CHUNK_BYTES // (n_samples * np.dtype(dtype).itemsize)))
    many = -(-n_features // chunk) > MOST_FILES
    return Schema(n_features, n_samples, dtype, missing, chunk, chunk * CHUNKS_PER_SHARD if many else None, named)


def read_schema(attributes: dict[str, Any], url: str) -> Schema:
    """The schema of a finished store; says what is wrong with anything else."""
    if ATTRIBUTE not in attributes:
        raise StoreError(f"{url} is a zarr group, but not a feature store; make one with `backbone-dask simulate`")
    found = dict(attributes[ATTRIBUTE])
    version = found.pop("format", None)
    if version != FORMAT:
        raise FormatVersionError(
            f"{url} has store format {version}, this version reads format {FORMAT}; "
            "write the store again, or use the version of backbone_dask that wrote it"
        )
    if not found.pop("complete", False):
        raise IncompleteStoreError(f"{url} was never finalised; write the missing partitions and finalise it")
    return Schema(**found)
