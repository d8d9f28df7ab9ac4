"""A table that was turned round: blocks of features are read from the batches of a spool."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.store.ingest.layout import Layout
from backbone_dask.store.ingest.spool import Spool, published
from backbone_dask.store.ingest.table import Table, Wanted
from backbone_dask.store.ingest.text_batch import widened
from backbone_dask.store.names import decoded, encoded
from backbone_dask.values import FeatureBlock

_NAMES = "names.npy"


class SpooledTable(Table):
    """Lines of text, feature by feature.

    Small whole numbers are int8, or float32 where some are missing, so that it is the caller who decides about those.
    """

    def __init__(
        self,
        paths: tuple[str, ...],
        spool: Spool,
        layout: Layout,
        wanted: Wanted,
        records: list[dict[str, Any]],
    ) -> None:
        self.location, self.files = ", ".join(paths), paths
        self._spool, self._sample_id = spool, layout.sample_id
        self.id_column = layout.sample_id if layout.sample_id == wanted.sample_id else None
        self._rows = np.array([record["rows"] for record in records], np.int64)
        self._kinds = [record["dtype"] for record in records]
        self._fields = layout.fields
        self.n_features, self.n_samples = layout.n_features, int(self._rows.sum())
        self.dtype = np.dtype(_common(records, wanted.dtype))
        self.excluded = frozenset(wanted.exclude) & set(layout.names)

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        values = np.empty((block.size, self.n_samples), self.dtype)
        for index, stop in enumerate(np.cumsum(self._rows)):
            rows = int(self._rows[index])
            run = self._spool.read(index, "values", self._kinds[index], block.start * rows, block.size * rows)
            values[:, stop - rows : stop] = widened(run, self.dtype).reshape(block.size, rows)
        return values

    def names(self, start: int, stop: int) -> list[str] | None:
        path = os.path.join(self._spool.folder, _NAMES)
        return decoded(np.load(path, mmap_mode="r")[start:stop]) if os.path.exists(path) else None

    @property
    def sample_ids(self) -> Sequence[str] | None:
        return None if self._sample_id is None else texts_of(self._spool, len(self._kinds))[self._sample_id]

    @property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        """The cells as text: whether a column holds numbers is seen when all files are put together."""
        texts = texts_of(self._spool, len(self._kinds)) if self._fields else {}
        return {name: np.array(texts[name], object) for name in self._fields}


def _common(records: Sequence[dict[str, Any]], wanted: str | None) -> str:
    """The dtype that holds all batches."""
    kinds = {str(record["dtype"]) for record in records if record["rows"]}
    wide = [kind for kind in kinds if kind.startswith("float")]
    if wide or wanted in ("float32", "float64"):
        return wanted or wide[0]
    return "float32" if any(record["absent"] for record in records) else kinds.pop()


def write_names(spool: Spool, names: list[str] | None) -> None:
    """Keep names where workers find them; there may be millions."""
    if names is not None:
        with published(os.path.join(spool.folder, _NAMES)) as stream:
            np.save(stream, encoded(names))


@lru_cache(maxsize=4)
def texts_of(spool: Spool, count: int) -> dict[str, list[str]]:
    return spool.texts(count)
