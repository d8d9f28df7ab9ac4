"""Lines of `label index:value index:value ...` to entries, in one pass over the bytes."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.store.ingest.decimals import NUMBER, is_missing, read_number
from backbone_dask.store.ingest.text_rows import is_blank

_HASH, _COLON = 35, 58
_QID = np.frombuffer(b"qid:", np.uint8)
# Nineteen digits would not fit.
_MOST_INDEX = 10**15


@numba.njit(cache=True, nogil=True)
def sample_bounds(text: NDArray[np.uint8], bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Lines without their comments and the blanks around them; those that hold nothing else are left out."""
    kept = np.empty_like(bounds)
    count = 0
    for line in range(bounds.shape[0]):
        start, stop = bounds[line]
        start = _word_start(text, start, stop)
        end = start
        while end < stop and text[end] != _HASH:
            end += 1
        if end > start:
            kept[count, 0], kept[count, 1] = start, end
            count += 1
    return kept[:count]


@numba.njit(cache=True, nogil=True)
def count_colons(text: NDArray[np.uint8]) -> int:
    """At most so many entries."""
    count = 0
    for letter in text:
        count += letter == _COLON
    return count


@numba.njit(cache=True, nogil=True)
def _word_start(text: NDArray[np.uint8], at: int, stop: int) -> int:
    while at < stop and is_blank(text[at]):
        at += 1
    return at


@numba.njit(cache=True, nogil=True)
def _word_end(text: NDArray[np.uint8], at: int, stop: int) -> int:
    while at < stop and not is_blank(text[at]):
        at += 1
    return at


@numba.njit(cache=True, nogil=True)
def _is_qid(text: NDArray[np.uint8], at: int, stop: int) -> bool:
    return stop - at > _QID.size and bool((text[at : at + _QID.size] == _QID).all())


@numba.njit(cache=True, nogil=True)
def _index(text: NDArray[np.uint8], at: int, stop: int) -> Any:
    """The whole number in front of a colon, and where the value begins; -1, -1 if there is none."""
    value, first = np.int64(0), at
    while at < stop and 48 <= text[at] <= 57 and value < _MOST_INDEX:
        value = value * 10 + np.int64(text[at]) - 48
        at += 1
    if at == first or at >= stop or text[at] != _COLON:
        return -1, -1
    return value, at + 1


@numba.njit(cache=True, nogil=True)
def _doubled(hard: NDArray[np.int64]) -> NDArray[np.int64]:
    larger = np.empty((2 * hard.shape[0], hard.shape[1]), np.int64)
    larger[: hard.shape[0]] = hard
    return larger


@numba.njit(cache=True, nogil=True)
def read_entries(
    text: Any, bounds: Any, labels: Any, rows: Any, columns: Any, values: Any
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """All entries into `rows`, `columns` and `values`, and the bytes of each label into `labels`.

    Answers with the number of entries, those whose value Python has to look at (entry, first byte, byte behind the
    last), and the line and bytes of the first word that is no entry, -1 without one.
    """
    count, n_hard, hard = 0, 0, np.empty((64, 3), np.int64)
    wrong = np.full(3, -1, np.int64)
    for line in range(bounds.shape[0]):
        start, stop = bounds[line]
        at = _word_end(text, start, stop)
        labels[line, 0], labels[line, 1] = start, at
        at = _word_start(text, at, stop)
        while at < stop:
            end = _word_end(text, at, stop)
            if not _is_qid(text, at, end):
                column, begin = _index(text, at, end)
                if column < 0 or begin >= end:
                    wrong[0], wrong[1], wrong[2] = line, at, end
                    return count, hard[:n_hard], wrong
                value, last, kind = read_number(text, begin, end)
                if kind != NUMBER or last != end:
                    if n_hard == hard.shape[0]:
                        hard = _doubled(hard)
                    value = np.nan
                    if not is_missing(text, begin, end):
                        hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = count, begin, end
                        n_hard += 1
                rows[count], columns[count], values[count] = line, column, value
                count += 1
            at = _word_start(text, end, stop)
    return count, hard[:n_hard], wrong
