"""Writing a store: init, then every partition on any machine, then finalise. Until then it has another name."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import BloscCodec, Crc32cCodec

from backbone_dask.errors import IncompleteStoreError, InvalidDataError, StoreError
from backbone_dask.store import locate
from backbone_dask.store.missing import admit
from backbone_dask.store.schema import ATTRIBUTE, Schema
from backbone_dask.store.synthetic.truths import Truth
from backbone_dask.values import Target

VECTOR_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Draft:
    """A store that is being written. Small to pickle: many machines can write its partitions."""

    location: str
    schema: Schema

    @property
    def scratch(self) -> str:
        return self.location + ".partial"

    def pending(self) -> list[int]:
        """Partitions that are not written yet."""
        system, folder = locate.filesystem(self._parts)
        done = {os.path.basename(path) for path in system.ls(folder, detail=False)} if system.exists(folder) else set()
        return [index for index in range(self.schema.n_partitions) if _part_name(index) not in done]

    def write_partition(self, index: int, values: NDArray[Any], names: Sequence[str] | None = None) -> None:
        """Write partition `index`: raw columns (features, samples), and their names if the store has names."""
        block = self.schema.partition(index)
        self._check(index, values, names)
        columns, absent = admit(values, self.schema.missing, first=block.start)
        with locate.disk_errors(self.scratch):
            zarr.open_group(locate.zarr_store(self.scratch), mode="r+")["X"][block.start : block.stop] = columns.values
            # The part file comes last: it says that the partition is whole.
            self._save_part(index, mean=columns.mean, scale=columns.scale, missing=absent, names=_encoded(names or ()))

    def finalise(self) -> None:
        """Check that every partition is there, write the vectors, and give the store its name."""
        lacking = self.pending()
        if lacking:
            raise IncompleteStoreError(
                f"{self.location} lacks {len(lacking)} of {self.schema.n_partitions} partitions "
                f"(first: {lacking[0]}); write them, then finalise"
            )
        with locate.disk_errors(self.scratch):
            self._write_vectors()
        locate.remove(self.location)
        locate.publish(self.scratch, self.location)

    def _check(self, index: int, values: NDArray[Any], names: Sequence[str] | None) -> None:
        expected = (self.schema.partition(index).size, self.schema.n_samples)
        if values.shape != expected or values.dtype != self.schema.dtype:
            raise InvalidDataError(
                f"partition {index} must be {self.schema.dtype} of shape {expected}, not {values.dtype} {values.shape}"
            )
        if self.schema.named and (names is None or len(names) != expected[0]):
            raise InvalidDataError(f"partition {index} needs {expected[0]} names")

    @property
    def _parts(self) -> str:
        return f"{self.scratch}/parts"

    def _save_part(self, index: int, **arrays: NDArray[Any]) -> None:
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        system, folder = locate.filesystem(self._parts)
        system.makedirs(folder, exist_ok=True)
        unfinished = f"{folder}/.{index}.{os.getpid()}"
        system.pipe_file(unfinished, buffer.getvalue())
        system.mv(unfinished, f"{folder}/{_part_name(index)}")

    def _load_part(self, index: int) -> dict[str, NDArray[Any]]:
        system, folder = locate.filesystem(self._parts)
        with system.open(f"{folder}/{_part_name(index)}", "rb") as stream, np.load(stream) as part:
            return dict(part)

    def _write_vectors(self) -> None:
        group = zarr.open_group(locate.zarr_store(self.scratch), mode="r+")
        parts = [self._load_part(index) for index in range(self.schema.n_partitions)]
        for name in ("mean", "scale", "missing"):
            _create(group, name, np.concatenate([part[name] for part in parts]), VECTOR_CHUNK)
        if self.schema.named:
            _create(group, "names", _stacked([part["names"] for part in parts]), VECTOR_CHUNK)
        group.attrs[ATTRIBUTE] = {**self.schema.to_json(), "complete": True}
        locate.remove(self._parts)


def init_store(
    location: str | os.PathLike[str],
    schema: Schema,
    *,
    targets: Mapping[str, Target] | None = None,
    truth: Truth | None = None,
    overwrite: bool = False,
) -> Draft:
    """Begin a store, or go on with the same one where a killed writer left it."""
    draft = Draft(locate.plain(location), schema)
    if locate.exists(draft.location) and not overwrite:
        raise StoreError(f"{draft.location} exists; choose another name, or ask to overwrite it")
    identity = {ATTRIBUTE: {**schema.to_json(), "complete": False}, "truth": truth.to_json() if truth else None}
    if _identity(draft.scratch) != identity:
        locate.remove(draft.scratch)
        locate.require_space(draft.location, schema.n_bytes if schema.dtype.startswith("float") else 0)
        with locate.disk_errors(draft.scratch):
            _create_group(draft, targets or {}, identity)
    return draft


def _identity(scratch: str) -> dict[str, Any] | None:
    try:
        return dict(zarr.open_group(locate.zarr_store(scratch, read_only=True), mode="r").attrs)
    except (FileNotFoundError, KeyError):
        return None


def _create_group(draft: Draft, targets: Mapping[str, Target], identity: dict[str, Any]) -> None:
    schema = draft.schema
    group = zarr.open_group(locate.zarr_store(draft.scratch), mode="w", zarr_format=3)
    group.create_array(
        "X",
        shape=(schema.n_features, schema.n_samples),
        dtype=schema.dtype,
        chunks=(schema.chunk_features, schema.n_samples),
        shards=(schema.shard_features, schema.n_samples) if schema.shard_features else None,
        compressors=_codecs(schema.dtype),
        filters=None,
        fill_value=fill_value(schema.dtype),
        dimension_names=("feature", "sample"),
        config={"write_empty_chunks": True},
    )
    folder = group.create_group("targets")
    for name, values in targets.items():
        _create(folder, name, _checked_target(name, values, schema.n_samples), schema.n_samples)
    # The attributes come last: a group without them is begun anew.
    group.attrs.update(identity)


def _codecs(dtype: str) -> list[Any]:
    # Gaussian floats shrink by 6-11 %, which is not worth the time; genotypes shrink fourfold.
    packed = [] if dtype.startswith("float") else [BloscCodec(cname="lz4", shuffle="bitshuffle")]
    return [*packed, Crc32cCodec()]


def fill_value(dtype: str) -> float | int:
    """What zarr returns for a chunk that is not there: a value that a whole stored chunk hardly consists of."""
    return {"int8": -128, "uint8": 255}.get(dtype, float("nan"))


def _checked_target(name: str, values: Target, n_samples: int) -> Target:
    target = np.asarray(values, np.float64)
    if target.shape != (n_samples,):
        raise InvalidDataError(f"target {name!r} has shape {target.shape}, the store has {n_samples} samples")
    return target


def _create(group: zarr.Group, name: str, values: NDArray[Any], chunk: int) -> None:
    chunks = (min(chunk, values.shape[0]), *values.shape[1:])
    array = group.create_array(
        name, shape=values.shape, dtype=values.dtype, chunks=chunks, compressors=[Crc32cCodec()], filters=None
    )
    array[:] = values


def _encoded(names: Sequence[str]) -> NDArray[np.uint8]:
    """Names as UTF-8 bytes, shape (features, width), padded with zeros: every zarr reader can read them."""
    raw = [name.encode() for name in names]
    width = max((len(name) for name in raw), default=1) or 1
    return np.array([list(name.ljust(width, b"\0")) for name in raw], np.uint8).reshape(len(raw), width)


def _stacked(names: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    width = max(part.shape[1] for part in names)
    return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in names])


def _part_name(index: int) -> str:
    return f"{index:07d}.npz"
