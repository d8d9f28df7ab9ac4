"""The on-disk format: what a store holds, how it is cut into chunks, and which version wrote it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
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
    def fill(self) -> float | int:
        """What zarr returns for a chunk that is not there: no float, and an integer that hardly fills a column."""
        return MISSING_CODES.get(self.dtype, float("nan"))

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
    require_policy(missing)
    chunk = max(1, min(n_features, CHUNK_BYTES // (n_samples * np.dtype(dtype).itemsize)))
    many = -(-n_features // chunk) > MOST_FILES
    return Schema(n_features, n_samples, dtype, missing, chunk, chunk * CHUNKS_PER_SHARD if many else None, named)


def require_policy(missing: MissingPolicy) -> MissingPolicy:
    known = get_args(MissingPolicy)
    if missing not in known:
        raise InvalidDataError(f"missing policy {missing!r} is unknown; use one of {', '.join(known)}")
    return missing


def require_finished(attributes: dict[str, Any], location: str) -> dict[str, Any]:
    """What a finished store of this format says of itself; says what is wrong with anything else."""
    content = attributes.get(ATTRIBUTE)
    if not isinstance(content, dict):
        raise StoreError(f"{location} is a zarr group, but not a feature store; make one with write_store")
    if content.get("format") != FORMAT:
        raise FormatVersionError(
            f"{location} has store format {content.get('format')}, this version reads format {FORMAT}; "
            "write the store again, or use the version of backbone_dask that wrote it"
        )
    if "seal" not in content:
        raise IncompleteStoreError(
            f"{location} was never finalised, or its zarr.json is damaged; write the missing partitions and finalise it"
        )
    return content


def schema_from(content: dict[str, Any]) -> Schema:
    return Schema(**{field.name: content[field.name] for field in fields(Schema)})
