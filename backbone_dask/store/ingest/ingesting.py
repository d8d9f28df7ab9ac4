"""From files, or a table in memory, to a store on disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from backbone_dask import __version__
from backbone_dask.errors import InvalidDataError, InvalidSettingError, StoreError, UnknownNameError
from backbone_dask.protocols import Executor
from backbone_dask.store import locate
from backbone_dask.store.copying import draft_of, fill
from backbone_dask.store.documents import require_free
from backbone_dask.store.ingest.apart import set_apart
from backbone_dask.store.ingest.combining import Below, Beside, combined
from backbone_dask.store.ingest.early import require_columns
from backbone_dask.store.ingest.formats import BELOW, TEXT, opener
from backbone_dask.store.ingest.joining import Column, Mismatch, coded, matched, require_distinct_ids
from backbone_dask.store.ingest.memory_table import MemoryTable
from backbone_dask.store.ingest.naming import Renamed, require_distinct
from backbone_dask.store.ingest.request import Request
from backbone_dask.store.ingest.resolving import given_columns, require_known, target_columns, target_paths
from backbone_dask.store.ingest.sources import changed, common_format, expanded, partition_keys, require_content, stamp
from backbone_dask.store.ingest.store import IngestedStore
from backbone_dask.store.ingest.table import Table, Told, Workshop
from backbone_dask.store.ingest.target_values import require_classes
from backbone_dask.store.writer import Draft


@dataclass(frozen=True, slots=True)
class Ingested:
    """What was made: the store's shape, its targets, and what was left out or taken for granted on the way."""

    store: str
    n_samples: int
    n_features: int
    dtype: str
    missing: str
    targets: tuple[str, ...]
    labels: Mapping[str, Sequence[str]]
    sample_ids: bool
    dropped: int
    unmatched: tuple[Mismatch, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "unmatched": [each.to_json() for each in self.unmatched]}


@dataclass(frozen=True, slots=True)
class Errand:
    """Where a store goes, what is asked of it, and who works on it and listens; `given` are targets by value."""

    place: str
    request: Request
    given: Mapping[str, Any]
    told: Told
    overwrite: bool
    executor: Executor | None = None


