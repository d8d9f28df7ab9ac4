"""The columns of a reduced tree problem: values in the units of the data, and the cuts that splits may use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.trees.bins import MOST_CUTS, Codes, Cuts, encode, find_cuts
from backbone_dask.trees.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class TreeTable:
    """`values` and `codes` have the shape (features, samples); code <= c if and only if value <= cuts[c]."""

    values: NDArray[Any]
    cuts: Cuts
    codes: Codes

    @classmethod
    def of(cls, values: NDArray[Any], n_cuts: int) -> TreeTable:
        """A table with at most `n_cuts` cuts a feature, at its quantiles."""
        cuts = find_cuts(values, n_cuts)
        return cls(values, cuts, encode(values, cuts))

    @property
    def n_bins(self) -> int:
        return int(self.cuts.shape[1]) + 1

    def with_cuts(self, tree: Tree) -> TreeTable:
        """The same table where the thresholds of a tree on the values, of one feature a split, are cuts as well."""
        split = tree.is_split
        rows, thresholds = tree.features[split, 0], tree.thresholds[split]
        extra = [np.unique(thresholds[rows == row]) for row in range(self.values.shape[0])]
        width = self.cuts.shape[1] + max((each.size for each in extra), default=0)
        cuts = np.full((self.values.shape[0], min(width, MOST_CUTS)), np.inf)
        for row, (old, new) in enumerate(zip(self.cuts, extra, strict=True)):
            found = np.union1d(old[np.isfinite(old)], new)[: cuts.shape[1]]
            cuts[row, : found.size] = found
        return TreeTable(self.values, cuts, encode(self.values, cuts))

    def in_units(self, tree: Tree) -> Tree:
        """A tree on the codes as the same tree on the values."""
        split, thresholds = tree.is_split, np.zeros(tree.n_nodes)
        thresholds[split] = self.cuts[tree.features[split, 0], tree.thresholds[split].astype(np.int64)]
        return replace(tree, thresholds=thresholds)
