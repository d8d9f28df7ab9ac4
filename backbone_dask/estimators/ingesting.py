"""From files to a store on disk, for Python and for the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from backbone_dask.estimators.execution import chosen_executor
from backbone_dask.protocols import Executor
from backbone_dask.store.ingest.ingesting import Ingested, ingest_files, ingest_memory
from backbone_dask.store.ingest.joining import Unmatched
from backbone_dask.store.ingest.request import Request, as_tuple
from backbone_dask.store.ingest.table import Told
from backbone_dask.store.schema import MissingPolicy


def _silent(phase: str, done: int, total: int, unit: str) -> None:
    """Nobody listens."""


def ingest(
    sources: Any,
    out: str | os.PathLike[str],
    *,
    target: Any = None,
    sample_id: str | None = None,
    exclude: str | Sequence[str] = (),
    names: str | os.PathLike[str] | None = None,
    format: str | None = None,
    missing: MissingPolicy | None = None,
    dtype: str | None = None,
    unmatched: Unmatched = "refuse",
    header: bool | None = None,
    overwrite: bool = False,
    executor: str | Executor = "auto",
    told: Told = _silent,
) -> Ingested:
    """Write a feature store from files or a table in memory; a call that was interrupted goes on when repeated.

    `sources` is a path, a folder, a pattern, or several; or a table of samples x features: numpy, pandas, polars,
    sparse, dask. `target` names columns of the table, files, or "FILE:COLUMN"; or it is an array (samples,), or a
    mapping from names to arrays. Files of targets are joined by the column `sample_id`, or "TABLE=FILE" where the table
    and the file call it differently; a table with ids of its own (PLINK, VCF, AnnData, row names) need not have that
    column. Without `sample_id` a file is taken in the order of its rows if the table has no ids, or the file no other
    column. `unmatched="drop"` leaves out what does not match. `names` is a file with the name of a feature in each
    line. `header` says whether the first line of a text file has the names; without one, columns are called x0, x1, ...
    None, for `header`, `format`, `missing` and `dtype`, is what suits the files. `told` hears of progress: phase, done,
    total, unit.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from backbone_dask import ingest, open_store
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = pd.DataFrame({"age": [40, 50, 61], "dose": [1.5, 2.0, 0.5], "outcome": [0.1, 0.7, 0.4]})
    >>> _ = ingest(table, folder.name + "/trial.zarr", target="outcome")
    >>> store = open_store(folder.name + "/trial.zarr")
    >>> store.n_features, store.n_samples, list(store.targets)
    (2, 3, ['outcome'])
    >>> folder.cleanup()
    """
    by_name, given = _split_target(target)
    listed = None if names is None else os.path.abspath(names)
    kind = None if dtype == "auto" else dtype
    request = Request(by_name, sample_id, as_tuple(exclude), listed, missing, kind, unmatched, header)
    how: dict[str, Any] = {"given": given, "told": told, "overwrite": overwrite}
    if not _are_paths(sources):
        return ingest_memory(sources, out, request, **how)
    work = chosen_executor(executor) if isinstance(executor, str) else executor
    return ingest_files(as_tuple(sources), out, request, format=format, executor=work, **how)


def _are_paths(sources: Any) -> bool:
    one = isinstance(sources, str | os.PathLike)
    several = isinstance(sources, list | tuple) and sources
    return one or bool(several and all(isinstance(each, str | os.PathLike) for each in sources))


def _split_target(target: Any) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """Targets by name, and targets by value."""
    if target is None or (isinstance(target, tuple) and not target) or _are_paths(target):
        return as_tuple(target), {}
    return ((), target) if isinstance(target, Mapping) else ((), {"y": target})
