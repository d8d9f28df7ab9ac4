"""What people ask of an ingest."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.store import locate
from backbone_dask.store.ingest.joining import Unmatched
from backbone_dask.store.ingest.table import Wanted
from backbone_dask.store.schema import DTYPES, MissingPolicy, require_policy

TARGET_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class Request:
    """How files become a store.

    Attributes
    ----------
    targets : columns of the table, files, or FILE:COLUMN.
    sample_id : the column that tells samples apart, in the table and in files of targets; "TABLE=FILE" where they call
        it differently. A table with ids of its own (PLINK, VCF, AnnData, row names) that has no such column keeps its
        own, and this is the column of the files alone.
    exclude : columns to leave out.
    names : a file with a name a line.
    missing, dtype : None is what suits the table.
    unmatched : whether samples without a target, and targets without a sample, are refused or left out.
    header : whether the first line of a text table has the names; None is decided from that line.
    """

    targets: tuple[str, ...] = ()
    sample_id: str | None = None
    exclude: tuple[str, ...] = ()
    names: str | None = None
    missing: MissingPolicy | None = None
    dtype: str | None = None
    unmatched: Unmatched = "refuse"
    header: bool | None = None

    def __post_init__(self) -> None:
        if self.dtype is not None and self.dtype not in DTYPES:
            raise InvalidSettingError(f"dtype is {self.dtype!r}; use auto or one of {', '.join(DTYPES)}")
        if self.unmatched not in get_args(Unmatched):
            raise InvalidSettingError(f"unmatched is {self.unmatched!r}; use refuse or drop")
        if self.sample_id is not None and "=" in self.sample_id and not (self.table_id and self.file_id):
            raise InvalidSettingError(
                f"sample_id is {self.sample_id!r}; use COLUMN, or TABLE=FILE with a column of each"
            )
        if self.missing is not None:
            require_policy(self.missing)

    @property
    def table_id(self) -> str | None:
        """The column of the table that tells samples apart."""
        return None if self.sample_id is None else self.sample_id.partition("=")[0]

    @property
    def file_id(self) -> str | None:
        """The column of files of targets that does."""
        return None if self.sample_id is None else self.sample_id.rpartition("=")[2]

    @property
    def wanted(self) -> Wanted:
        """Files that have no suffix may be columns of the table as well: the table decides."""
        columns = tuple(each for each in self.targets if target_file(each) is None or not _has_suffix(each))
        return Wanted(columns, self.table_id, self.exclude, self.dtype, self.header)

    def to_json(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def target_file(target: str) -> tuple[str, str | None] | None:
    """The file and its column that a target names; None if it can only be a column of the table."""
    path, _, column = target.rpartition(":")
    for place, name in ((target, None), (path, column)):
        if place and _is_file(place):
            return locate.absolute(locate.plain(place)), name
    for place in (target, path):
        if place.lower().endswith(TARGET_SUFFIXES):
            raise InvalidDataError(f"there is no file {place} for --target {target}")
    return None


def _has_suffix(target: str) -> bool:
    return any(place.lower().endswith(TARGET_SUFFIXES) for place in (target, target.rpartition(":")[0]))


def _is_file(place: str) -> bool:
    if locate.is_url(place):
        return place.lower().endswith(TARGET_SUFFIXES)
    return os.path.isfile(os.path.expanduser(place))


def as_tuple(value: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None) -> tuple[str, ...]:
    """None, one or several, as several."""
    if value is None:
        return ()
    return (os.fspath(value),) if isinstance(value, str | os.PathLike) else tuple(os.fspath(each) for each in value)
