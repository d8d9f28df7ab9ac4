"""Small tables beside the big one: targets by sample, from CSV, TSV or Parquet."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import locate
from backbone_dask.store.ingest.arrow import arrow, plain_values
from backbone_dask.store.ingest.target_values import Cells


@dataclass(frozen=True, slots=True)
class TargetFile:
    """A table in memory: columns by name, text as it is in the file, or what Parquet holds; and the rows' numbers."""

    path: str
    columns: Mapping[str, NDArray[Any]]
    rows: Sequence[int]

    def cells(self, name: str) -> Cells:
        return Cells(name, self.path, self.columns[name], lambda at: f"row {self.rows[at]}")


def read_target_file(path: str) -> TargetFile:
    """All of a small table; one without rows is refused."""
    found = _parquet(path) if path.lower().endswith((".parquet", ".pq")) else _delimited(path)
    if not len(found.rows):
        raise InvalidDataError(f"{path} has a header and no rows; it needs a row for each sample")
    return found


def as_text(values: NDArray[Any]) -> list[str]:
    """Ids as people write them: a whole number has no point, and what is missing is empty."""
    return [_as_text(each) for each in values.tolist()]


def _as_text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return value.decode() if isinstance(value, bytes) else str(value)


def _parquet(path: str) -> TargetFile:
    pq = arrow("parquet")
    try:
        system, place = locate.filesystem(path)
        with system.open(place, "rb") as stream:
            table = pq.read_table(stream)
    except (OSError, ValueError) as cause:
        raise InvalidDataError(f"{path} cannot be read as Parquet: {cause}") from cause
    _require_distinct(table.column_names, path)
    columns = {name: plain_values(column) for name, column in zip(table.column_names, table.columns, strict=True)}
    return TargetFile(path, columns, range(1, table.num_rows + 1))


def _delimited(path: str) -> TargetFile:
    rows = _rows(_text(path), path)
    header = next(rows, None)
    if not header:
        raise InvalidDataError(f"{path} is empty; it needs a header and a row for each sample")
    _require_distinct(header, path)
    body = list(_whole(rows, len(header), path))
    columns = {name: np.array([row[at] for _, row in body], object) for at, name in enumerate(header)}
    return TargetFile(path, columns, [number for number, _ in body])


def _whole(rows: Iterator[list[str]], width: int, path: str) -> Iterator[tuple[int, list[str]]]:
    for number, row in enumerate(rows, 2):
        if row and len(row) != width:
            raise InvalidDataError(
                f"row {number} of {path} has {len(row)} values, the header has {width}; mend that row"
            )
        if row:
            yield number, row


def _text(path: str) -> str:
    try:
        system, place = locate.filesystem(path)
        content: bytes = system.cat_file(place)
        return (gzip.decompress(content) if path.lower().endswith(".gz") else content).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as cause:
        raise InvalidDataError(f"{path} cannot be read as text: {cause}") from cause


def _rows(text: str, path: str) -> Iterator[list[str]]:
    first = text.partition("\n")[0]
    delimiter = next((each for each in "\t,;" if each in first), None)
    if delimiter is None and len(first.split()) > 1:
        return (line.split() for line in text.splitlines())
    return ([value.strip() for value in row] for row in csv.reader(io.StringIO(text), delimiter=delimiter or ","))


def _require_distinct(names: Sequence[str], path: str) -> None:
    seen: dict[str, int] = {}
    for at, name in enumerate(names, 1):
        if name in seen:
            raise InvalidDataError(f"columns {seen[name]} and {at} of {path} are both called {name!r}; rename one")
        seen[name] = at
