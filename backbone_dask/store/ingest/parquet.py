"""Parquet: the columns of a block at a time; a file's footer is read once in a process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import locate
from backbone_dask.store.ingest.arrow import arrow, plain_values
from backbone_dask.store.ingest.casting import common_dtype
from backbone_dask.store.ingest.columns import split_columns
from backbone_dask.store.ingest.sources import stamp
from backbone_dask.store.ingest.table import Table, Wanted, Workshop
from backbone_dask.store.ingest.target_files import as_text
from backbone_dask.values import FeatureBlock

# Whole numbers up to this are exact in float32.
_EXACT = 1 << 24


def open_table(paths: tuple[str, ...], wanted: Wanted, workshop: Workshop) -> Table:
    """The table in a Parquet file."""
    (path,) = paths
    return ParquetTable(path, wanted)


class ParquetTable(Table):
    """Every column that is not set apart is a feature, and must be of numbers."""

    def __init__(self, path: str, wanted: Wanted) -> None:
        self.location, self.files = path, (path,)
        self._mark = str(stamp(path))
        file = _file(path, self._mark)
        schema = _schema(path, self._mark)
        names = schema.names
        split = split_columns(names, wanted, path)
        self._columns, self.excluded = split.features, split.excluded
        self.n_samples, self.n_features = file.metadata.num_rows, split.features.size
        self._require_table()
        self._leaves = _leaves(schema, path, split.features)
        self.dtype = _dtype(file.metadata, schema, self._columns, self._leaves)
        self._fields = {name: _apart(file, name) for name in split.fields}
        self.id_column = None if split.sample_id is None else names[split.sample_id]
        self._ids = None if self.id_column is None else as_text(_apart(file, self.id_column))

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        file = _file(self.location, self._mark)
        leaves = self._leaves[block.start : block.stop].tolist()
        try:
            found = file.reader.read_all(column_indices=leaves, use_threads=True)
        except OSError as cause:
            raise InvalidDataError(f"{self.location} cannot be read: {cause}; write it again") from cause
        out = np.empty((block.size, self.n_samples), self.dtype)
        for at, column in enumerate(found.columns):
            _fill(out[at], column)
        return out

    def names(self, start: int, stop: int) -> list[str]:
        schema = _schema(self.location, self._mark)
        return [schema.field(int(at)).name for at in self._columns[start:stop]]

    @property
    def sample_ids(self) -> Sequence[str] | None:
        return self._ids

    @property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        return self._fields

    def _require_table(self) -> None:
        if not self.n_samples or not self.n_features:
            raise InvalidDataError(
                f"{self.location} has {self.n_samples} rows and {self.n_features} columns of features; it needs both"
            )


@lru_cache(maxsize=64)
def _file(path: str, mark: str) -> Any:
    """The open file. Its mark tells it from another that has its name later."""
    pq = arrow("parquet")
    try:
        if not locate.is_url(path):
            return pq.ParquetFile(path)
        system, place = locate.filesystem(path)
        return pq.ParquetFile(system.open(place, "rb"))
    except (OSError, ValueError) as cause:
        raise InvalidDataError(f"{path} cannot be read as Parquet ({cause}); write it again") from cause


@lru_cache(maxsize=64)
def _schema(path: str, mark: str) -> Any:
    """pyarrow makes the schema anew whenever it is asked, which takes a while for a wide file."""
    return _file(path, mark).schema_arrow


def _leaves(schema: Any, path: str, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each column is among those of the file, in which a nested one is several. All must be numbers."""
    types = arrow("types")
    for at in columns.tolist():
        kind = schema.field(at).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)):
            raise InvalidDataError(
                f"column {schema.field(at).name!r} of {path} is {kind}, not numeric; leave it out (--exclude), use it "
                "as --target or --sample-id, or convert it to numbers"
            )
    counts = [_n_leaves(field.type) for field in schema]
    return np.concatenate([[0], np.cumsum(counts)])[columns].astype(np.int64)


def _n_leaves(kind: Any) -> int:
    """Columns of the file that an Arrow column is kept in."""
    if kind.num_fields == 0:
        return 1
    return sum(_n_leaves(kind.field(at).type) for at in range(kind.num_fields))


def _apart(file: Any, name: str) -> NDArray[Any]:
    return plain_values(file.read(columns=[name]).column(0))


def _dtype(metadata: Any, schema: Any, columns: NDArray[np.int64], leaves: NDArray[np.int64]) -> np.dtype[Any]:
    """The narrowest that holds all columns; how large whole numbers are is in the statistics of the file."""
    plain = {"bool": "uint8", "halffloat": "float32", "float": "float32", "double": "float64"}
    small = {"int8": "int8", "uint8": "uint8", "int16": "float32", "uint16": "float32"}
    found = set()
    for column, leaf in zip(columns.tolist(), leaves.tolist(), strict=True):
        kind = str(schema.field(column).type)
        name = plain.get(kind) or small.get(kind) or _by_statistics(metadata, leaf, kind)
        found.add("float32" if name in ("int8", "uint8") and _has_nulls(metadata, leaf) else name)
    return common_dtype([np.dtype(name) for name in sorted(found)])


def _by_statistics(metadata: Any, leaf: int, kind: str) -> str:
    if kind.startswith("decimal"):
        return "float64"
    for group in range(metadata.num_row_groups):
        known = metadata.row_group(group).column(leaf).statistics
        if known is None or not known.has_min_max or max(-int(known.min), int(known.max)) >= _EXACT:
            return "float64"
    return "float32"


def _has_nulls(metadata: Any, leaf: int) -> bool:
    """Whether some value may be missing, so that whole numbers need a dtype with NaN."""
    counts = [metadata.row_group(group).column(leaf).statistics for group in range(metadata.num_row_groups)]
    return any(known is None or not known.has_null_count or known.null_count > 0 for known in counts)


def _fill(row: NDArray[Any], column: Any) -> None:
    """Write an Arrow column into a row; nulls become NaN."""
    at = 0
    for chunk in column.chunks:
        values = chunk.to_numpy(zero_copy_only=False)
        row[at : at + len(chunk)] = values if values.dtype.kind != "O" else values.astype(np.float64)
        at += len(chunk)
