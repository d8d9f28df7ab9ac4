"""Several tables as one: below one another where they have the same columns, beside one another otherwise."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.casting import cast, common_dtype
from backbone_dask.store.ingest.decimals import python_number
from backbone_dask.store.ingest.joining import require_all_ids
from backbone_dask.store.ingest.naming import all_names
from backbone_dask.store.ingest.table import Table, Wanted
from backbone_dask.store.ingest.target_files import as_text
from backbone_dask.store.missing import label
from backbone_dask.values import FeatureBlock


def combined(tables: Sequence[Table], wanted: Wanted) -> Table:
    """One table of all; what fits neither below nor beside is refused, with the names of both files."""
    if len(tables) == 1:
        return tables[0]
    first, *rest = tables
    if wanted.sample_id is not None:
        _require_one_id_column(tables, wanted.sample_id)
    columns = _columns(first)
    same = [_columns(table) == columns for table in rest]
    if all(same):
        for name in wanted.fields:
            _require_same_kind(tables, name)
        return Below(tables)
    for table, alike in zip(rest, same, strict=True):
        if alike:
            other = rest[same.index(False)]
            raise InvalidDataError(
                f"{table.location} has the columns of {first.location}, {other.location} has others; put files with "
                "the same columns together first, then files with the same samples"
            )
        _require_same_samples(first, table)
    for name in wanted.fields:
        _require_same_values(tables, name)
    return Beside(tables)


class _Several(Table):
    """What both ways to combine have in common."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tuple(tables)
        self.location = f"{len(tables)} files ({tables[0].location}, ...)"
        self.files = tuple(chain.from_iterable(table.files for table in tables))
        self.dtype = common_dtype([table.dtype for table in tables])
        self.missing = "mean" if any(table.missing == "mean" for table in tables) else "refuse"
        known = [table.excluded for table in tables]
        self.id_column = tables[0].id_column
        self.excluded = None if None in known else frozenset(chain.from_iterable(each or () for each in known))

    def __getstate__(self) -> dict[str, Any]:
        """Without the fields, which are kept because they are read from all files: workers need none."""
        return {name: value for name, value in self.__dict__.items() if name != "fields"}

    def _cast(self, table: Table, block: FeatureBlock) -> NDArray[Any]:
        """Values of one of the tables in the dtype of all. What is missing stays so: it is judged later."""
        coded = table.missing == "mean"
        return cast(table.read(block), coded, self.dtype, self.missing, lambda row: _label(table, block.start + row))


class Below(_Several):
    """More samples of the same features."""

    def __init__(self, tables: Sequence[Table]) -> None:
        super().__init__(tables)
        self.n_features = tables[0].n_features
        self.n_samples = sum(table.n_samples for table in tables)
        _require_ids_everywhere(tables)

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        out = np.empty((block.size, self.n_samples), self.dtype)
        at = 0
        for table in self.tables:
            out[:, at : at + table.n_samples] = self._cast(table, block)
            at += table.n_samples
        return out

    def names(self, start: int, stop: int) -> list[str] | None:
        return self.tables[0].names(start, stop)

    @property
    def sample_ids(self) -> Sequence[str] | None:
        ids = [table.sample_ids for table in self.tables]
        return None if ids[0] is None else list(chain.from_iterable(each or () for each in ids))

    @cached_property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        parts = [table.fields for table in self.tables]
        everywhere = [name for name in parts[0] if all(name in part for part in parts)]
        return {name: np.concatenate([part[name] for part in parts]) for name in everywhere}


class Beside(_Several):
    """More features of the same samples."""

    def __init__(self, tables: Sequence[Table]) -> None:
        super().__init__(tables)
        self.n_samples = tables[0].n_samples
        self.n_features = sum(table.n_features for table in tables)
        self._starts = [0, *accumulate(table.n_features for table in tables)]
        self._named = all(table.names(0, 1) is not None for table in tables)

    def read(self, block: FeatureBlock) -> NDArray[Any]:
        parts = self._parts(block.start, block.stop)
        read = [self._cast(table, FeatureBlock(block.index, start, stop)) for table, start, stop in parts]
        return read[0] if len(read) == 1 else np.concatenate(read)

    def names(self, start: int, stop: int) -> list[str] | None:
        if not self._named:
            return None
        parts = self._parts(start, stop)
        return list(chain.from_iterable(table.names(first, last) or () for table, first, last in parts))

    def part_of(self, j: int) -> str:
        at = bisect_right(self._starts, j) - 1
        return self.tables[at].part_of(j - self._starts[at])

    @property
    def sample_ids(self) -> Sequence[str] | None:
        return next((table.sample_ids for table in self.tables if table.sample_ids is not None), None)

    @cached_property
    def fields(self) -> Mapping[str, NDArray[Any]]:
        return {name: values for table in reversed(self.tables) for name, values in table.fields.items()}

    def _parts(self, start: int, stop: int) -> list[tuple[Table, int, int]]:
        """Which features of which tables lie in [start, stop)."""
        cuts = zip(self.tables, self._starts, self._starts[1:], strict=False)
        return [
            (table, max(start, first) - first, min(stop, last) - first)
            for table, first, last in cuts
            if max(start, first) < min(stop, last)
        ]


