"""exp(-a) and log(1 + e) inside of compiled loops, written so that a loop over a column runs in vector lanes.

The C library's functions cannot be put into lanes: called per sample they cost several times the rest of a pass.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import overload

# Reassociation lets sums run in vector lanes; per column and in a fixed order, so blocks do not change the bits.
LANES = {"reassoc", "contract", "nsz"}
# A check for division by zero would keep a loop out of the lanes.
_QUICK = {"fastmath": LANES, "error_model": "numpy"}
MOST = 80.0
"""Larger arguments of `exp_minus` count as this: exp(-80) is a normal number in float32, and nothing next to 1."""

# Taylor's coefficients: of exp(-f) for |f| <= log(2) / 2, and of 2 atanh(s) / s in s^2 for s <= 1/3. What is left out
# is below the rounding of the sum.
_EXP_SINGLE = tuple(np.float32((-1) ** k / math.factorial(k)) for k in range(8))
_EXP_DOUBLE = tuple((-1) ** k / math.factorial(k) for k in range(15))
_LOG_SINGLE = tuple(np.float32(2 / (2 * k + 1)) for k in range(8))
_LOG_DOUBLE = tuple(2 / (2 * k + 1) for k in range(17))
_LOG2_E, _LN_2 = 1 / math.log(2), math.log(2)


def exp_minus(a: Any) -> Any:
    """exp(-a) for a >= 0, in the precision of `a`; only for compiled code. The relative error is below
    3e-7 + 3e-8 a in float32 and 1e-15 + 1e-16 a in float64.
    """
    raise NotImplementedError("exp_minus is for compiled code")


def log_1_plus(e: Any) -> Any:
    """log(1 + e) for 0 <= e <= 1, in the precision of `e`; only for compiled code. Relative error as of `exp_minus`."""
    raise NotImplementedError("log_1_plus is for compiled code")


@numba.njit(nogil=True, fastmath=LANES)
def _horner(coefficients, x):  # type: ignore[no-untyped-def]
    total = coefficients[-1]
    for k in range(len(coefficients) - 1):
        total = total * x + coefficients[len(coefficients) - 2 - k]
    return total


@overload(exp_minus, jit_options=_QUICK)
def _exp_minus(a):  # type: ignore[no-untyped-def]
    # exp(-a) = 2^-k exp(-f) with f = a - k log(2); the power of two is written straight into the exponent's bits.
    def single(a):  # type: ignore[no-untyped-def]
        a = min(a, np.float32(MOST))
        k = np.int32(a * np.float32(_LOG2_E) + np.float32(0.5))
        power = np.int32((np.int32(127) - k) << np.int32(23)).view(np.float32)
        return _horner(_EXP_SINGLE, a - np.float32(k) * np.float32(_LN_2)) * power

    def double(a):  # type: ignore[no-untyped-def]
        a = min(a, MOST)
        k = np.int64(a * _LOG2_E + 0.5)
        return _horner(_EXP_DOUBLE, a - k * _LN_2) * np.int64((1023 - k) << 52).view(np.float64)

    return single if a == types.float32 else double


@overload(log_1_plus, jit_options=_QUICK)
def _log_1_plus(e):  # type: ignore[no-untyped-def]
    # log(1 + e) = 2 atanh(s) with s = e / (2 + e).
    def single(e):  # type: ignore[no-untyped-def]
        s = e / (np.float32(2) + e)
        return s * _horner(_LOG_SINGLE, s * s)

    def double(e):  # type: ignore[no-untyped-def]
        s = e / (2 + e)
        return s * _horner(_LOG_DOUBLE, s * s)

    return single if e == types.float32 else double
