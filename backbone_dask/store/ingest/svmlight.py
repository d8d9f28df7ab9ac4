"""svmlight and libsvm files: `label index:value ...`, a sample a line; what is not mentioned is zero.

Labels become the field `y`. Comments from # on and `qid:` are left out. Indices count from 1, unless a 0 occurs
anywhere: then they count from 0. Several files are one below another, as wide as the widest of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.lines import Lines, batch_bytes, beginning
from backbone_dask.store.ingest.pass_over import Source, pass_over, unchanged
from backbone_dask.store.ingest.spool import Spool
from backbone_dask.store.ingest.spooled import texts_of
from backbone_dask.store.ingest.svm_batch import SvmBatch
from backbone_dask.store.ingest.table import Table, Wanted, Workshop
from backbone_dask.values import FeatureBlock

LABEL = "y"


def open_table(paths: tuple[str, ...], wanted: Wanted, workshop: Workshop) -> Table:
    """Read the files once, in parallel, into a spool that lies feature by feature."""
    with unchanged(paths) as stamps:
        sources = [_look(path) for path in paths]
        spool = Spool.of(
            workshop.scratch, {"svmlight": stamps, "wanted": asdict(wanted), "bytes": [each.size for each in sources]}
        )
        dtype = "float32" if wanted.dtype == "float32" else "float64"
        records = pass_over(sources, spool, workshop, spool_batch, dtype)
    if max((record["most"] for record in records), default=-1) < 0:
        raise InvalidDataError(f"{', '.join(paths)} has no entry index:value; is it an svmlight file?")
    return SvmTable(paths, spool, dtype, frozenset(wanted.exclude) & {LABEL}, records)


def _look(path: str) -> Source:
    found = beginning(path, "a line `label index:value ...` for each sample is needed")
    return Source(path, 0, batch_bytes(found.lines[0]))


def spool_batch(lines: Lines, dtype: str, spool: Spool, index: int) -> dict[str, Any]:
    """Sort one batch by feature, on a worker."""
    batch = SvmBatch(lines, dtype)
    columns, rows, values = batch.entries()
    record = {
        "rows": batch.n_samples,
        "entries": columns.size,
        "least": int(columns[0]) if columns.size else 1,
        "most": int(columns[-1]) if columns.size else -1,
    }
    return spool.keep(index, record, {LABEL: batch.labels()}, {"columns": columns, "samples": rows, "values": values})


class SvmTable(Table):
    """Entries of a sparse table, sorted by feature in every batch."""

    def __init__(
        self, paths: tuple[str, ...], spool: Spool, dtype: str, excluded: frozenset[str], records: list[dict[str, Any]]
    ) -> None:
        self.location, self.files = ", ".join(paths), paths
        self._spool, self.excluded = spool, excluded
        self._rows = np.array([record["rows"] for record in records], np.int64)
        self._entries = np.array([record["entries"] for record in records], np.int64)
        self._base = min([1, *(record["least"] for record in records)])
        self.n_samples = int(self._rows.sum())
        self.n_features = max(record["most"] for record in records) + 1 - self._base
        self.dtype = np.dtype(dtype)

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        values = np.zeros((block.size, self.n_samples), self.dtype)
        before = 0
        for index, rows in enumerate(self._rows):
            columns, samples, found = self._run(index, block.start + self._base, block.stop + self._base)
            values[columns - (block.start + self._base), before + samples] = found
            before += int(rows)
        return values

    def _run(self, index: int, start: int, stop: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Entries of the columns [start, stop) of a batch."""
        if not self._entries[index]:
            return np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, self.dtype)
        columns = np.memmap(self._spool.path(index, "columns"), np.int64, "r")
        first, last = (int(at) for at in np.searchsorted(columns, [start, stop]))
        samples = self._spool.read(index, "samples", "int32", first, last - first)
        return (
            np.array(columns[first:last]),
            samples,
            self._spool.read(index, "values", self.dtype.name, first, last - first),
        )

    @property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        if self.excluded:
            return {}
        return {LABEL: np.array(texts_of(self._spool, len(self._rows))[LABEL], object)}
