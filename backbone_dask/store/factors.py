"""Base columns held in memory, and products of any two of them, made by a compiled kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidDataError, MemoryBudgetError
from backbone_dask.store.base import BLOCK_BYTES, FeatureStore
from backbone_dask.store.missing import Label, admit, label
from backbone_dask.store.pairs import n_pairs, pairs_of
from backbone_dask.store.schema import MISSING_CODES, MissingPolicy
from backbone_dask.values import CandidateIds, FeatureBlock

MOST_BYTES = 1 << 30
"""Every process that makes products holds the base's columns; more than this is refused."""


@dataclass(frozen=True, slots=True)
class Factors:
    """Columns of a base of `n_base`, and their products under the numbers of pairs: a source for a worker.

    Attributes
    ----------
    rows : array (held,)
        Which columns of the base are held, sorted.
    values : array (held, samples)
        In the dtype of the products; a missing integer has that dtype's code, a missing float is NaN.
    """

    n_base: int
    rows: CandidateIds
    values: NDArray[Any]
    missing: MissingPolicy

    @property
    def n_features(self) -> int:
        return n_pairs(self.n_base)

    @property
    def n_samples(self) -> int:
        return int(self.values.shape[1])

    @property
    def itemsize(self) -> int:
        return self.values.itemsize

    @property
    def waits(self) -> bool:
        return False

    @property
    def block_features(self) -> int:
        return max(1, BLOCK_BYTES // (self.n_samples * self.itemsize))

    def read(self, block: FeatureBlock) -> Columns:
        return self.gather(np.arange(block.start, block.stop))

    def gather(self, ids: CandidateIds) -> Columns:
        return self.admitted(ids, lambda row: label(int(ids[row]), None))

    def portion(self, ids: CandidateIds) -> Factors:
        """Only the columns that the pairs `ids` are made of."""
        rows = np.unique(np.concatenate(pairs_of(ids, self.n_base)))
        return Factors(self.n_base, rows, self.values[np.searchsorted(self.rows, rows)], self.missing)

    def admitted(self, ids: CandidateIds, called: Label) -> Columns:
        """Products with their mean and scale; those too large for their dtype are refused."""
        return admit(self.products(ids), self.missing, called)[0]

    def products(self, ids: CandidateIds) -> NDArray[Any]:
        """Raw products, shape (ids.size, samples); a product with a missing factor is missing."""
        left, right = (np.searchsorted(self.rows, side) for side in pairs_of(ids, self.n_base))
        out = np.empty((ids.size, self.n_samples), self.values.dtype)
        if self.missing == "mean" and self.values.dtype.kind != "f":
            _multiply_present(self.values, left, right, self.values.dtype.type(_code(self.values.dtype)), out)
        else:
            _multiply(self.values, left, right, out)
        return out


def require_factors(base: FeatureStore) -> None:
    """Refuse a base without pairs, and one that a worker should not hold, before any of it is read."""
    if base.n_features < 2:
        raise InvalidDataError(f"{base.location} has 1 feature; interactions need at least 2")
    _require_room(base, base.itemsize)


def load_factors(base: FeatureStore) -> Factors:
    """Read all columns of the base, in the dtype that holds their products."""
    values = np.empty((base.n_features, base.n_samples), base.dtype)
    for block in base.blocks():
        values[block.start : block.stop] = base.read(block).values
    dtype = product_dtype(values, base.missing)
    _require_room(base, dtype.itemsize)
    return Factors(base.n_features, np.arange(base.n_features), _converted(values, dtype, base.missing), base.missing)


def product_dtype(values: NDArray[Any], missing: MissingPolicy) -> np.dtype[Any]:
    """That of the values if no product of two of them overflows it; else uint8, or float32, where it fits.

    Integers that fit neither int8 nor uint8 have products below 2^24, which float32 holds exactly.
    """
    if values.dtype.kind == "f":
        return values.dtype
    low, high = _range(values, _code(values.dtype) if missing == "mean" else None)
    least, most = min(low * low, low * high, high * high, low), max(low * low, high * high, high)
    for dtype in (values.dtype, np.dtype(np.uint8)):
        bounds, code = np.iinfo(dtype), _code(dtype) if missing == "mean" else None
        if bounds.min + (code == bounds.min) <= least and most <= bounds.max - (code == bounds.max):
            return dtype
    return np.dtype(np.float32)


def _code(dtype: np.dtype[Any]) -> int:
    return MISSING_CODES[dtype.name]


def _range(values: NDArray[Any], code: int | None) -> tuple[int, int]:
    """The least and the largest value that is there; (0, 0) where none is."""
    if code is None:
        return int(values.min()), int(values.max())
    there = values != code
    if not there.any():
        return 0, 0
    bounds = np.iinfo(values.dtype)
    return int(values.min(where=there, initial=bounds.max)), int(values.max(where=there, initial=bounds.min))


def _converted(values: NDArray[Any], dtype: np.dtype[Any], missing: MissingPolicy) -> NDArray[Any]:
    """The same values in another dtype, missing ones as it marks them."""
    if dtype == values.dtype:
        return values
    out = values.astype(dtype)
    if missing == "mean":
        out[values == _code(values.dtype)] = np.nan if dtype.kind == "f" else _code(dtype)
    return out


def _require_room(base: FeatureStore, itemsize: int) -> None:
    needed = base.n_features * base.n_samples * itemsize
    if needed > MOST_BYTES:
        fitting = MOST_BYTES // (base.n_samples * itemsize)
        raise MemoryBudgetError(
            f"interactions hold all columns of {base.location} in the memory of every worker: "
            f"{base.n_features} x {base.n_samples} take {needed / 2**30:.2f} GiB, the limit is "
            f"{MOST_BYTES / 2**30:.2f} GiB; use a base of at most {fitting} features"
        )


@numba.njit(cache=True, nogil=True)
def _multiply(values, left, right, out):  # type: ignore[no-untyped-def]
    for j in range(out.shape[0]):
        a, b, row = values[left[j]], values[right[j]], out[j]
        for i in range(row.size):
            row[i] = a[i] * b[i]


@numba.njit(cache=True, nogil=True)
def _multiply_present(values, left, right, code, out):  # type: ignore[no-untyped-def]
    for j in range(out.shape[0]):
        a, b, row = values[left[j]], values[right[j]], out[j]
        for i in range(row.size):
            there = (a[i] != code) & (b[i] != code)
            row[i] = a[i] * b[i] if there else code