def _columns(table: Table) -> tuple[int, str]:
    """What tells the columns of one table from those of another."""
    seen = hashlib.sha256()
    for names in all_names(table):
        seen.update("\0".join([*names, ""]).encode(errors="surrogatepass"))
    return table.n_features, seen.hexdigest()


def _require_same_samples(one: Table, other: Table) -> None:
    """Refuse to put tables beside one another whose rows belong to different samples."""
    mine, theirs = one.sample_ids, other.sample_ids
    both = f"{one.location} and {other.location}"
    if one.n_samples != other.n_samples:
        raise InvalidDataError(
            f"{both} have different columns and different samples ({one.n_samples} and {other.n_samples}); files are "
            "put together if they have the same columns, or the same samples in the same order"
        )
    if mine is not None and theirs is not None and list(mine) != list(theirs):
        at = next(i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b)
        raise InvalidDataError(
            f"{both} have different samples: row {at + 1} is {mine[at]!r} in one and {theirs[at]!r} in the other; "
            "give files with the same samples in the same order"
        )


def _label(table: Table, j: int) -> str:
    named = table.names(j, j + 1)
    return f"{label(j, named[0] if named else None)} of {table.part_of(j)}"


def _require_one_id_column(tables: Sequence[Table], name: str) -> None:
    """Ids that people ask for are in all files, or in none of those that have ids of their own."""
    has = [table.id_column == name for table in tables]
    if any(has) and not all(has):
        with_ids, without = tables[has.index(True)].location, tables[has.index(False)].location
        raise InvalidDataError(
            f"{with_ids} has the column {name!r} of sample ids, {without} has not; give it to all files"
        )


def _require_same_kind(tables: Sequence[Table], name: str) -> None:
    """Refuse a column that some of the files below one another lack, or have as text where others have numbers."""
    kinds = [_kind(table, name) for table in tables]
    if len(set(kinds)) > 1:
        other = next(at for at, kind in enumerate(kinds) if kind != kinds[0])
        raise InvalidDataError(
            f"column {name!r} is {kinds[0]} in {tables[0].location} and {kinds[other]} in {tables[other].location}; "
            "make it the same in all files"
        )


def _kind(table: Table, name: str) -> str:
    values = table.fields.get(name)
    if values is None:
        return "not there"
    return "numbers" if values.dtype.kind in "biuf" else "text"


def _comparable(values: NDArray[Any]) -> list[str]:
    """As text, in which a number is written in one way only."""
    texts = as_text(values)
    return [
        text if number is None else _one(number) for text, number in zip(texts, map(python_number, texts), strict=True)
    ]


def _one(number: float) -> str:
    return "" if number != number else f"{number:g}" if float(f"{number:g}") == number else repr(number)


def _require_same_values(tables: Sequence[Table], name: str) -> None:
    """Refuse a column that files beside one another have with different values."""
    columns = ((table.location, table.fields.get(name)) for table in tables)
    first, one = "", None
    for location, values in columns:
        if values is None:
            continue
        two = _comparable(values)
        if one is not None and one != two:
            at = next(i for i, (a, b) in enumerate(zip(one, two, strict=True)) if a != b)
            raise InvalidDataError(
                f"column {name!r} is {one[at] or 'missing'} in row {at + 1} of {first} and {two[at] or 'missing'} in "
                f"{location}; keep it in one of the files"
            )
        first, one = location, two


def _require_ids_everywhere(tables: Sequence[Table]) -> None:
    ids = [table.sample_ids for table in tables]
    for table, own in zip(tables, ids, strict=True):
        require_all_ids(own or (), table.location)
    has = [own is not None for own in ids]
    if any(has) and not all(has):
        with_ids, without = tables[has.index(True)].location, tables[has.index(False)].location
        raise InvalidDataError(f"{with_ids} has sample ids, {without} has none; give all files ids, or none")
