"""Shares of the room that a node has: the best z for given weights, and the proximal step with its piece."""

from __future__ import annotations

import numba
import numpy as np

from backbone_dask.exact.kernel_pieces import FREE, MINUS, NOTHING, PLUS, REQUIRED, WHOLE

_LEVEL_STEPS = 60
_FLAT = 1e-11
"""A share this close to 0 or 1 is there."""
_NEGLIGIBLE = 1e-100


@numba.njit(cache=True, nogil=True)
def _first_level(size, offset, status, room):  # type: ignore[no-untyped-def]
    """The level if all shares were fractions, and the level at which all are whole; equal if there is room for all."""
    highest, positive, sizes, offsets = 0.0, 0, 0.0, 0.0
    for j in range(size.size):
        if status[j] == FREE and size[j] > _NEGLIGIBLE:
            highest = max(highest, (1 + offset[j]) / size[j])
            positive += 1
            sizes += size[j]
            offsets += offset[j]
    if positive <= room:
        return highest, highest
    return min((room + offsets) / sizes, highest), highest


@numba.njit(cache=True, nogil=True)
def _sum_of_shares(size, offset, status, level):  # type: ignore[no-untyped-def]
    """The sum of the free features' shares at a level, and how it grows with it."""
    total, slope = 0.0, 0.0
    for j in range(size.size):
        if status[j] == FREE:
            share = size[j] * level - offset[j]
            total += min(max(share, 0.0), 1.0)
            slope += size[j] if 0 <= share < 1 else 0.0
    return total, slope


@numba.njit(cache=True, nogil=True)
def _level(size, offset, status, room):  # type: ignore[no-untyped-def]
    """The level at which the shares clip(size_j * level - offset_j, 0, 1) of the free features sum to the room."""
    level, high = _first_level(size, offset, status, room)
    low = 0.0
    for _ in range(_LEVEL_STEPS if level < high else 0):
        total, slope = _sum_of_shares(size, offset, status, level)
        if abs(total - room) <= 1e-13 * room:
            break
        if total < room:
            low = level
        else:
            high = level
        level = level + (room - total) / slope if slope > 0 else high
        if not low < level < high:
            level = 0.5 * (low + high)
    return level


@numba.njit(cache=True, nogil=True)
def regroup(pull, status, code, room, v, s, u):  # type: ignore[no-untyped-def]
    """The proximal step from v, into u, and the piece it lies in, into `code`; whether that is another one."""
    size, offset = np.empty(v.size), np.empty(v.size)
    for j in range(v.size):
        u[j] = pull[j] * v[j] + s[j]
        size[j] = abs(u[j]) / pull[j]
        offset[j] = 1 / pull[j]
    level = _level(size, offset, status, room) if room > 0 else 0.0
    moved = False
    for j in range(v.size):
        share = 1.0 if status[j] == REQUIRED else 0.0
        if status[j] == FREE:
            share = min(max(size[j] * level - offset[j], 0.0), 1.0)
            new = _place(share, u[j])
            moved |= new != code[j]
            code[j] = new
        u[j] *= share / (1 + pull[j] * share)
    return moved


@numba.njit(cache=True, nogil=True)
def _place(share: float, weight: float) -> int:
    if share >= 1 - _FLAT:
        return WHOLE
    if share <= _FLAT:
        return NOTHING
    return PLUS if weight > 0 else MINUS


@numba.njit(cache=True, nogil=True)
def shares(status, room, v, z):  # type: ignore[no-untyped-def]
    """The best z for v."""
    size, offset = np.empty(v.size), np.zeros(v.size)
    for j in range(v.size):
        size[j] = abs(v[j])
    level = _level(size, offset, status, room) if room > 0 else 0.0
    for j in range(v.size):
        z[j] = 1.0 if status[j] == REQUIRED else 0.0
        if status[j] == FREE:
            z[j] = min(size[j] * level, 1.0)
