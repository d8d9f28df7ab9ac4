"""What the first lines of a text table say: delimiter, names, and which columns are features."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.headers import ROW_NAMES, header_names, is_data
from backbone_dask.store.ingest.lines import Beginning
from backbone_dask.store.ingest.table import Wanted
from backbone_dask.store.ingest.text_rows import LEFT_OUT, WHITESPACE

_PREFERRED = {".csv": ",;\t", ".tsv": "\t,;", ".txt": "\t,;"}
_WORD = re.compile(r'"(?:[^"]|"")*"|[^ \t"]+')


@dataclass(frozen=True, eq=False)
class Layout:
    """How lines become samples.

    Attributes
    ----------
    delimiter : its byte, or WHITESPACE.
    names : of all columns; x0, x1, ... where there is no header.
    headed : whether there is a header.
    places : for each column the number of its feature, LEFT_OUT, or -2, -3, ... for those in `apart`.
    apart : columns that are set apart as text.
    fields : those of them that people asked for as fields and that are there.
    sample_id : which of them tells samples apart.
    """

    delimiter: int
    names: tuple[str, ...]
    headed: bool
    places: NDArray[np.int64]
    apart: tuple[str, ...]
    fields: tuple[str, ...]
    sample_id: str | None

    @property
    def n_features(self) -> int:
        return int(np.count_nonzero(self.places >= 0))

    @property
    def features(self) -> list[str] | None:
        """Names of the features; None where they are x0, x1, ... anyway."""
        if not self.headed and self.n_features == len(self.names):
            return None
        return [name for name, place in zip(self.names, self.places, strict=True) if place >= 0]

    def column(self, at: int) -> str:
        """A column in messages."""
        return repr(self.names[at]) if self.names[at] != ROW_NAMES else "1 (without a name)"


def layout_of(path: str, found: Beginning, wanted: Wanted) -> Layout:
    """The layout of a file, from its first lines."""
    lines = [_decoded(path, line, 1 + before) for line, before in zip(found.lines[:2], found.before[:2], strict=False)]
    delimiter = _delimiter(path, lines)
    first = _cells(lines[0], delimiter)
    headed = not is_data(first) if wanted.header is None else wanted.header
    if headed and len(lines) == 1:
        raise InvalidDataError(
            f"{path} has a header and no samples; a line for each sample is needed below it "
            "(--no-header if its only line is a sample)"
        )
    names = [f"x{j}" for j in range(len(first))]
    if headed:
        below = [_cells(line.decode(errors="replace"), delimiter) for line in found.lines[1:]]
        names = header_names(f"{path}, line {1 + found.before[0]}", first, below, wanted)
    return _layout(path, ord(delimiter) if delimiter else WHITESPACE, names, headed, wanted)


def _layout(path: str, delimiter: int, names: list[str], headed: bool, wanted: Wanted) -> Layout:
    known = set(names)
    sample_id = next((name for name in (wanted.sample_id, ROW_NAMES) if name in known), None)
    fields = tuple(name for name in wanted.fields if name in known)
    apart = tuple(dict.fromkeys((*fields, *([] if sample_id is None else [sample_id]))))
    places = _places(names, apart, wanted.exclude)
    if not (places >= 0).any():
        raise InvalidDataError(f"{path} has no column left that is a feature; leave fewer of its {len(names)} out")
    return Layout(delimiter, tuple(names), headed, places, apart, fields, sample_id)


def _places(names: list[str], apart: tuple[str, ...], exclude: tuple[str, ...]) -> NDArray[np.int64]:
    special = {ROW_NAMES: LEFT_OUT, **dict.fromkeys(exclude, LEFT_OUT)}
    special |= {name: -2 - at for at, name in enumerate(apart)}
    places = np.array([special.get(name, 0) for name in names], np.int64)
    places[places == 0] = np.arange(np.count_nonzero(places == 0))
    return places


def _decoded(path: str, line: bytes, number: int) -> str:
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as cause:
        raise not_utf8(path, number, cause) from cause
    if "\r" in text:
        raise InvalidDataError(f"{path} ends its lines with carriage returns alone; convert it: tr '\\r' '\\n'")
    if any(ord(letter) < 32 and letter != "\t" for letter in text[:1000]):
        raise InvalidDataError(f"{path} is no text: line {number} has control characters; say --format")
    return text


def not_utf8(path: str, number: int, cause: UnicodeDecodeError) -> InvalidDataError:
    """The sentence for text in another encoding."""
    return InvalidDataError(
        f"{path}, line {number}: byte {cause.object[cause.start]:#04x} is not UTF-8; convert the file first, for "
        "example iconv -f LATIN1 -t UTF-8"
    )


def _delimiter(path: str, lines: list[str]) -> str | None:
    """The first that occurs outside quotes, in the order that suits the suffix; None is whitespace."""
    plain = re.sub(r'"(?:[^"]|"")*"', "", lines[0])
    suffix = path.lower().removesuffix(".gz")[-4:]
    for letter in _PREFERRED.get(suffix, ",\t;"):
        if letter in plain:
            return letter
    by_words = [len(_WORD.findall(line)) for line in lines]
    if by_words[-1] > 1 and by_words[-1] - by_words[0] in (0, 1):
        return None
    return _PREFERRED.get(suffix, ",")[0]


def _cells(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return [
            word[1:-1].replace('""', '"') if word.startswith('"') else word for word in map(str, _WORD.findall(line))
        ]
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]


def require_same(one: Layout, other: Layout, paths: tuple[str, str]) -> None:
    """Refuse files below one another whose columns differ."""
    if one.names == other.names and one.headed == other.headed:
        return
    pairs: Any = enumerate(zip(one.names, other.names, strict=False))
    first = next((f"column {at + 1} is {a!r} and {b!r}" for at, (a, b) in pairs if a != b), None)
    why = first or f"they have {len(one.names)} and {len(other.names)} columns"
    raise InvalidDataError(f"{paths[0]} and {paths[1]} do not have the same columns: {why}; give them the same header")
