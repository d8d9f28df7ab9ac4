"""Standard normals by address: any (key, sample) is made without making the ones before it."""

from __future__ import annotations

from functools import cache

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

# numba turns int64 mixed with uint64 into float64, so every operand of the hash is spelled uint64.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_ONE, _S16, _S27, _S30, _S31, _S32, _S48 = (np.uint64(value) for value in (1, 16, 27, 30, 31, 32, 48))
_QUARTER = np.uint64(0xFFFF)

PER_HASH = 4
"""Normals from one 64-bit hash: 16 bits each."""


@cache
def quantile_table() -> NDArray[np.float32]:
    """The normal quantiles at (i + 1/2) / 65,536, scaled to variance 1; shape (65536,), mean exactly 0."""
    upper = ndtri((np.arange(32_768) + 32_768.5) / 65_536)
    upper = (upper / np.sqrt(np.mean(upper**2))).astype(np.float32)
    table = np.concatenate([-upper[::-1], upper])
    table.setflags(write=False)
    return table


@numba.njit(cache=True, nogil=True)
def mix(z):  # type: ignore[no-untyped-def]
    """The finaliser of splitmix64: a bijection of 64 bits in which every input bit reaches every output bit."""
    z = (z ^ (z >> _S30)) * _FIRST
    z = (z ^ (z >> _S27)) * _SECOND
    return z ^ (z >> _S31)


@numba.njit(cache=True, nogil=True)
def fill_normals(base, column, first, table, out):  # type: ignore[no-untyped-def]
    """The noise of `column` from hash number `first` on: four samples a hash; out.size is a multiple of four."""
    key = mix(base + np.uint64(column) * _GOLDEN)
    # A step of its own for every column: with one common step, two columns could run through the same hashes.
    step = mix(key + _GOLDEN) | _ONE
    for block in range(out.size // PER_HASH):
        h = mix(key + np.uint64(first + block) * step)
        at = PER_HASH * block
        out[at] = table[h & _QUARTER]
        out[at + 1] = table[(h >> _S16) & _QUARTER]
        out[at + 2] = table[(h >> _S32) & _QUARTER]
        out[at + 3] = table[h >> _S48]


@numba.njit(cache=True, nogil=True)
def fill_sixteen_bits(base, columns, out):  # type: ignore[no-untyped-def]
    """One draw of 0 to 65,535 for each column, by its address."""
    for at in range(columns.size):
        out[at] = mix(base + np.uint64(columns[at]) * _GOLDEN) >> _S48
