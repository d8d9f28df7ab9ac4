"""Numbers in text: as exact as Python's own float, without Python for all but one in a thousand."""

from __future__ import annotations

import re
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

NUMBER, MISSING, HARD = 0, 1, 2
"""What a cell turned out to be; a hard one is a number that needs Python's float, or no number at all."""

# 10^22 is the largest power of ten that is a float64; a quotient or product of two exact floats is rounded once.
_TENS = 10.0 ** np.arange(23)
_MOST_EXACT = np.uint64(1 << 53)
# Nineteen digits fit into 64 bits, and their product with these powers is neither infinite nor denormal.
_LEAST_POWER, _MOST_POWER = -300, 280
_HUGE = 99_999
_FULL = np.uint64(10**18)
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.ASCII | re.IGNORECASE)
_NOTHING = {"", "na", "n/a", "nan", "-nan", "null", "none", "?", "."}


def python_number(text: str) -> float | None:
    """The number that a cell holds, NaN where it is missing, None where it is something else."""
    text = text.strip()
    if text.lower() in _NOTHING:
        return float("nan")
    return float(text) if _PLAIN.fullmatch(text) else None


def _power_of_five(q: int) -> tuple[int, int]:
    """The first 64 bits of 5^q, rounded down, and the power of two that they are to be multiplied with."""
    if q >= 0:
        shift = (5**q).bit_length() - 64
        return (5**q >> shift if shift > 0 else 5**q << -shift), shift
    divisor = 5**-q
    shift = -(divisor.bit_length() + 63)
    return (1 << -shift) // divisor, shift


_POWERS = [_power_of_five(q) for q in range(_LEAST_POWER, _MOST_POWER + 1)]
_FIVES = np.array([bits for bits, _ in _POWERS], np.uint64)
_SHIFTS = np.array([shift for _, shift in _POWERS], np.int64)
_LEAST_BINARY = -1074
_TWOS = np.ldexp(1.0, np.arange(_LEAST_BINARY, 972))


@numba.njit(cache=True, nogil=True)
def _product(x: Any, y: Any) -> Any:
    """The upper and the lower 64 bits of x * y."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    x1, x0, y1, y0 = x >> half, x & low, y >> half, y & low
    middle = x1 * y0 + ((x0 * y0) >> half)
    cross = x0 * y1 + (middle & low)
    return x1 * y1 + (middle >> half) + (cross >> half), x * y


@numba.njit(cache=True, nogil=True)
def _rounded(digits: Any, power: int) -> tuple[float, bool]:
    """digits * 10^power as the nearest float64, and whether that is certain."""
    if digits <= _MOST_EXACT and -22 <= power <= 22:
        return (digits * _TENS[power] if power >= 0 else digits / _TENS[-power]), True
    if digits == 0:
        return 0.0, True
    if power < _LEAST_POWER or power > _MOST_POWER:
        return 0.0, False
    one, x, zeros = np.uint64(1), digits, 0
    while x >> np.uint64(63) == 0:
        x, zeros = x << one, zeros + 1
    high, low = _product(x, _FIVES[power - _LEAST_POWER])
    drop = np.uint64(10) + (high >> np.uint64(63))
    rest, half, kept = high & ((one << drop) - one), one << (drop - one), high >> drop
    # The power of five is at most one unit too small, and so is `high`: only next to a half does that matter.
    if not 0 <= power <= 27 and (rest == half - one or (rest == half and low == 0)):
        return 0.0, False
    tie = rest == half and low == 0
    if rest >= half and (not tie or kept & one):
        kept += one
    binary = np.int64(drop) + 64 - zeros + power + _SHIFTS[power - _LEAST_POWER]
    return kept * _TWOS[binary - _LEAST_BINARY], True


@numba.njit(cache=True, nogil=True)
def _is_digit(letter: int) -> bool:
    return 48 <= letter <= 57


@numba.njit(cache=True, nogil=True)
def _exponent(text: NDArray[np.uint8], at: int, stop: int) -> Any:
    """The number behind an e, and where it ends; it ends where it began if there is none."""
    begin, sign, value = at, 1, np.int64(0)
    if at < stop and (text[at] == 45 or text[at] == 43):
        sign = -1 if text[at] == 45 else 1
        at += 1
    first = at
    while at < stop and _is_digit(text[at]):
        if value < _HUGE:
            value = value * 10 + np.int64(text[at]) - 48
        at += 1
    return (sign * value, at) if at > first else (0, begin)


@numba.njit(cache=True, nogil=True)
def _digits(text: NDArray[np.uint8], at: int, stop: int) -> Any:
    """Mantissa, power of ten, how many digits did not fit, how many there are, and where they end."""
    digits, power, lost, count, point = np.uint64(0), 0, 0, 0, False
    while at < stop:
        letter = text[at]
        if _is_digit(letter):
            count += 1
            if digits < _FULL:
                digits = digits * np.uint64(10) + np.uint64(letter - 48)
                power -= point
            else:
                lost += 1
                power += not point
        elif letter == 46 and not point:
            point = True
        else:
            break
        at += 1
    return digits, power, lost, count, at


@numba.njit(cache=True, nogil=True)
def read_number(text: NDArray[np.uint8], at: int, stop: int) -> tuple[float, int, int]:
    """The number that begins at `at`, where it ends, and what it is; a hard one needs a look at the whole cell."""
    begin, negative = at, False
    if at < stop and (text[at] == 45 or text[at] == 43):
        negative = text[at] == 45
        at += 1
    digits, power, lost, count, at = _digits(text, at, stop)
    if count == 0:
        return 0.0, begin, HARD
    if at < stop and (text[at] | 32) == 101:
        extra, end = _exponent(text, at + 1, stop)
        if end == at + 1:
            return 0.0, begin, HARD
        power, at = power + extra, end
    value, sure = _rounded(digits, power)
    if sure and lost > 0:
        # Between these digits and the next higher ones lies the number: do both have the same nearest float?
        above, sure = _rounded(digits + np.uint64(1), power)
        sure = sure and above == value
    return (-value if negative else value), at, (NUMBER if sure else HARD)


@numba.njit(cache=True, nogil=True)
def is_missing(text: NDArray[np.uint8], at: int, stop: int) -> bool:
    """Whether a cell says that there is no value: nothing, NA, N/A, NaN, null, none, ?, or a point."""
    size = stop - at
    if size == 0:
        return True
    if size == 1:
        return bool(text[at] == 63 or text[at] == 46)
    if (text[at] | 32) != 110 or size > 4:
        return False
    second, third = text[at + 1] | 32, text[at + 2] | 32 if size > 2 else 0
    if size == 2:
        return bool(second == 97)
    if size == 3:
        return bool((second == 97 and third == 110) or (text[at + 1] == 47 and third == 97))
    last = text[at + 3] | 32
    return bool((second == 117 and third == 108 and last == 108) or (second == 111 and third == 110 and last == 101))
