"""One batch of svmlight lines to entries sorted by feature; what cannot be read is said with its place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.decimals import python_number
from backbone_dask.store.ingest.layout import not_utf8
from backbone_dask.store.ingest.lines import Lines
from backbone_dask.store.ingest.svm_entries import count_colons, read_entries, sample_bounds
from backbone_dask.store.ingest.text_batch import shortened
from backbone_dask.store.ingest.text_rows import line_bounds


class SvmBatch:
    """The lines of a batch, and their entries."""

    def __init__(self, lines: Lines, dtype: str) -> None:
        self._lines, self._dtype = lines, np.dtype(dtype)
        self._text, self._offset = lines.read()
        self._bounds = sample_bounds(self._text, line_bounds(self._text))
        self._labels = np.zeros((len(self._bounds), 2), np.int64)

    @property
    def n_samples(self) -> int:
        return len(self._bounds)

    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
        """Columns, samples and values, sorted by column and sample."""
        most = count_colons(self._text)
        rows, columns, values = np.empty(most, np.int32), np.empty(most, np.int64), np.empty(most)
        count, hard, wrong = read_entries(self._text, self._bounds, self._labels, rows, columns, values)
        if wrong[0] >= 0:
            raise self._refusal(wrong[0], f"{self._shown(*wrong[1:])} is no index:value")
        for entry, first, last in hard:
            values[entry] = self._number(rows[entry], columns[entry], first, last)
        order = np.argsort(columns[:count], kind="stable")
        columns, rows = columns[order], rows[order]
        self._require_once(columns, rows)
        return columns, rows, values[order].astype(self._dtype)

    def labels(self) -> list[str]:
        """The first word of every line, once `entries` has found them."""
        return [self._label(line, *span) for line, span in enumerate(self._labels)]

    def _label(self, line: int, first: int, last: int) -> str:
        try:
            return self._text[first:last].tobytes().decode()
        except UnicodeDecodeError as cause:
            raise not_utf8(self._lines.called, self._number_of(line), cause) from cause

    def _number(self, line: int, column: int, first: int, last: int) -> float:
        value = python_number(self._text[first:last].tobytes().decode(errors="backslashreplace"))
        if value is None:
            raise self._refusal(line, f"the value of feature {column}, {self._shown(first, last)}, is not a number")
        return value

    def _require_once(self, columns: NDArray[np.int64], rows: NDArray[np.int32]) -> None:
        twice = np.flatnonzero((columns[1:] == columns[:-1]) & (rows[1:] == rows[:-1]))
        if twice.size:
            raise self._refusal(rows[twice[0]], f"feature {columns[twice[0]]} occurs twice")

    def _shown(self, first: int, last: int) -> str:
        return shortened(self._text[first:last].tobytes().decode(errors="backslashreplace"))

    def _number_of(self, line: int) -> int:
        return self._lines.number(self._offset + int(self._bounds[line, 0]))

    def _refusal(self, line: int, what: str) -> InvalidDataError:
        where = f"{self._lines.called}, line {self._number_of(line)}"
        return InvalidDataError(f"{where}: {what}; a line is a label and then index:value, with blanks between them")
