"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"


def number(value: float, digits: int = 4) -> str:
    """A number with so many significant digits: 1,234, 0.05678, 1.2×10⁻⁷."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "not finite"
    if value == int(value) and abs(value) < 1e15 and isinstance(value, int):
        return _signed(f"{value:,}")
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if -4 <= int(exponent) < 7:
        return _signed(_plain(value, digits, int(exponent)))
    return _signed(f"{_trimmed(mantissa)}{TIMES}{power(int(exponent))}")


def ticks(values: Sequence[float]) -> dict[float, str]:
    """The numbers of one axis in words, with as many digits as it takes to tell them apart."""
    for digits in range(3, 12):
        named = {value: tick(value, digits) for value in values}
        if len(set(named.values())) == len(named):
            break
    return named


def tick(value: float, digits: int = 3) -> str:
    """A round number of an axis: 250, 10,000, 10⁶, 2×10⁶; with so many digits after the first at most."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    if -4 < exponent < 5:
        return _signed(_trimmed(f"{value:,.{max(0, digits - exponent)}f}"))
    mantissa = _trimmed(f"{value / 10.0**exponent:.{digits}f}")
    return _signed(power(exponent) if mantissa == "1" else f"{mantissa}{TIMES}{power(exponent)}")


def power(exponent: int) -> str:
    """A power of ten."""
    return f"10{str(exponent).translate(_RAISED)}"


def percent(share: float) -> str:
    """A share in percent, exact enough to tell little from nothing and much from all."""
    if share in (0, 1) or not 0 < share < 1:
        return f"{_signed(f'{100 * share:.4g}')} %"
    if share < 1e-4:
        return "below 0.01 %"
    return f"{min(100 * share, 99.99):.2f}".rstrip("0").rstrip(".") + " %"


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 0.0995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 99.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def size(n_bytes: float) -> str:
    """A number of bytes in the unit that suits it."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.3g} {unit}"
    return f"{n_bytes:.0f} bytes"


def _plain(value: float, digits: int, exponent: int) -> str:
    return _trimmed(f"{value:,.{max(0, digits - 1 - exponent)}f}")


def _trimmed(words: str) -> str:
    return words.rstrip("0").rstrip(".") if "." in words else words


def _signed(words: str) -> str:
    return words.replace("-", MINUS)
