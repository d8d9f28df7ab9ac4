"""Text tables, a sample a line: CSV, TSV and columns between spaces, packed with gzip or not.

The first line has the names, unless it holds only numbers: then there are none, and the columns are called x0, x1, ...
by their place in the file. A line 0, 1, 2, ... or 1, 2, 3, ... is a header, as pandas numbers columns. A line of
numbers and text may be either, and people have to say which. A first column without a name, or a header with one name
less than there are columns, holds the samples' ids. A cell is missing where it is empty, NA, N/A, NaN, null, none, ? or
a single point. Lines must not end within quotes; blank lines are skipped. Values are as exact as Python's float.
Several files are one below another, with the same columns.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from backbone_dask.store.ingest.layout import Layout, layout_of, require_same
from backbone_dask.store.ingest.lines import Lines, batch_bytes, beginning
from backbone_dask.store.ingest.pass_over import Source, pass_over, unchanged
from backbone_dask.store.ingest.spool import Spool
from backbone_dask.store.ingest.spooled import SpooledTable, write_names
from backbone_dask.store.ingest.table import Table, Wanted, Workshop
from backbone_dask.store.ingest.text_batch import Batch, Kinds


def open_table(paths: tuple[str, ...], wanted: Wanted, workshop: Workshop) -> Table:
    """Read the files once, in parallel, into a spool that lies feature by feature."""
    with unchanged(paths) as stamps:
        opened = [look(path, wanted) for path in paths]
        layout, first = opened[0]
        for path, (other, _) in zip(paths, opened, strict=True):
            require_same(layout, other, (paths[0], path))
        sources = [source for _, source in opened]
        spool = Spool.of(workshop.scratch, {"files": stamps, "wanted": asdict(wanted), "bytes": first.size})
        write_names(spool, layout.features)
        how = workshop.executor.share((layout, Kinds.wanted(wanted.dtype)))
        records = pass_over(sources, spool, workshop, spool_batch, how)
    return SpooledTable(paths, spool, layout, wanted, records)


def look(path: str, wanted: Wanted) -> tuple[Layout, Source]:
    """How the lines of a file become samples, and where they begin."""
    found = beginning(path, "a header and a line for each sample are needed")
    layout = layout_of(path, found, wanted)
    first = 1 if layout.headed else 0
    return layout, Source(path, found.starts[first], batch_bytes(found.lines[first]))


def spool_batch(lines: Lines, how: tuple[Layout, Kinds], spool: Spool, index: int) -> dict[str, Any]:
    """Turn one batch round, on a worker."""
    layout, kinds = how
    batch = Batch(lines, layout, kinds)
    values = batch.columns()
    record = {"rows": values.shape[1], "dtype": values.dtype.name, "absent": batch.absent}
    return spool.keep(index, record, batch.apart(), {"values": values})
