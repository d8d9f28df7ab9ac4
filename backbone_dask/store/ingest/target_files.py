"""Small tables beside the big one: targets by sample, from CSV, TSV or Parquet."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import locate
from backbone_dask.store.ingest.arrow import arrow

MISSING_TEXT = frozenset({"", "na", "nan", "n/a", "null", "."})
"""Text that stands for no value, in small letters."""


def read_columns(path: str) -> dict[str, NDArray[Any]]:
    """The columns of a table by name: text as it is in the file, or what Parquet holds."""
    if path.lower().endswith((".parquet", ".pq")):
        return _parquet(path)
    return _delimited(path)


def as_text(values: NDArray[Any]) -> list[str]:
    """Ids as people write them: a whole number has no point."""
    if values.dtype.kind == "f":
        return [f"{value:.0f}" if value == np.floor(value) else str(value) for value in values.tolist()]
    return [each.decode() if isinstance(each, bytes) else str(each) for each in values.tolist()]


def numbers_or_text(values: NDArray[Any]) -> NDArray[Any]:
    """float64 with NaN where there is no value, if all others are numbers; else text, empty where there is none."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    text = ["" if each is None or each != each else _plain(each) for each in values.tolist()]
    present = np.array([each.lower() not in MISSING_TEXT for each in text])
    try:
        return np.array([float(each) if there else np.nan for each, there in zip(text, present, strict=True)])
    except ValueError:
        return np.where(present, np.array(text, object), "")


def _plain(value: Any) -> str:
    return (value.decode() if isinstance(value, bytes) else str(value)).strip()


def _parquet(path: str) -> dict[str, NDArray[Any]]:
    pq = arrow("parquet")
    try:
        system, place = locate.filesystem(path)
        with system.open(place, "rb") as stream:
            table = pq.read_table(stream)
    except (OSError, ValueError) as cause:
        raise InvalidDataError(f"{path} cannot be read as Parquet: {cause}") from cause
    _require_distinct(table.column_names, path)
    return {name: column.to_numpy() for name, column in zip(table.column_names, table.columns, strict=True)}


def _delimited(path: str) -> dict[str, NDArray[Any]]:
    rows = _rows(_text(path), path)
    header = next(rows, None)
    if not header:
        raise InvalidDataError(f"{path} is empty; it needs a header and a row for each sample")
    _require_distinct(header, path)
    body = [row for _, row in _whole(rows, len(header), path)]
    return {name: np.array([row[at] for row in body], object) for at, name in enumerate(header)}


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


def lengths(columns: Mapping[str, NDArray[Any]]) -> int:
    """Rows of a table of columns."""
    return len(next(iter(columns.values()), ()))
