"""Chunks of a matrix straight from local files: zarr's way there costs more than reading, checking and decoding."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
from numcodecs import blosc
from numpy.typing import NDArray

from backbone_dask.store.schema import Schema

_CHECKSUM = 4
_ENTRY = 16
"""Bytes of a chunk's place in its shard: offset and length."""


@dataclass(frozen=True, slots=True)
class LocalChunks:
    """The chunk files of array X in a local store, as `arrays.create_matrix` lays them out."""

    folder: Path
    schema: Schema

    def rows(self, start: int, stop: int) -> NDArray[Any] | None:
        """Features [start, stop); None if any chunk is not there whole: zarr then says what is wrong with it."""
        step = self.schema.chunk_features
        first = start // step
        parts = []
        for index in range(first, -(-stop // step)):
            chunk = self._chunk(index)
            if chunk is None:
                return None
            parts.append(chunk)
        joined = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return joined[start - first * step : stop - first * step]

    def _chunk(self, index: int) -> NDArray[Any] | None:
        try:
            return self._decoded(self._bytes(index))
        except (OSError, ValueError, RuntimeError, OverflowError):
            return None

    def _bytes(self, index: int) -> NDArray[np.uint8]:
        if not self.schema.shard_features:
            return np.fromfile(self._file(index), np.uint8)
        in_shard = self.schema.shard_features // self.schema.chunk_features
        shard, place = divmod(index, in_shard)
        path = self._file(shard)
        table = path.stat().st_size - _CHECKSUM - in_shard * _ENTRY
        entries = _checked(np.fromfile(path, np.uint8, offset=table)).view("<u8").reshape(in_shard, 2)
        offset, length = map(int, entries[place])
        return np.fromfile(path, np.uint8, count=length, offset=offset)

    def _file(self, index: int) -> Path:
        return self.folder / str(index) / "0"

    def _decoded(self, content: NDArray[np.uint8]) -> NDArray[Any]:
        body = _checked(content)
        if not self.schema.dtype.startswith("float"):
            body = np.frombuffer(blosc.decompress(body), np.uint8)
        return body.view(self.schema.dtype).reshape(self.schema.chunk_features, self.schema.n_samples)


def local_vector(folder: Path, index: int) -> NDArray[np.float64] | None:
    """Chunk `index` of a vector of float64 in a local store; None if it is not there whole."""
    try:
        return _checked(np.fromfile(folder / str(index), np.uint8)).view(np.float64)
    except (OSError, ValueError):
        return None


def _checked(content: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The bytes before their checksum."""
    body, kept = content[:-_CHECKSUM], content[-_CHECKSUM:]
    if not body.size or google_crc32c.value(body) != int.from_bytes(kept.tobytes(), "little"):
        raise ValueError("the checksum does not match")
    return body
