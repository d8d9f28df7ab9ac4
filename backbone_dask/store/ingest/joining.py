"""Targets for the samples of a table: by id or in order, and what did not match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError

Unmatched: TypeAlias = Literal["refuse", "drop"]
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one target for the samples of the table.

    Attributes
    ----------
    source : the file that they are from.
    values : float64 with NaN, or text that is empty, where a sample has none.
    unknown : ids in the file that no sample has.
    """

    source: str
    values: NDArray[Any]
    unknown: tuple[str, ...] = ()

    @property
    def present(self) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(self.values) if self.values.dtype.kind == "f" else self.values != "")


@dataclass(frozen=True, slots=True)
class Mismatch:
    """What did not match in one file: samples without a value, and ids that no sample has."""

    source: str
    lacking: tuple[str, ...]
    unknown: tuple[str, ...]

    def sentence(self, table: str) -> str:
        parts = [
            f"{len(ids)} {what} ({', '.join(ids[:SHOWN])}{', ...' if len(ids) > SHOWN else ''})"
            for ids, what in (
                (self.lacking, f"samples of {table} have no value in it"),
                (self.unknown, "of its rows have ids that no sample has"),
            )
            if ids
        ]
        return f"{self.source}: {' and '.join(parts)}"

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.source,
            "samples_without_value": len(self.lacking),
            "first_samples": list(self.lacking[:SHOWN]),
            "unknown_ids": len(self.unknown),
            "first_unknown": list(self.unknown[:SHOWN]),
        }


def places(sample_ids: Sequence[str], row_ids: Sequence[str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The row of every sample, -1 where there is none; and the ids of rows that belong to no sample."""
    rows = {each: at for at, each in enumerate(row_ids)}
    known = set(sample_ids)
    at = np.array([rows.get(each, -1) for each in sample_ids], np.int64)
    return at, tuple(each for each in row_ids if each not in known)


def taken(values: NDArray[Any], at: NDArray[np.int64]) -> NDArray[Any]:
    """Values at rows; none where the row is -1."""
    if not len(values):
        return np.full(at.size, np.nan)
    found = values[at]
    found[at < 0] = np.nan if values.dtype.kind == "f" else ""
    return found


def require_all_ids(ids: Sequence[str], source: str) -> None:
    """Refuse rows without an id."""
    if "" in ids:
        row = ids.index("") + 1
        raise InvalidDataError(f"sample {row} of {source} has no id; give it one, or leave the row out")


def require_distinct_ids(ids: Sequence[str], source: str) -> None:
    """Refuse ids that do not tell rows apart, or are not there."""
    require_all_ids(ids, source)
    seen: dict[str, int] = {}
    for row, each in enumerate(ids, 1):
        if each in seen:
            raise InvalidDataError(
                f"samples {seen[each]} and {row} of {source} have the same id {each!r}; give each sample one of its own"
            )
        seen[each] = row


def matched(
    columns: Mapping[str, Column], sample_ids: Sequence[str], policy: Unmatched, table: str
) -> tuple[NDArray[np.int64], tuple[Mismatch, ...]]:
    """Positions of the samples that have all targets, in the table's order; what did not match is refused or told."""
    kept = np.flatnonzero(
        np.logical_and.reduce([np.ones(len(sample_ids), bool), *(c.present for c in columns.values())])
    )
    found = [_mismatch(source, columns, sample_ids) for source in dict.fromkeys(c.source for c in columns.values())]
    mismatches = tuple(each for each in found if each.lacking or each.unknown)
    said = "; ".join(each.sentence(table) for each in mismatches)
    if not kept.size and any(each.unknown for each in mismatches):
        raise InvalidDataError(
            f"{said}; no sample has a target, so say which columns hold the ids (--sample-id COLUMN, or TABLE=FILE "
            "where the table and the file call them differently)"
        )
    if not kept.size:
        raise InvalidDataError(f"{said}; no sample has all targets, so ask for fewer of them")
    if mismatches and policy == "refuse":
        raise InvalidDataError(f"{said}; --unmatched drop keeps the {kept.size:,} that match")
    return kept, mismatches


def coded(values: NDArray[Any]) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Numbers as they are; text as 0, 1, ... in the order of the sorted labels, which are the second answer."""
    if values.dtype.kind == "f":
        return values, ()
    labels, codes = np.unique(values.astype(str), return_inverse=True)
    return codes.astype(np.float64), tuple(labels.tolist())


def _mismatch(source: str, columns: Mapping[str, Column], sample_ids: Sequence[str]) -> Mismatch:
    own = [column for column in columns.values() if column.source == source]
    lacking = np.flatnonzero(~np.logical_and.reduce([column.present for column in own]))
    return Mismatch(source, tuple(sample_ids[at] for at in lacking.tolist()), own[0].unknown)
