"""Lines of text to numbers: cells are found, read and set apart in one pass over the bytes."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.store.ingest.decimals import HARD, MISSING, NUMBER, is_missing, read_number

LEFT_OUT = -1
"""In `places`: the column is not wanted. Features have their number there, columns set apart -2, -3, ..."""
WHITESPACE = 0
"""As a delimiter: any run of spaces and tabs."""
_SPACE, _TAB, _QUOTE, _RETURN, _NEWLINE = 32, 9, 34, 13, 10
_SQUARE = 32


@numba.njit(cache=True, nogil=True)
def line_bounds(text: NDArray[np.uint8]) -> NDArray[np.int64]:
    """First byte, and the byte behind the last, of every line that is not blank."""
    count = 1
    for letter in text:
        count += letter == _NEWLINE
    bounds = np.empty((count, 2), np.int64)
    found, start = 0, 0
    for at in range(text.size + 1):
        if at < text.size and text[at] != _NEWLINE:
            continue
        stop = at
        while stop > start and is_blank(text[stop - 1]):
            stop -= 1
        if stop > start:
            # Blanks at the end of a line may be empty cells between tabs.
            stop = at - 1 if at > start and text[at - 1] == _RETURN else at
            bounds[found, 0], bounds[found, 1] = start, stop
            found += 1
        start = at + 1
    return bounds[:found]


@numba.njit(cache=True, nogil=True)
def is_blank(letter: int) -> bool:
    """Whether a byte is a space, a tab or a carriage return."""
    return letter in (_SPACE, _TAB, _RETURN)


@numba.njit(cache=True, nogil=True)
def _skip_blanks(text: NDArray[np.uint8], at: int, stop: int, delimiter: int) -> int:
    while at < stop and (text[at] == _SPACE or text[at] == _TAB) and text[at] != delimiter:
        at += 1
    return at


@numba.njit(cache=True, nogil=True)
def _ends_here(text: NDArray[np.uint8], at: int, stop: int, delimiter: int) -> bool:
    if at >= stop or text[at] == delimiter:
        return True
    return delimiter == WHITESPACE and (text[at] == _SPACE or text[at] == _TAB)


@numba.njit(cache=True, nogil=True)
def _quote_end(text: NDArray[np.uint8], at: int, stop: int) -> int:
    """Where the quote that ends a cell is; -1 if there is none. A doubled quote ends nothing."""
    while at < stop:
        if text[at] == _QUOTE:
            if at + 1 < stop and text[at + 1] == _QUOTE:
                at += 1
            else:
                return at
        at += 1
    return -1


@numba.njit(cache=True, nogil=True)
def _cell(text: NDArray[np.uint8], at: int, stop: int, delimiter: int) -> tuple[int, int, int]:
    """First byte, byte behind the last, and where the delimiter is; without the quotes; -1 for one that is open."""
    if at < stop and text[at] == _QUOTE:
        end = _quote_end(text, at + 1, stop)
        after = _skip_blanks(text, end + 1, stop, delimiter)
        if end >= 0 and (_ends_here(text, end + 1, stop, delimiter) or _ends_here(text, after, stop, delimiter)):
            return at + 1, end, (after if delimiter != WHITESPACE else end + 1)
        if end < 0:
            return at, -1, -1
    begin = at
    while not _ends_here(text, at, stop, delimiter):
        at += 1
    end = at
    while end > begin and (text[end - 1] == _SPACE or text[end - 1] == _TAB):
        end -= 1
    return begin, end, at


@numba.njit(cache=True, nogil=True)
def _value(text: NDArray[np.uint8], at: int, stop: int, delimiter: int) -> Any:
    """Value, what it is, first and last byte of the cell, and where the delimiter is."""
    value, end, kind = read_number(text, at, stop)
    if kind == NUMBER:
        if _ends_here(text, end, stop, delimiter):
            return value, kind, at, end, end
        after = _skip_blanks(text, end, stop, delimiter)
        if delimiter != WHITESPACE and _ends_here(text, after, stop, delimiter):
            return value, kind, at, end, after
    begin, stop_cell, after = _cell(text, at, stop, delimiter)
    if stop_cell < 0:
        return np.nan, HARD, begin, stop_cell, after
    if at < stop and text[at] == _QUOTE:
        value, end, kind = read_number(text, begin, stop_cell)
        if kind == NUMBER and end == stop_cell:
            return value, kind, begin, end, after
    return np.nan, (MISSING if is_missing(text, begin, stop_cell) else HARD), begin, stop_cell, after


@numba.njit(cache=True, nogil=True)
def _next_cell(text: NDArray[np.uint8], at: int, stop: int, delimiter: int) -> int:
    """Where the cell behind the delimiter begins; -1 at the end of the line."""
    if delimiter != WHITESPACE:
        return at + 1 if at < stop else -1
    at = _skip_blanks(text, at, stop, delimiter)
    return at if at < stop else -1


@numba.njit(cache=True, nogil=True)
def _count_cells(text: NDArray[np.uint8], at: int, stop: int, delimiter: int) -> int:
    cells = 0
    at = _skip_blanks(text, at, stop, delimiter)
    while at >= 0:
        at = _skip_blanks(text, at, stop, delimiter)
        at = _cell(text, at, stop, delimiter)[2]
        if at < 0:
            return -1
        cells += 1
        at = _next_cell(text, at, stop, delimiter)
    return cells


@numba.njit(cache=True, nogil=True)
def _read_line(text: Any, at: int, stop: int, delimiter: int, places: Any, values: Any, apart: Any, hard: Any) -> Any:
    """One line into `values` and `apart`: how many cells it has, -1 where a quote is open, and how many are hard."""
    cells, n_hard = 0, 0
    while at >= 0 and cells < places.size:
        place = places[cells]
        at = _skip_blanks(text, at, stop, delimiter)
        if place >= 0:
            value, kind, begin, end, at = _value(text, at, stop, delimiter)
            values[place] = value
        else:
            begin, end, at = _cell(text, at, stop, delimiter)
            kind = NUMBER
            if place < LEFT_OUT:
                apart[-2 - place, 0], apart[-2 - place, 1] = begin, end
        if end < 0:
            return -1, 0
        if kind == HARD:
            hard[n_hard, 1], hard[n_hard, 2], hard[n_hard, 3] = cells, begin, end
            n_hard += 1
        cells += 1
        at = _next_cell(text, at, stop, delimiter)
    return (cells if at < 0 else places.size + _count_cells(text, at, stop, delimiter)), n_hard


@numba.njit(cache=True, nogil=True)
def read_lines(
    text: Any, bounds: Any, delimiter: int, places: Any, values: Any, apart: Any, hard: Any, first: int
) -> tuple[int, int, int]:
    """Lines from `first` on into the rows of `values` and `apart`.

    Answers with the line where it stopped, how many hard cells it met, and 0, or how many cells that line has if that
    is wrong, -1 for a quote that does not end. It stops where another line might have more hard cells than fit;
    each is a row of `hard`: line, column, first byte, byte behind the last.
    """
    n_hard = 0
    for line in range(first, bounds.shape[0]):
        if n_hard + places.size > hard.shape[0]:
            return line, n_hard, 0
        start, stop, room = bounds[line, 0], bounds[line, 1], hard[n_hard:]
        cells, met = _read_line(text, start, stop, delimiter, places, values[line], apart[line], room)
        if cells != places.size:
            return line, n_hard, cells
        room[:met, 0] = line
        n_hard += met
    return bounds.shape[0], n_hard, 0


@numba.njit(cache=True, nogil=True)
def first_misfit(values: NDArray[np.float64], least: float, most: float) -> tuple[int, int]:
    """Where the first value is that is no whole number from `least` to `most`; -1, -1 without one. NaN fits."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            value = values[i, j]
            whole = least <= value <= most and value == np.floor(value) and not (value == 0 and np.signbit(value))
            if not whole and not np.isnan(value):
                return i, j
    return -1, -1


@numba.njit(cache=True, nogil=True)
def turn(values: NDArray[np.float64], code: float, turned: NDArray[Any]) -> bool:
    """Copy rows to columns, with `code` for NaN, and say whether there were any; in squares, for the sake of caches."""
    n, p = values.shape
    absent = False
    for top in range(0, n, _SQUARE):
        for left in range(0, p, _SQUARE):
            for j in range(left, min(left + _SQUARE, p)):
                for i in range(top, min(top + _SQUARE, n)):
                    value = values[i, j]
                    absent |= np.isnan(value)
                    turned[j, i] = code if np.isnan(value) else value
    return absent
