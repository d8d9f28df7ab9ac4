"""Features that are left out of a table by name, or become one of its fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.naming import all_names
from backbone_dask.store.ingest.table import Table, Wanted
from backbone_dask.store.ingest.target_files import as_text
from backbone_dask.store.schema import MISSING_CODES
from backbone_dask.values import FeatureBlock


class Apart(Table):
    """A table without some of its features.

    `gone` are their positions, sorted; `kept` become fields by name, and `ids` has the one that tells samples apart, if
    one does.
    """

    def __init__(
        self,
        table: Table,
        gone: NDArray[np.int64],
        kept: Mapping[str, int],
        ids: Mapping[str, int],
        excluded: frozenset[str],
    ) -> None:
        self._table, self._gone, self._kept = table, gone, dict(kept)
        self._ids = next(iter(ids.values()), None)
        self.location, self.files = table.location, table.files
        self.n_samples, self.n_features = table.n_samples, table.n_features - gone.size
        self.dtype, self.missing = table.dtype, table.missing
        self.excluded, self.id_column = excluded, next(iter(ids), table.id_column)

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        start, stop, gone = self._span(block.start, block.stop)
        values = self._table.read(FeatureBlock(block.index, start, stop))
        return np.delete(values, gone, axis=0) if gone.size else values

    def names(self, start: int, stop: int) -> list[str] | None:
        first, last, gone = self._span(start, stop)
        names = self._table.names(first, last)
        return None if names is None else np.delete(np.array(names, object), gone).tolist()

    def part_of(self, j: int) -> str:
        return self._table.part_of(self._whole(j))

    @property
    def sample_ids(self) -> Sequence[str] | None:
        return self._table.sample_ids if self._ids is None else as_text(self._numbers(self._ids))

    @property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        own = {name: self._numbers(at) for name, at in self._kept.items()}
        return {**self._table.fields, **own}

    def _span(self, start: int, stop: int) -> tuple[int, int, NDArray[np.int64]]:
        """Where the features [start, stop) lie in the whole table, and which in between are gone, from there."""
        first, last = (self._whole(at) for at in (start, stop - 1))
        inside = self._gone[np.searchsorted(self._gone, first) : np.searchsorted(self._gone, last)]
        return first, last + 1, inside - first

    def _whole(self, j: int) -> int:
        return j + int(np.searchsorted(self._gone - np.arange(self._gone.size), j, side="right"))

    def _numbers(self, at: int) -> NDArray[np.float64]:
        (values,) = self._table.read(FeatureBlock(0, at, at + 1))
        numbers: NDArray[np.float64] = values.astype(np.float64)
        if self._table.missing == "mean" and values.dtype.name in MISSING_CODES:
            numbers[values == MISSING_CODES[values.dtype.name]] = np.nan
        return numbers


def set_apart(table: Table, wanted: Wanted) -> Table:
    """The table without the features that are to be left out, and those that are wanted as fields among its fields.

    A feature tells samples apart if it has the name that people gave and nothing else does.
    """
    fields = {*wanted.fields} - {*table.fields}
    ids = {wanted.sample_id or ""} - {""} if table.sample_ids is None else set()
    sought = fields | ids | ({*wanted.exclude} - (table.excluded or frozenset()))
    if not sought:
        return table
    found = _positions(table, sought)
    _require_once(table, {name: found[name] for name in found if name in fields | ids})
    gone = np.array(sorted(at for positions in found.values() for at in positions), np.int64)
    kept = {name: found[name][0] for name in fields if name in found}
    excluded = frozenset(wanted.exclude) & {*found, *table.fields, *(table.excluded or ())}
    return Apart(table, gone, kept, {name: found[name][0] for name in ids if name in found}, excluded)


def _positions(table: Table, sought: set[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at, name in enumerate(chain.from_iterable(all_names(table))):
        if name in sought:
            found.setdefault(name, []).append(at)
    return found


def _require_once(table: Table, found: Mapping[str, list[int]]) -> None:
    for name, (first, *more) in found.items():
        if more:
            where = table.part_of(first)
            raise InvalidDataError(f"features {first} and {more[0]} of {where} are both called {name!r}; rename one")
