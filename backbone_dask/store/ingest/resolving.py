"""The targets that people name, as values for the samples of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.columns import closest, no_column
from backbone_dask.store.ingest.joining import Column, places, require_distinct_ids, taken
from backbone_dask.store.ingest.naming import all_names
from backbone_dask.store.ingest.request import Request, target_file
from backbone_dask.store.ingest.table import Table
from backbone_dask.store.ingest.target_files import as_text, lengths, numbers_or_text, read_columns

# Of the ids of a table: a column that has so many of them holds ids.
_SHARE = 0.5


def target_columns(request: Request, table: Table, note: list[str]) -> dict[str, Column]:
    """Every target by name; `note` hears of what was taken for granted."""
    found: dict[str, Column] = {}
    for target in request.targets:
        file = target_file(target)
        columns = _own(target, table) if file is None else _joined(*file, request.sample_id, table, note)
        for name, column in columns.items():
            if name in found:
                raise InvalidDataError(f"two targets are called {name!r} (--target {target}); name each once")
            found[name] = column
    return found


def require_known(request: Request, table: Table) -> None:
    """Refuse names of columns that the table does not have."""
    if request.sample_id is not None and table.sample_ids is None:
        raise _lacking(table, request.sample_id, "--sample-id")
    if table.excluded is not None:
        for name in request.exclude:
            if name not in table.excluded:
                raise _lacking(table, name, "--exclude")


def _lacking(table: Table, name: str, option: str) -> InvalidDataError:
    return no_column(table.location, name, option, chain(table.fields, chain.from_iterable(all_names(table))))


def _own(name: str, table: Table) -> dict[str, Column]:
    if name not in table.fields:
        raise _lacking(table, name, "--target")
    return {name: Column(table.location, numbers_or_text(np.asarray(table.fields[name])))}


def _joined(path: str, column: str | None, sample_id: str | None, table: Table, note: list[str]) -> dict[str, Column]:
    """Columns of a file for the samples of the table: by id where both have ids, else in order."""
    columns = read_columns(path)
    by_id = sample_id is not None and sample_id in columns
    if column is not None and column not in columns:
        raise InvalidDataError(f"{path} has no column {column!r}; {closest(column, columns)}")
    chosen = {name: columns[name] for name in ([column] if column else columns) if not (by_id and name == sample_id)}
    if not chosen:
        raise InvalidDataError(f"{path} has no column beside {sample_id!r}; a target needs one")
    if by_id:
        at, unknown = _by_id(columns[sample_id or ""], path, table)
    else:
        at, unknown = _in_order(columns, path, sample_id, table), ()
        note.append(f"{path} is taken in the order of its rows")
    return {name: Column(path, taken(numbers_or_text(values), at), unknown) for name, values in chosen.items()}


def _by_id(values: NDArray[Any], path: str, table: Table) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    row_ids = as_text(values)
    require_distinct_ids(row_ids, path)
    return places(table.sample_ids or (), row_ids)


def _in_order(columns: Mapping[str, NDArray[Any]], path: str, sample_id: str | None, table: Table) -> NDArray[np.int64]:
    rows = lengths(columns)
    for name in _holders(columns, table.sample_ids):
        raise InvalidDataError(f"column {name!r} of {path} holds sample ids; say --sample-id {name}")
    if rows == table.n_samples:
        return np.arange(rows)
    lacks = f"has no column {sample_id!r} ({closest(sample_id, columns)})" if sample_id else "is not joined by an id"
    raise InvalidDataError(
        f"{path} {lacks} and has {rows} rows, {table.location} has {table.n_samples} samples; "
        "say --sample-id with the name of the column that holds the ids"
    )


def _holders(columns: Mapping[str, NDArray[Any]], ids: Sequence[str] | None) -> Iterator[str]:
    """Columns that hold the ids of samples."""
    known = set(ids or ())
    for name, values in columns.items() if known else ():
        if len(known.intersection(as_text(values))) > _SHARE * len(known):
            yield name
