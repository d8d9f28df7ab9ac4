"""The splits that a tree on the cuts of a table may use, each once: what the exact solvers choose from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Floats, Ints

Bits = NDArray[np.bool_]
# Weights are added up in many orders; a bucket that is short by less than this, relatively, may be a full one.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Split f sends the samples right whose code in row `rows[f]` is above `cuts[f]`.

    Attributes
    ----------
    right : array (splits, present)
        Marks who goes right, among the samples that have a weight: `present` (positions).
    """

    rows: Ints
    cuts: Ints
    right: Bits
    present: Ints

    @classmethod
    def of(cls, table: TreeTable, labels: Labels, goal: Goal) -> Splits:
        """Every split that leaves a full bucket on both sides; of those that part the samples alike, the first."""
        present = np.flatnonzero(labels.weights > 0)
        first: dict[bytes, tuple[int, int]] = {}
        for row in range(table.codes.shape[0]):
            codes = table.codes[row, present]
            for cut in _usable_cuts(codes, labels.weights[present], table.n_bins, goal.min_bucket):
                first.setdefault(_kind(codes > cut), (row, cut))
        rows, cuts = np.array(list(first.values()), np.int64).reshape(-1, 2).T
        return cls(rows, cuts, table.codes[np.ix_(rows, present)] > cuts[:, None], present)

    @property
    def size(self) -> int:
        return self.rows.size

    def places(self) -> dict[bytes, int]:
        """Where the split of each kind is; see `place_of`."""
        return {_kind(right): place for place, right in enumerate(self.right)}

    def place_of(self, right: Bits, places: dict[bytes, int]) -> tuple[int, bool]:
        """The split that parts the samples as `right` does, and whether with the sides swapped."""
        place = places[_kind(right)]
        return place, bool(self.right[place, 0] != right[0])


def _usable_cuts(codes: NDArray[np.uint8], weights: Floats, n_bins: int, min_bucket: float) -> list[int]:
    left = np.cumsum(np.bincount(codes, weights, n_bins))
    whole = left[-1]
    least = max(min_bucket - _ROUNDING * whole, 0.0)
    occupied = np.bincount(codes, minlength=n_bins) > 0
    occupied[int(codes.max()) :] = False
    return np.flatnonzero(occupied & (left >= least) & (whole - left >= least)).tolist()


def _kind(right: Bits) -> bytes:
    """The same for a split and for the one with its sides swapped."""
    return np.packbits(right ^ right[0]).tobytes()
