"""All swaps of one group for another at once, by the formulas of a ridge fit that loses and gains a few columns."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.losses.structured import ActiveFit
from backbone_dask.structure import Structure

_SWEEPS = 30
_SETTLED = 1e-4


@dataclass(frozen=True, slots=True)
class GroupBlocks:
    """The columns of every group, by group, and their products with each other: upper triangles, one after another."""

    structure: Structure
    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    products: Vector

    @classmethod
    def of_rows(cls, X: NDArray[np.float32], structure: Structure, h: Vector) -> GroupBlocks:
        """From the columns themselves, rows of X (m, n), in the metric of a curvature h (n,): about a pass over X."""
        order, starts = structure.by_group()
        products = np.empty(_n_products(starts))
        _row_products(X, order, starts, h.astype(np.float32), products)
        return cls(structure, order, starts, products)

    @classmethod
    def of_gram(cls, G: Matrix, structure: Structure) -> GroupBlocks:
        """From the products of all columns (m, m)."""
        order, starts = structure.by_group()
        products = np.empty(_n_products(starts))
        _gram_products(G, order, starts, products)
        return cls(structure, order, starts, products)


def swap_falls(blocks: GroupBlocks, fit: ActiveFit, products: Matrix, scores: Vector, gamma: float) -> Matrix:
    """Fall of c(S) if group h takes the place of the fit's i-th group, shape (G, groups of the fit + 1).

    The last column is for h joining without one leaving. `products` holds X_j'X_i for every column j and column i of
    the fit (m, q), `scores` X_j'r (m,). With u = A X_S'X_h and s = X_h'X_h + I/gamma - u'X_S'X_h: once o has left, the
    residual's products with X_h are X_h'r + u_o' A_oo^-1 w_o, and s has grown by u_o' A_oo^-1 u_o. Exact for weights
    of any sign, an estimate otherwise. Falls of groups that are in the fit mean nothing.
    """
    products = np.ascontiguousarray(products)
    u = products @ fit.inverse
    loose = np.stack([scores + u[:, role.places] @ role.pull for role in fit.roles] + [scores], axis=1)
    grown = np.concatenate([u[:, role.places] @ role.spread for role in fit.roles] + [u[:, :0]], axis=1)
    ends = np.cumsum([0] + [role.places.size for role in fit.roles] + [0])
    gains = np.empty((blocks.structure.n_groups, len(fit.roles) + 1))
    table = (blocks.order, blocks.starts, blocks.products)
    _gains(*table, products, u, grown, ends, loose, 1 / gamma, blocks.structure.nonnegative, gains)
    return np.asarray(gains - np.append(fit.costs, 0.0))


def _n_products(starts: NDArray[np.int64]) -> int:
    sizes = np.diff(starts)
    return int((sizes * (sizes + 1) // 2).sum())


# Sums may be reordered, which makes them vector instructions; each is over one pair of columns.
@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _row_products(X, order, starts, h, out):  # type: ignore[no-untyped-def]
    at = 0
    for g in range(starts.size - 1):
        for a in range(starts[g], starts[g + 1]):
            for b in range(a, starts[g + 1]):
                first, second = X[order[a]], X[order[b]]
                total = np.float32(0)
                for i in range(X.shape[1]):
                    total += first[i] * second[i] * h[i]
                out[at] = total
                at += 1


@numba.njit(cache=True, nogil=True)
def _gram_products(G, order, starts, out):  # type: ignore[no-untyped-def]
    at = 0
    for g in range(starts.size - 1):
        for a in range(starts[g], starts[g + 1]):
            for b in range(a, starts[g + 1]):
                out[at] = G[order[a], order[b]]
                at += 1


@numba.njit(cache=True, nogil=True)
def _gains(order, starts, blocks, products, u, grown, ends, loose, ridge, nonnegative, out):  # type: ignore[no-untyped-def]
    at = 0
    for g in range(starts.size - 1):
        columns = order[starts[g] : starts[g + 1]]
        size = columns.size
        rest = np.empty((size, size))
        for a in range(size):
            for b in range(a, size):
                rest[a, b] = rest[b, a] = blocks[at] - np.dot(u[columns[a]], products[columns[b]])
                at += 1
            rest[a, a] = max(rest[a, a], 0.0) + ridge
        for place in range(out.shape[1]):
            system, b = _after(rest, grown[:, ends[place] : ends[place + 1]], columns), loose[columns, place]
            out[g, place] = _nonnegative_gain(system, b) if nonnegative else _gain(system, b, ridge)


@numba.njit(cache=True, nogil=True)
def _after(rest, grown, columns):  # type: ignore[no-untyped-def]
    system = rest.copy()
    for a in range(columns.size):
        for b in range(columns.size):
            for i in range(grown.shape[1]):
                system[a, b] += grown[columns[a], i] * grown[columns[b], i]
    return system


@numba.njit(cache=True, nogil=True)
def _gain(system, b, least):  # type: ignore[no-untyped-def]
    """b' system^-1 b / 2 by elimination in place; a pivot is at least `least`, also where rounding says less."""
    gain = 0.0
    for a in range(b.size):
        pivot = max(system[a, a], least)
        gain += b[a] ** 2 / (2 * pivot)
        for c in range(a + 1, b.size):
            part = system[c, a] / pivot
            b[c] -= part * b[a]
            for d in range(a + 1, b.size):
                system[c, d] -= part * system[a, d]
    return gain


@numba.njit(cache=True, nogil=True)
def _nonnegative_gain(system, b):  # type: ignore[no-untyped-def]
    """max of b'w - w' system w / 2 over w >= 0, from below, by coordinate ascent."""
    weights, gain = np.zeros(b.size), 0.0
    for _ in range(_SWEEPS):
        before = gain
        for a in range(b.size):
            # b holds the slopes at the current weights.
            step = max(weights[a] + b[a] / system[a, a], 0.0) - weights[a]
            gain += step * b[a] - step**2 * system[a, a] / 2
            weights[a] += step
            for c in range(b.size):
                b[c] -= step * system[c, a]
        if gain - before <= _SETTLED * gain:
            break
    return gain
