"""The targets that people name, as values for the samples of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from backbone_dask.store.ingest.target_files import TargetFile, as_text, read_target_file
from backbone_dask.store.ingest.target_values import Cells, numbers_or_text

# Of the ids of a table: a column that has so many of them holds ids.
_SHARE = 0.5


def target_columns(request: Request, table: Table, note: list[str]) -> dict[str, Column]:
    """Every target by name; `note` hears of what was taken for granted."""
    found: dict[str, Column] = {}
    for target in request.targets:
        file = _file(target, table)
        columns = _own(target, table) if file is None else _joined(*file, request, table, note)
        for name, column in columns.items():
            if name in found:
                raise InvalidDataError(f"two targets are called {name!r} (--target {target}); name each once")
            found[name] = column
    return found


def target_paths(request: Request, table: Table) -> list[str]:
    """The files that targets are read from."""
    return [file[0] for file in (_file(target, table) for target in request.targets) if file is not None]


def given_columns(given: Mapping[str, Any], table: Table) -> dict[str, Column]:
    """Targets by value: one for each sample, in their order."""
    source, found = "the given target", {}
    for name, values in given.items():
        array = np.asarray(values)
        if array.shape != (table.n_samples,):
            raise InvalidDataError(
                f"{source} {name!r} has shape {array.shape}, {table.location} has {table.n_samples} samples; "
                f"give an array of shape ({table.n_samples},)"
            )
        found[name] = Column(source, numbers_or_text(Cells(name, source, array, lambda at: f"sample {at + 1}")))
    return found


def require_known(request: Request, table: Table) -> None:
    """Refuse names of columns that the table does not have.

    A table with ids of its own need not have a column that a file of targets has.
    """
    name, shared = request.table_id, request.table_id == request.file_id
    own = table.sample_ids is not None and table.id_column is None
    if name is not None and table.id_column is None and not (own and shared and target_paths(request, table)):
        raise _lacking(table, name, "--sample-id" if shared else f"--sample-id {request.sample_id}")
    if table.excluded is not None:
        for each in request.exclude:
            if each not in table.excluded:
                raise _lacking(table, each, "--exclude")


def _lacking(table: Table, name: str, option: str) -> InvalidDataError:
    return no_column(table.location, name, option, chain(table.fields, chain.from_iterable(all_names(table))))


def _file(target: str, table: Table) -> tuple[str, str | None] | None:
    """The file and column that a target names; None if it is a column of the table, which comes first."""
    return None if target in table.fields else target_file(target)


def _own(name: str, table: Table) -> dict[str, Column]:
    if name not in table.fields:
        raise _lacking(table, name, "--target")
    ids = table.sample_ids
    cells = Cells(
        name,
        table.location,
        np.asarray(table.fields[name]),
        lambda at: f"sample {at + 1}" if ids is None else f"sample {at + 1} ({ids[at]!r})",
    )
    return {name: Column(table.location, numbers_or_text(cells))}


def _joined(path: str, column: str | None, request: Request, table: Table, note: list[str]) -> dict[str, Column]:
    """Columns of a file for the samples of the table: by id if people name the column, else in order.

    In order is only what cannot be joined: no column of ids is asked for, and the table has no ids, or the file
    nothing but the target.
    """
    file = read_target_file(path)
    if column is not None and column not in file.columns:
        raise InvalidDataError(f"{path} has no column {column!r}; {closest(column, file.columns)}")
    chosen = [name for name in ([column] if column else file.columns) if name != request.file_id]
    if not chosen:
        raise InvalidDataError(f"{path} has no column beside {request.file_id!r}; a target needs one")
    at, unknown = _in_order(file, table, note) if request.file_id is None else _by_id(file, request.file_id, table)
    return {name: Column(path, taken(numbers_or_text(file.cells(name)), at), unknown) for name in chosen}


def _by_id(file: TargetFile, name: str, table: Table) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    if name not in file.columns:
        raise _no_ids(file, name, table)
    row_ids = as_text(file.columns[name])
    require_distinct_ids(row_ids, file.path)
    return places(table.sample_ids or (), row_ids)


def _no_ids(file: TargetFile, name: str, table: Table) -> InvalidDataError:
    holder = _holder(file, table.sample_ids)
    why = closest(name, file.columns) if holder is None else f"its column {holder!r} holds them"
    said = _pair(table, "COLUMN" if holder is None else holder)
    return InvalidDataError(f"{file.path} has no column {name!r} of sample ids ({why}); say --sample-id {said}")


def _pair(table: Table, column: str) -> str:
    """What to say for --sample-id so that the file's column is joined with the ids of the table."""
    return column if table.id_column in (None, column) else f"{table.id_column}={column}"


def _in_order(file: TargetFile, table: Table, note: list[str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    ids, n_rows = table.sample_ids, len(file.rows)
    if ids is not None and len(file.columns) > 1:
        holder = _holder(file, ids)
        if holder is not None:
            raise InvalidDataError(f"column {holder!r} of {file.path} holds sample ids; say --sample-id {holder}")
        raise InvalidDataError(
            f"no column of {file.path} holds the ids of {table.location} (the first is {ids[0]!r}); say --sample-id "
            "with the column that should, or give a file of the target alone, in the order of the samples"
        )
    if n_rows != table.n_samples:
        raise InvalidDataError(
            f"{file.path} is not joined by an id and has {n_rows} rows, {table.location} has {table.n_samples} "
            "samples; say --sample-id with the name of the column that holds the ids"
        )
    note.append(f"{file.path} is taken in the order of its rows")
    return np.arange(n_rows), ()


def _holder(file: TargetFile, ids: Sequence[str] | None) -> str | None:
    """The first column that holds the ids of samples."""
    known = set(ids or ())
    for name, values in file.columns.items() if known else ():
        if len(known.intersection(as_text(values))) > _SHARE * len(known):
            return name
    return None
