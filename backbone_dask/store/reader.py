"""Reading a finished zarr store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import zarr
from numpy.typing import NDArray

from backbone_dask.columns import Columns, all_finite
from backbone_dask.errors import CorruptBlockError, StoreError
from backbone_dask.store import locate
from backbone_dask.store.arrays import VECTOR_CHUNK
from backbone_dask.store.base import FeatureStore, found, only_one
from backbone_dask.store.chunks import LocalChunks, local_vector
from backbone_dask.store.documents import ROOT, open_array, read_attributes, require_seal
from backbone_dask.store.gathering import gathered
from backbone_dask.store.missing import admit
from backbone_dask.store.names import LOST, decoded
from backbone_dask.store.schema import MissingPolicy, require_finished, require_policy, schema_from
from backbone_dask.store.synthetic.truths import truth_from_json
from backbone_dask.store.targets import LazyTargets
from backbone_dask.values import CandidateIds, FeatureBlock, Target

T = TypeVar("T")


class ZarrStore(FeatureStore):
    """A store on disk or behind any URL that fsspec opens. A worker gets the location and opens it anew."""

    waits = True

    def __init__(self, location: str | os.PathLike[str], missing: MissingPolicy | None = None) -> None:
        self.location = locate.plain(location)
        self._place = locate.absolute(self.location)
        self._stamp = locate.stamp(self._place, ROOT)
        content = _content(self.location)
        self.schema = schema_from(content)
        self.n_features, self.n_samples = self.schema.n_features, self.schema.n_samples
        self.dtype = np.dtype(self.schema.dtype)
        self.named, self.missing = self.schema.named, require_policy(missing or self.schema.missing)
        self._asked = missing
        self.truth = truth_from_json(content["truth"]) if content["truth"] else None
        self.labels, self.origin = content.get("labels", {}), content.get("origin")
        self._has_samples = "samples" in content
        self._documents: dict[str, str] = content["documents"]
        self._seal = str(content["seal"])
        self._targets = LazyTargets(list(content["targets"]), self._read_target)
        # Per store, not per module: a store that was written again must not answer from the old one's cache.
        self._array = lru_cache(maxsize=None)(self._open_array)
        self._vector_part = lru_cache(maxsize=8)(self._read_vector_part)
        folder = None if locate.is_url(self._place) else Path(self._place, "X", "c")
        self._chunks = None if folder is None else LocalChunks(folder, self.schema)

    def __reduce__(self) -> tuple[type[ZarrStore], tuple[str, MissingPolicy | None]]:
        return ZarrStore, (self._place, self._asked)

    @property
    def identity(self) -> str:
        recoded = self.dtype.kind != "f" and self.missing != self.schema.missing
        return f"{self._place} {self._seal} {self._stamp}" + (f" missing={self.missing}" if recoded else "")

    @property
    def targets(self) -> Mapping[str, Target]:
        """Each is read when it is asked for, and then kept."""
        return self._targets

    @property
    def sample_ids(self) -> list[str] | None:
        if not self._has_samples:
            return None
        rows = self._guarded(lambda: np.asarray(self._array("samples")[:], np.uint8), "sample ids")
        self._require(rows[:, 0] != LOST, np.zeros(self.n_samples, np.int64), "samples")
        return decoded(rows)

    def read(self, block: FeatureBlock) -> Columns:
        """The columns of one block; a byte that was changed on disk raises CorruptBlockError."""
        self.require_block(block)
        ids = np.arange(block.start, block.stop)
        return self._whole(lambda: self._rows(block.start, block.stop), ids, f"block {block.index}, ")

    def gather(self, ids: CandidateIds) -> Columns:
        """The columns of ids from anywhere, in their order."""
        self.require_ids(ids)
        return self._whole(lambda: gathered(self._rows, self.schema, ids), ids, "")

    def names(self, ids: CandidateIds) -> list[str]:
        if not self.named:
            return super().names(ids)
        self.require_ids(ids)
        rows = self._guarded(lambda: np.asarray(self._array("names").oindex[ids, :], np.uint8), "names")
        self._require(rows[:, 0] != LOST, ids, "names")
        return decoded(rows)

    def find(self, names: list[str]) -> CandidateIds:
        if not self.named:
            return super().find(names)
        return found(names, only_one(names, self._all_names(), self.location), self.location)

    def missing_counts(self) -> NDArray[np.int64]:
        """Missing values of every feature, shape (features,)."""
        counts = [self._vector_part("missing", index) for index in range(-(-self.n_features // VECTOR_CHUNK))]
        return np.concatenate(counts)

    @property
    def block_features(self) -> int:
        wanted = super().block_features
        return max(1, wanted // self.schema.chunk_features) * self.schema.chunk_features

    def _rows(self, start: int, stop: int) -> NDArray[Any]:
        # Opened in any case, once: that is when its document is checked.
        array, stop = self._array("X"), min(stop, self.n_features)
        values = None if self._chunks is None else self._chunks.rows(start, stop)
        return np.asarray(array[start:stop]) if values is None else values

    def _all_names(self) -> Iterator[tuple[int, str]]:
        for start in range(0, self.n_features, VECTOR_CHUNK):
            stop = min(start + VECTOR_CHUNK, self.n_features)
            yield from enumerate(self.names(np.arange(start, stop)), start)

    def _whole(self, read: Callable[[], Any], ids: CandidateIds, where: str) -> Columns:
        """Columns of which every byte was checked; on damage, the chunk it is in."""
        try:
            values = np.asarray(self._guarded(read, "X"))
        except CorruptBlockError as cause:
            self._blame(ids, where)
            raise StoreError(f"{cause}; read again, it was whole") from cause
        columns = Columns(values, self._vector("mean", ids), self._vector("scale", ids), self.schema.missing_code)
        self._require(~self._lost(columns, ids), ids, "X", where)
        return columns if self._as_declared(columns) else self._admitted(values, ids)

    def _as_declared(self, columns: Columns) -> bool:
        """Whether no value is missing but by its code: another program may have written to the store."""
        if self.dtype.kind == "f":
            return all_finite(columns.values)
        return self.missing == self.schema.missing

    def _admitted(self, values: NDArray[Any], ids: CandidateIds) -> Columns:
        policy = self._asked or "refuse"
        return admit(values, policy, lambda row: self.label(int(ids[row])))[0]

    def _blame(self, ids: CandidateIds, where: str) -> None:
        for index in np.unique(ids // self.schema.chunk_features):
            start = int(index) * self.schema.chunk_features
            stop = min(start + self.schema.chunk_features, self.n_features)
            what = f"{where}features {start} to {stop - 1} (file {self._file('X', start)})"
            self._guarded(lambda start=start, stop=stop: self._array("X")[start:stop], what)  # type: ignore[misc]

    def _lost(self, columns: Columns, ids: CandidateIds) -> NDArray[np.bool_]:
        """Columns that zarr made up for a chunk that is not there, whether it is a file or a part of a shard.

        No float column consists of NaN. An integer column may consist of the fill value; then its mean, or the number
        of its missing values, says so.
        """
        if self.dtype.kind == "f":
            lost = np.isnan(columns.values[:, 0])
            lost[lost] = np.isnan(columns.values[lost]).all(axis=1)
            return np.asarray(lost)
        suspects = np.flatnonzero(columns.values[:, 0] == self.schema.fill)
        suspects = suspects[(columns.values[suspects] == self.schema.fill).all(axis=1)]
        lost = np.zeros(ids.size, bool)
        if self.schema.missing_code is None:
            lost[suspects] = columns.mean[suspects] != self.schema.fill
        else:
            lost[suspects] = self._vector("missing", ids[suspects]) != self.n_samples
        return lost

    def _vector(self, name: str, ids: CandidateIds) -> NDArray[np.float64]:
        """Of ids in any order."""
        cuts = np.flatnonzero(np.diff(ids // VECTOR_CHUNK)) + 1
        runs = [run for run in np.split(ids, cuts) if run.size]
        return np.concatenate([np.empty(0), *(self._run(name, run) for run in runs)])

    def _run(self, name: str, ids: CandidateIds) -> NDArray[np.float64]:
        """Of ids that lie in one part."""
        index, first = divmod(int(ids[0]), VECTOR_CHUNK)
        part = self._vector_part(name, index)
        if (np.diff(ids) == 1).all():
            return part[first : first + ids.size]
        return part[ids - index * VECTOR_CHUNK]

    def _read_vector_part(self, name: str, index: int) -> NDArray[Any]:
        start = index * VECTOR_CHUNK
        values = self._guarded(lambda: self._vector_values(name, index), f"vector {name!r}")
        # The fill values are NaN and -1.
        self._require(values >= 0 if name != "mean" else ~np.isnan(values), start + np.arange(values.size), name)
        return values

    def _vector_values(self, name: str, index: int) -> NDArray[Any]:
        array, start = self._array(name), index * VECTOR_CHUNK
        local = None if locate.is_url(self._place) else local_vector(Path(self._place, name, "c"), index)
        if local is None or name == "missing":
            return np.asarray(array[start : start + VECTOR_CHUNK])
        return local[: self.n_features - start]

    def _read_target(self, name: str) -> Target:
        values = self._guarded(lambda: np.asarray(self._array(f"targets/{name}")[:]), f"target {name!r}")
        self._require(~np.isnan(values), np.zeros(self.n_samples, np.int64), f"targets/{name}")
        return values

    def _open_array(self, name: str) -> zarr.Array[Any]:
        return open_array(self._place, name, self._documents)

    def _file(self, name: str, j: int) -> str:
        """The file of array `name` that holds feature j."""
        array = self._array(name)
        rows = (array.shards or array.chunks)[0]
        return f"{name}/c/{j // rows}" + "/0" * (array.ndim - 1)

    def _require(self, present: NDArray[np.bool_], ids: CandidateIds, name: str, where: str = "") -> None:
        if present.all():
            return
        j = int(ids[np.flatnonzero(~present)[0]])
        what = "values" if name.startswith(("targets/", "samples")) else f"feature {j}"
        raise CorruptBlockError(
            f"{where}{what} of {self.location}: the file {self._file(name, j)} is missing or has a hole; "
            "restore it or write the store again"
        )

    def _guarded(self, read: Callable[[], T], what: str) -> T:
        try:
            answer = read()
            self._require_same()
            return answer
        except StoreError:
            self._require_same()
            raise
        except (ValueError, RuntimeError, IndexError) as cause:
            self._require_same()
            raise CorruptBlockError(
                f"{what} of {self.location} does not match its checksum ({cause}); "
                "the bytes on disk have changed: restore the file or write the store again"
            ) from cause
        except OSError as cause:
            raise StoreError(f"{what} of {self.location} cannot be read: {cause}") from cause

    def _require_same(self) -> None:
        """A store that was overwritten is another one: its columns do not go with the means of the old one."""
        if locate.stamp(self._place, ROOT) != self._stamp:
            raise StoreError(f"{self.location} was written again after it was opened; open it again")


def _content(location: str) -> dict[str, Any]:
    """What the store says of itself, after every check that the root document allows."""
    try:
        content = require_finished(read_attributes(location), location)
    except (FileNotFoundError, NotADirectoryError) as cause:
        raise StoreError(f"there is no store at {location}{locate.remnants(location)}") from cause
    except StoreError:
        raise
    except OSError as cause:
        raise StoreError(f"{location} cannot be read: {cause}") from cause
    require_seal(content, location)
    return content
