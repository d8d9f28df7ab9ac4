"""The text files beside a .bed file: its variants (.bim), read in parts, and its samples (.fam)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import locate
from backbone_dask.store.ingest.variants import Anonymous, anonymous, hashed

LINES_PER_MARK = 4096
BIM_COLUMNS = "chromosome, id, centimorgans, position, allele 1, allele 2"
FAM_COLUMNS = "family, sample, father, mother, sex, phenotype"


@dataclass(frozen=True, slots=True)
class VariantList:
    """A .bim file: how many variants it has, where every 4,096th of its lines begins, and which have no name."""

    path: str
    n_variants: int
    marks: NDArray[np.int64]
    anonymous: Anonymous

    def names(self, start: int, stop: int) -> list[str]:
        """The ids of the variants [start, stop); chromosome:position:A1:A2 where an id is missing or not unique."""
        lines = self._lines(start, stop)
        names = [line.split(None, 2)[1].decode() for line in lines]
        for j in self.anonymous.within(start, stop):
            names[j - start] = _place(lines[j - start].decode().split())
        return names

    def _lines(self, start: int, stop: int) -> list[bytes]:
        system, inside = locate.filesystem(self.path)
        with system.open(inside, "rb") as file:
            file.seek(int(self.marks[start // LINES_PER_MARK]))
            skipped = start % LINES_PER_MARK
            return list(itertools.islice(file, skipped, skipped + stop - start))


def scan_variants(path: str) -> VariantList:
    """Read a .bim file once from end to end; nothing of its length is kept but the hashes of its ids."""
    offset, marks, parts = 0, [], []
    for first, lines in _batches(path):
        marks.append(offset)
        offset += sum(map(len, lines))
        parts.append(hashed(fields[1] for fields in _rows(path, first, lines, BIM_COLUMNS)))
    return VariantList(path, sum(part.size for part in parts), np.array(marks, np.int64), anonymous(parts))


def _batches(path: str) -> Iterator[tuple[int, list[bytes]]]:
    """Lines of a text file by the 4,096, with the number of the first one."""
    system, inside = locate.filesystem(path)
    with system.open(inside, "rb") as file:
        for first in itertools.count(1, LINES_PER_MARK):
            lines = list(itertools.islice(file, LINES_PER_MARK))
            if not lines:
                return
            yield first, lines


def _rows(path: str, first: int, lines: list[bytes], columns: str) -> list[list[str]]:
    """The six fields of every line."""
    try:
        rows = [line.decode().split() for line in lines]
    except UnicodeDecodeError:
        rows = []
    if rows and all(len(fields) == 6 for fields in rows):
        return rows
    # One by one, to say which line is wrong.
    return [_six(path, number, line, columns) for number, line in enumerate(lines, first)]


def _six(path: str, number: int, line: bytes, columns: str) -> list[str]:
    try:
        fields = line.decode().split()
    except UnicodeDecodeError as cause:
        raise InvalidDataError(f"{path}, line {number}, is not UTF-8 text; save the file as UTF-8") from cause
    if len(fields) != 6:
        found = len(fields)
        raise InvalidDataError(f"{path}, line {number}, has {found} columns instead of 6 ({columns}); mend that line")
    return fields


def _place(fields: list[str]) -> str:
    chromosome, _, _, position, allele_1, allele_2 = fields
    return f"{chromosome}:{position}:{allele_1}:{allele_2}"


def read_samples(path: str) -> NDArray[Any]:
    """The six columns of a .fam file as text, shape (6, samples)."""
    rows = [fields for first, lines in _batches(path) for fields in _rows(path, first, lines, FAM_COLUMNS)]
    return np.array(rows, dtype=str).reshape(-1, 6).T
