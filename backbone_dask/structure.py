"""What a linear model must respect besides sparsity: features that enter together, weights that are not negative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError

Positions = NDArray[np.int64]
Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Structure:
    """`groups` is the group of every column (m,), numbered 0..G-1 without gaps; columns of a group enter together.

    A feature on its own is a group of one. Sparsity counts groups. With `nonnegative` no weight is below 0.
    """

    groups: Positions
    nonnegative: bool

    def __post_init__(self) -> None:
        _check(self.groups)

    @classmethod
    def single(cls, n_columns: int, *, nonnegative: bool = False) -> Structure:
        """Every column on its own."""
        return cls(np.arange(n_columns), nonnegative)

    @property
    def n_columns(self) -> int:
        return self.groups.size

    @property
    def n_groups(self) -> int:
        return int(self.groups.max(initial=-1)) + 1

    def require_columns(self, n_columns: int) -> None:
        """Refuse a matrix of another number of columns."""
        if self.n_columns != n_columns:
            raise InvalidDataError(f"the structure is of {self.n_columns} columns, X has {n_columns}; restrict it")

    def restrict(self, columns: NDArray[Any]) -> Structure:
        """The structure of some of the columns, positions or a mask; groups that lose all of theirs are gone."""
        return Structure(np.unique(self.groups[columns], return_inverse=True)[1].astype(np.int64), self.nonnegative)

    def sums(self, scores: Scores) -> Scores:
        """The sum of a score (m,) over every group (G,), taken in the order of the columns."""
        return np.bincount(self.groups, scores, minlength=self.n_groups).astype(np.float64)

    def columns_of(self, groups: Positions) -> Positions:
        """Sorted positions of all columns of some groups."""
        chosen = np.zeros(self.n_groups, np.bool_)
        chosen[groups] = True
        return np.flatnonzero(chosen[self.groups])

    def groups_of(self, columns: Positions) -> Positions:
        """The groups that have one of these columns, sorted."""
        return np.unique(self.groups[columns])

    def by_group(self) -> tuple[Positions, Positions]:
        """Columns in the order of their groups (m,), and where each group starts in it (G + 1,)."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.groups, minlength=self.n_groups))])
        return np.argsort(self.groups, kind="stable"), starts.astype(np.int64)

    def usable(self, correlations: Scores) -> Scores:
        """phi(X_j'a), the part of a correlation that a weight can use: all of it, or what is positive."""
        return np.maximum(correlations, 0.0) if self.nonnegative else correlations


def _check(groups: Positions) -> None:
    if groups.ndim != 1 or groups.dtype != np.int64:
        raise InvalidDataError(f"groups must be one int64 per column, not {groups.dtype} of shape {groups.shape}")
    if groups.size and (groups.min() < 0 or np.bincount(groups).min() == 0):
        raise InvalidDataError("groups must be numbered 0, 1, ... without gaps; number them by np.unique's inverse")
