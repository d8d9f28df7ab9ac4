"""The design matrix: rows N(0, Sigma) with Sigma_ij = rho^|i-j|, any column without the ones before it.

Walking from column to column, x_j = rho x_{j-1} + sqrt(1 - rho^2) noise_j, would make a scattered column cost a walk.
The same law is reached by halving. Anchors stand so far apart that their correlation is below 1e-9, and are fresh
noise. The column half way between two known columns at distance 2d is, given both, normal with mean
q / (1 + q^2) * (left + right) and variance (1 - q^2) / (1 + q^2), where q = rho^d; and because the walk is Markov,
nothing else matters to it. So a column has log2(spacing) ancestors, a run of columns costs one noise each, and what a
column holds depends on its address alone: not on the block that it is read in.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidSettingError
from backbone_dask.store.synthetic.addresses import Purpose, key
from backbone_dask.store.synthetic.genotypes import cuts
from backbone_dask.store.synthetic.noise import PER_HASH, fill_normals, quantile_table
from backbone_dask.store.synthetic.recipe import Recipe
from backbone_dask.values import CandidateIds

NEGLIGIBLE = 1e-9
"""Anchors whose correlation would be below this are drawn independently."""

# Samples made at a time: the rows of all ancestors then stay in the second-level cache, for any number of samples.
_TILE = 4_096
_ANCHORS = 2


def columns(recipe: Recipe, start: int, stop: int) -> NDArray[Any]:
    """The features [start, stop), shape (stop - start, samples): the same bits in every block that covers them."""
    if not 0 <= start <= stop <= recipe.n_features:
        raise InvalidSettingError(
            f"the block [{start}, {stop}) is not within the {recipe.n_features} features; use 0 <= start <= stop"
        )
    return _made(recipe, np.arange(start, stop, dtype=np.int64))


def gather(recipe: Recipe, ids: CandidateIds) -> NDArray[Any]:
    """The features `ids` (sorted, unique), shape (ids.size, samples): the same bits as reading their blocks."""
    ids = np.asarray(ids, dtype=np.int64)
    if ids.size and not (ids[0] >= 0 and ids[-1] < recipe.n_features and np.all(ids[1:] > ids[:-1])):
        raise InvalidSettingError(
            f"ids must be sorted, unique and in [0, {recipe.n_features}); pass them through numpy.unique first"
        )
    return _made(recipe, ids)


def halvings(rho: float) -> int:
    """log2 of the distance between anchors: the smallest at which rho^distance is negligible."""
    if rho <= NEGLIGIBLE:
        return 0
    return math.ceil(math.log2(math.log(NEGLIGIBLE) / math.log(rho)))


def bridge(rho: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What each halving takes of (left + right) and of fresh noise, widest first; two arrays (halvings,)."""
    levels = halvings(rho)
    distance = 2.0 ** np.arange(levels - 1, -1, -1)
    log_q = distance * math.log(rho) if levels else distance
    # expm1 keeps the digits of 1 - q^2 when rho is close to 1.
    share = np.exp(log_q) / (1 + np.exp(2 * log_q))
    spread = np.sqrt(-np.expm1(2 * log_q) / (1 + np.exp(2 * log_q)))
    return share.astype(np.float32), spread.astype(np.float32)


def _made(recipe: Recipe, ids: CandidateIds) -> NDArray[Any]:
    out = np.empty((ids.size, recipe.n_samples), recipe.dtype)
    share, spread = bridge(recipe.rho)
    edges = cuts(recipe, ids) if recipe.coding == "genotype" else np.empty((0, 2), np.float32)
    _sweep(ids, key(recipe.seed, Purpose.DESIGN, recipe.draw), quantile_table(), share, spread, edges, out)
    return out


@numba.njit(cache=True, nogil=True)
def _tile_width(samples):  # type: ignore[no-untyped-def]
    """Whole hashes, in tiles of nearly equal width."""
    tiles = max(1, -(-samples // _TILE))
    return -(-samples // (tiles * PER_HASH)) * PER_HASH


@numba.njit(cache=True, nogil=True)
def _sweep(ids, base, table, share, spread, edges, out):  # type: ignore[no-untyped-def]
    """Columns in rising order, a tile of samples at a time; ancestors are kept while the columns below them pass."""
    samples = out.shape[1]
    width = _tile_width(samples)
    held = np.empty(share.size + _ANCHORS, np.int64)
    rows = np.empty((held.size, width), np.float32)
    for first in range(0, samples, width):
        held[:] = -1
        for at in range(ids.size):
            slot = _descend(ids[at], base, first // PER_HASH, table, share, spread, rows, held)
            part = out[at][first : first + width]
            if edges.size:
                _count(rows[slot], edges[at, 0], edges[at, 1], part)
            else:
                _copy(rows[slot], part)


@numba.njit(cache=True, nogil=True)
def _descend(column, base, first, table, share, spread, rows, held):  # type: ignore[no-untyped-def]
    """The slot of `rows` that holds `column`, after filling those of its ancestors that are not there yet."""
    levels = share.size
    segment = column >> levels
    start = segment << levels
    left = _anchor(segment, levels, base, first, table, rows, held)
    if column == start:
        return left
    right = _anchor(segment + 1, levels, base, first, table, rows, held)
    for level in range(levels):
        middle = start + (1 << (levels - 1 - level))
        slot = level + _ANCHORS
        if held[slot] != middle:
            fill_normals(base, middle, first, table, rows[slot])
            _join(rows[left], rows[right], share[level], spread[level], rows[slot])
            held[slot] = middle
        if column == middle:
            return slot
        if column < middle:
            right = slot
        else:
            left, start = slot, middle
    return left


@numba.njit(cache=True, nogil=True)
def _anchor(segment, levels, base, first, table, rows, held):  # type: ignore[no-untyped-def]
    """The slot of a segment's first column. Neighbours take turns: the end of one is the start of the next."""
    slot = segment & 1
    column = segment << levels
    if held[slot] != column:
        fill_normals(base, column, first, table, rows[slot])
        held[slot] = column
    return slot


@numba.njit(cache=True, nogil=True)
def _join(left, right, share, spread, row):  # type: ignore[no-untyped-def]
    for i in range(row.size):
        row[i] = share * (left[i] + right[i]) + spread * row[i]


@numba.njit(cache=True, nogil=True)
def _copy(row, part):  # type: ignore[no-untyped-def]
    """The samples that were asked for: the last hash may have made up to three more."""
    for i in range(part.size):
        part[i] = row[i]


@numba.njit(cache=True, nogil=True)
def _count(row, first, second, part):  # type: ignore[no-untyped-def]
    """Genotypes: how many of the two edges each normal lies above."""
    for i in range(part.size):
        part[i] = np.int8(row[i] > first) + np.int8(row[i] > second)
