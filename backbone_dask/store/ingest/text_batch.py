"""One batch of lines to columns: small whole numbers stay small, and what cannot be read is said with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.decimals import python_number
from backbone_dask.store.ingest.layout import Layout, not_utf8
from backbone_dask.store.ingest.lines import Lines
from backbone_dask.store.ingest.text_rows import first_misfit, line_bounds, read_lines, turn
from backbone_dask.store.schema import MISSING_CODES

# Rows that are read before they are turned round: they stay in cache.
_BUFFER_BYTES = 8 << 20
# Cells that Python looks at together.
_HARD_CELLS = 1 << 12
_LONGEST_SHOWN = 30
RANGES = {"int8": (-127.0, 127.0), "uint8": (0.0, 254.0)}
"""Whole numbers that a small integer holds beside its code for missing ones."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """Dtypes of a batch: `narrow` where all its values fit, otherwise `wide`, or a refusal if that is None."""

    narrow: str
    wide: str | None

    @classmethod
    def wanted(cls, dtype: str | None) -> Kinds:
        if dtype in RANGES:
            return cls(dtype, None)
        return cls("int8", dtype or "float64")


def missing_code(dtype: np.dtype[Any]) -> float:
    """What stands for a missing value."""
    return float(MISSING_CODES.get(dtype.name, np.nan))


class Batch:
    """The lines of a batch, and how they become columns; `absent` says whether values were missing among them."""

    def __init__(self, lines: Lines, layout: Layout, kinds: Kinds) -> None:
        self._lines, self._layout, self._kinds = lines, layout, kinds
        self.absent = False
        self._text, self._offset = lines.read()
        self._bounds = line_bounds(self._text)
        self._spans = np.zeros((len(self._bounds), len(layout.apart), 2), np.int64)

    def columns(self) -> NDArray[Any]:
        """Values (features, samples) in the narrowest dtype that holds them."""
        values = np.empty((self._layout.n_features, len(self._bounds)), self._kinds.narrow)
        step = max(1, _BUFFER_BYTES // (8 * self._layout.n_features))
        for start in range(0, len(self._bounds), step):
            rows = self._rows(start, min(start + step, len(self._bounds)))
            values = self._wide_enough(values, rows, start)
            self.absent |= turn(rows, missing_code(values.dtype), values[:, start : start + len(rows)])
        return values

    def apart(self) -> dict[str, list[str]]:
        """The cells of the columns that are set apart, once `columns` has found them."""
        return {
            name: [self._cell(line, *self._spans[line, at]) for line in range(len(self._bounds))]
            for at, name in enumerate(self._layout.apart)
        }

    def _rows(self, start: int, stop: int) -> NDArray[np.float64]:
        places = self._layout.places
        values = np.empty((stop - start, self._layout.n_features))
        hard = np.empty((places.size + _HARD_CELLS, 4), np.int64)
        bounds, spans, line = self._bounds[start:stop], self._spans[start:stop], 0
        while line < len(bounds):
            line, n_hard, cells = read_lines(
                self._text, bounds, self._layout.delimiter, places, values, spans, hard, line
            )
            self._resolve(hard[:n_hard], values, start)
            if cells:
                raise self._ragged(start + line, cells)
        return values

    def _resolve(self, hard: NDArray[np.int64], values: NDArray[np.float64], start: int) -> None:
        """Give the cells that need Python their values; what is no number ends here."""
        for row, column, first, last in hard:
            value = python_number(self._shown(first, last))
            if value is None:
                raise self._no_number(start + row, hard[hard[:, 0] == row])
            values[row, self._layout.places[column]] = value

    def _wide_enough(self, values: NDArray[Any], rows: NDArray[np.float64], start: int) -> NDArray[Any]:
        if values.dtype.kind == "f":
            return values
        row, feature = first_misfit(rows, *RANGES[self._kinds.narrow])
        if row < 0:
            return values
        if self._kinds.wide is None:
            raise self._no_fit(start + row, feature, rows[row, feature])
        return widened(values, np.dtype(self._kinds.wide))

    def _shown(self, first: int, last: int) -> str:
        return self._text[first:last].tobytes().decode(errors="backslashreplace").replace('""', '"')

    def _cell(self, line: int, first: int, last: int) -> str:
        try:
            return self._text[first:last].tobytes().decode().replace('""', '"')
        except UnicodeDecodeError as cause:
            raise not_utf8(self._lines.called, self._number_of(line), cause) from cause

    def _number_of(self, line: int) -> int:
        return self._lines.number(self._offset + int(self._bounds[line, 0]))

    def _place(self, line: int, column: int | None = None) -> str:
        where = f"{self._lines.called}, line {self._number_of(line)}"
        return where if column is None else f"{where}, column {self._layout.column(column)}"

    def _ragged(self, line: int, cells: int) -> InvalidDataError:
        if cells < 0:
            return InvalidDataError(
                f"{self._place(line)}: a quoted cell does not end on its line; write cells without line ends in them"
            )
        expected = len(self._layout.names)
        return InvalidDataError(
            f"{self._place(line)} has {cells} cells, {expected} were expected; correct the line, or leave it out"
        )

    def _no_number(self, line: int, hard: NDArray[np.int64]) -> InvalidDataError:
        cells = [(int(column), self._shown(first, last)) for _, column, first, last in hard]
        (column, text), *others = [cell for cell in cells if python_number(cell[1]) is None]
        names = [self._layout.column(other) for other, _ in others]
        more = f", nor is that of {', '.join(names[:3])}" if names else ""
        more += f" and {len(names) - 3} more" if len(names) > 3 else ""
        advice = _advice(column, self._layout.names[column], text)
        return InvalidDataError(f"{self._place(line, column)}: {shortened(text)} is not a number{more}; {advice}")

    def _no_fit(self, line: int, feature: int, value: float) -> InvalidDataError:
        column = int(np.flatnonzero(self._layout.places == feature)[0])
        least, most = RANGES[self._kinds.narrow]
        return InvalidDataError(
            f"{self._place(line, column)}: {value:g} does not fit {self._kinds.narrow}, which holds whole numbers from "
            f"{least:.0f} to {most:.0f}; choose --dtype float32 or float64"
        )


def widened(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Small integers as floats, with NaN for their missing code."""
    if values.dtype == dtype:
        return values
    wide = values.astype(dtype)
    wide[values == missing_code(values.dtype)] = np.nan
    return wide


def shortened(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}...")


def _advice(column: int, name: str, text: str) -> str:
    if re.fullmatch(r"[+-]?\d+,\d+", text):
        return "write decimals with a point"
    if column == 0:
        return f"--sample-id {name} keeps the column as the samples' ids, --exclude {name} leaves it out"
    return f"correct the cell, or leave the column out with --exclude {name}"
