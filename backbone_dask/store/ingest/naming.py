"""Names of features: from a file beside the table, and no two alike, without a string of each in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.table import Table
from backbone_dask.values import FeatureBlock

_STEP = 1 << 16
# Lines between two known places in a file of names.
_STRIDE = 1 << 10


class Renamed(Table):
    """A table whose features are called what a file says, one name a line."""

    def __init__(self, table: Table, path: str) -> None:
        self._table, self._path = table, path
        self.location, self.files = table.location, (*table.files, path)
        self.n_samples, self.n_features = table.n_samples, table.n_features
        self.dtype, self.missing, self.excluded = table.dtype, table.missing, table.excluded
        self.id_column = table.id_column
        self._places, lines = _places(path)
        if lines != self.n_features:
            raise InvalidDataError(
                f"{path} has {lines} names, {table.location} has {self.n_features} features; "
                "write a line for each feature, in the order of the columns"
            )

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        return self._table.read(block)

    def names(self, start: int, stop: int) -> list[str]:
        first = start // _STRIDE
        with open(self._path, "rb") as stream:
            stream.seek(self._places[first])
            lines = islice(stream, start - first * _STRIDE, stop - first * _STRIDE)
            return [_decoded(line, self._path) for line in lines]

    def part_of(self, j: int) -> str:
        return self._path

    @property
    def sample_ids(self) -> Sequence[str] | None:
        return self._table.sample_ids

    @property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        return self._table.fields


def all_names(table: Table) -> Iterator[list[str]]:
    """The names of all features, some thousands at a time; nothing if they have none."""
    for start in range(0, table.n_features, _STEP):
        names = table.names(start, min(start + _STEP, table.n_features))
        if names is None:
            return
        yield names


def require_distinct(table: Table) -> None:
    """Refuse a table in which two features have one name."""
    hashes = np.concatenate(
        [np.empty(0, np.int64), *(np.fromiter(map(hash, names), np.int64, len(names)) for names in all_names(table))]
    )
    order = np.sort(hashes)
    twice = set(order[1:][order[1:] == order[:-1]].tolist())
    if twice:
        _refuse_same(table, np.flatnonzero(np.isin(hashes, list(twice))).tolist())


def _refuse_same(table: Table, suspects: list[int]) -> None:
    """Two names may have one hash: the names themselves decide."""
    seen: dict[str, int] = {}
    for j in suspects:
        (name,) = table.names(j, j + 1) or [""]
        if name in seen:
            first, second = table.part_of(seen[name]), table.part_of(j)
            where = f"of {first}" if first == second else f"({first} and {second})"
            raise InvalidDataError(
                f"features {seen[name]} and {j} {where} are both called {name!r}; "
                f"rename one, or leave both out with --exclude {name}"
            )
        seen[name] = j


def _places(path: str) -> tuple[list[int], int]:
    """Where every so many lines begin, and how many lines there are."""
    places, at, lines = [0], 0, 0
    try:
        with open(path, "rb") as stream:
            for line in stream:
                at, lines = at + len(line), lines + 1
                if not line.strip():
                    raise InvalidDataError(f"{path}, line {lines} is blank; name the feature, or remove the line")
                if lines % _STRIDE == 0:
                    places.append(at)
    except OSError as cause:
        raise InvalidDataError(f"the names in {path} cannot be read: {cause}") from cause
    return places, lines


def _decoded(line: bytes, path: str) -> str:
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError as cause:
        raise InvalidDataError(f"{path} is not UTF-8 text ({cause}); save it as UTF-8") from cause
