"""One structured subproblem: its data, and the fits on a few of its groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.losses.squared import Vector
from backbone_dask.losses.structured import ActiveFit, fit_weights
from backbone_dask.structure import Structure
from backbone_dask.subproblems.products import Positions
from backbone_dask.subproblems.task import NEGLIGIBLE, Pool, Task

NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class GroupChoice:
    """Groups (g,) with the columns (q,) that their fit gives weights (q,); `explained` is y'y/2 - c(S)."""

    groups: Positions
    columns: Positions
    weights: Vector
    explained: float

    def beats(self, other: GroupChoice) -> bool:
        """Whether c(S) is lower than the other's by more than rounding."""
        return self.explained > other.explained * (1 + NEGLIGIBLE)


@dataclass(frozen=True, slots=True)
class StructuredTask:
    """min of c(S) over sets S of at most `plain.n_nonzero` groups; `plain` has the data, y'y = n."""

    plain: Task
    structure: Structure

    @property
    def room(self) -> int:
        return self.plain.n_nonzero

    def pool(self, groups: Positions) -> Pool:
        """The columns of the given groups with their products."""
        return self.plain.pool(self.structure.columns_of(groups))

    def choose(self, pool: Pool, groups: Positions) -> GroupChoice:
        """The fit on these groups of the pool; groups that it gives no weight are not among its groups."""
        members = np.flatnonzero(np.isin(self.structure.groups[pool.columns], groups))
        b = pool.b[members]
        weights = fit_weights(pool.gram[np.ix_(members, members)], b, self.plain.gamma, self.structure)
        used = weights != 0
        columns = pool.columns[members[used]]
        return GroupChoice(self.structure.groups_of(columns), columns, weights[used], 0.5 * float(b @ weights))

    def nothing(self) -> GroupChoice:
        return GroupChoice(NOTHING, NOTHING, np.empty(0), 0.0)

    def objective(self, choice: GroupChoice) -> float:
        return 0.5 * self.plain.yy - choice.explained

    def residual(self, choice: GroupChoice) -> Vector:
        """y - X_S w: the dual vector of a support."""
        return self.plain.y - choice.weights @ self.plain.rows(choice.columns)

    def roles(self, pool: Pool, choice: GroupChoice, gamma: float) -> ActiveFit:
        """What each group of the choice does in its fit; the pool holds all of them."""
        at = np.searchsorted(pool.columns, choice.columns)
        groups = self.structure.groups[choice.columns]
        return ActiveFit.of(pool.gram[np.ix_(at, at)], choice.weights, gamma, groups)