def ingest_files(
    sources: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    request: Request,
    *,
    format: str | None,
    executor: Executor,
    told: Told,
    given: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> Ingested:
    """Write a store of the table in files; called again after an interruption, it goes on."""
    errand = Errand(_free(out, overwrite), request, given or {}, told, overwrite, executor)
    paths = expanded(sources)
    _require_other(paths, errand.place)
    kind = common_format(paths, format)
    stamps = [stamp(path) for path in paths]
    if kind not in TEXT:
        require_content(stamps)
    require_columns(paths, kind, request)
    with _refusals_leave_nothing(f"{errand.place}{locate.SCRATCH}"):
        scratch = _scratch(errand.place, {"files": stamps, "format": kind, "wanted": asdict(request.wanted)})
        table = combined(_opened(paths, kind, request, Workshop(scratch, executor, told)), request.wanted)
        origin = {"format": kind, "version": __version__, "request": request.to_json()}
        return _written(table, errand, origin, stamps)


def ingest_memory(
    data: Any, out: str | os.PathLike[str], request: Request, *, given: Mapping[str, Any], told: Told, overwrite: bool
) -> Ingested:
    """Write a store of a table in memory."""
    errand = Errand(_free(out, overwrite), request, given, told, overwrite)
    with _refusals_leave_nothing(f"{errand.place}{locate.SCRATCH}"):
        return _written(MemoryTable(data, request.wanted), errand, None, [])


def _written(table: Table, errand: Errand, origin: dict[str, Any] | None, seen: Sequence[dict[str, Any]]) -> Ingested:
    """`seen` are stamps of files from before they were opened."""
    request, notes = errand.request, _said(table)
    named = _renamed(table, request)
    require_known(request, named)
    require_distinct(named)
    files = [stamp(path) for path in dict.fromkeys([*named.files, *target_paths(request, named)])]
    store, mismatches = _joined(named, errand, None if origin is None else origin | {"files": files}, notes)
    draft = draft_of(store, errand.place, overwrite=errand.overwrite)
    fill(draft, store, errand.executor, lambda done, total: errand.told("write", done, total, "columns"))
    _require_unchanged([*seen, *files], draft)
    draft.finalise()
    return _summary(store, errand.place, mismatches, notes)


def _require_unchanged(stamps: Sequence[dict[str, Any]], draft: Draft) -> None:
    """A draft of two versions of a file must neither get its name nor be gone on with."""
    path = changed(stamps)
    if path is not None:
        draft.abandon()
        raise InvalidDataError(f"{path} changed while it was read; ingest it again when nothing writes to it")


def _renamed(table: Table, request: Request) -> Table:
    """The table with the names in a file, if there is one. Columns may be set apart by their new names, too."""
    if request.names is None:
        return table
    return set_apart(Renamed(table, locate.absolute(locate.plain(request.names))), request.wanted)


def _joined(
    table: Table, errand: Errand, origin: dict[str, Any] | None, notes: list[str]
) -> tuple[IngestedStore, tuple[Mismatch, ...]]:
    """The store with its targets, and what did not match."""
    request, ids = errand.request, table.sample_ids
    if ids is not None:
        require_distinct_ids(ids, table.location)
    columns = target_columns(request, table, notes) | given_columns(errand.given, table)
    shown = ids if ids is not None else [f"row {row}" for row in range(1, table.n_samples + 1)]
    for name, column in columns.items():
        _require_finite(name, column, shown)
    kept, mismatches = matched(columns, shown, request.unmatched, table.location)
    found = {name: coded(column.values[kept]) for name, column in columns.items()}
    for name, (_, labels) in found.items():
        require_classes(labels, kept.size, name, columns[name].source)
    store = IngestedStore(
        table,
        samples=None if kept.size == table.n_samples else kept,
        targets={name: values for name, (values, _) in found.items()},
        labels={name: labels for name, (_, labels) in found.items() if labels},
        dtype=request.dtype,
        missing=request.missing,
        origin=None if origin is None else origin | {"unmatched": [each.to_json() for each in mismatches]},
    )
    return store, mismatches


def _require_finite(name: str, column: Column, shown: Sequence[str]) -> None:
    if column.values.dtype.kind != "f":
        return
    for at in np.flatnonzero(np.isinf(column.values)).tolist():
        raise InvalidDataError(
            f"target {name!r} of {column.source} is {column.values[at]} in sample {shown[at]}; correct it, or leave "
            "it empty and say --unmatched drop"
        )


def _summary(store: IngestedStore, place: str, mismatches: tuple[Mismatch, ...], notes: list[str]) -> Ingested:
    return Ingested(
        place,
        store.n_samples,
        store.n_features,
        store.dtype.name,
        store.missing,
        tuple(store.targets),
        dict(store.labels),
        store.sample_ids is not None,
        store.table.n_samples - store.n_samples,
        mismatches,
        tuple(notes),
    )


def _opened(paths: Sequence[str], kind: str, request: Request, workshop: Workshop) -> list[Table]:
    """Every file as a table of its own, with a scratch folder of its own, unless all are one table anyway."""
    open_table = opener(kind)
    if kind in BELOW:
        return [open_table(tuple(paths), request.wanted, workshop)]
    shops = [Workshop(f"{workshop.scratch}/{at}", workshop.executor, workshop.told) for at in range(len(paths))]
    return [open_table((path,), request.wanted, shop) for path, shop in zip(paths, shops, strict=True)]


def _said(table: Table) -> list[str]:
    keys = ", ".join(partition_keys(table.files))
    keyed = [f"{keys} in the names of folders (KEY=VALUE) did not become columns"] if keys else []
    if not isinstance(table, Below | Beside):
        return keyed
    return [f"{len(table.tables)} files were put {type(table).__name__.lower()} one another", *keyed]


def _free(out: str | os.PathLike[str], overwrite: bool) -> str:
    place = locate.absolute(locate.plain(out))
    require_free(place, overwrite=overwrite)
    return place


def _require_other(paths: Sequence[str], place: str) -> None:
    for path in paths:
        if locate.same(path, place):
            raise StoreError(f"{place} is a source itself; give the store another name")


def _scratch(place: str, about: dict[str, Any]) -> str:
    """The folder for what is made from exactly these files on the way; those of others are removed."""
    name = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
    folder = f"{place}{locate.SCRATCH}/{locate.WORKSHOP}"
    locate.remove_all_but(folder, name)
    return f"{folder}/{name}"


@contextmanager
def _refusals_leave_nothing(folder: str) -> Iterator[None]:
    """What an interruption or a full disk leaves in a folder is used later; what is refused once is refused again."""
    try:
        yield
    except (InvalidDataError, InvalidSettingError, UnknownNameError):
        # Workers may still write what they had begun.
        with suppress(OSError):
            locate.remove(folder)
        raise
    finally:
        _drop_empty(folder)


def _drop_empty(folder: str) -> None:
    """No folder stays behind that has nothing in it."""
    if not locate.is_url(folder) and os.path.isdir(folder) and not os.listdir(folder):
        os.rmdir(folder)
