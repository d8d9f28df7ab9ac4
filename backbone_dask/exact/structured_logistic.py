"""Outer approximation for sparse classification with structure: the master chooses groups, weights may have signs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram, Positions
from backbone_dask.exact.logistic_data import Incumbent, LogisticData
from backbone_dask.exact.logistic_outer_approximation import solve_margin
from backbone_dask.exact.perspective import Relaxation
from backbone_dask.exact.structured_gram import GroupedGram, GroupIncumbent
from backbone_dask.exact.structured_incumbent import group_neighbours, improve_groups
from backbone_dask.exact.structured_perspective import solve_group_relaxation
from backbone_dask.losses.logistic import LogisticFit, Margin
from backbone_dask.losses.squared import Vector
from backbone_dask.losses.structured_logistic import fit_columns, group_costs
from backbone_dask.structure import Structure
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised

_EPS = float(np.finfo(np.float64).eps)


def fit_structured_logistic_outer_approximation(
    X: Standardised,
    margin: Margin,
    structure: Structure,
    *,
    n_nonzero: int,
    gamma: float,
    warm_start: CandidateIds,
    seconds: float,
    gap_tolerance: float,
) -> Outcome[SparseFit]:
    """Best fit on at most `n_nonzero` groups of rows of X with logistic loss, and a proven lower bound for it.

    `warm_start` holds positions in X; their groups are meant. The support has the columns with a weight. The free part
    is `losses.logistic.free_part` at the weights. Equal inputs give equal results unless time is what ends it.
    """
    structure.require_columns(X.shape[0])
    return solve_margin(
        lambda usable, cleaned: LogisticGroups.restricted(X, cleaned, gamma, structure, usable),
        X,
        margin,
        n_nonzero=n_nonzero,
        gamma=gamma,
        warm_start=warm_start,
        seconds=seconds,
        gap_tolerance=gap_tolerance,
    )


@dataclass(frozen=True, slots=True)
class LogisticGroups(LogisticData):
    """Features are the groups of a structure; its quadratic models are those of the structured squared loss."""

    structure: Structure

    @classmethod
    def restricted(
        cls, X: Standardised, margin: Margin, gamma: float, structure: Structure, columns: Positions
    ) -> LogisticGroups:
        """The problem on some of the columns."""
        plain = LogisticData.of(X[columns], margin, gamma)
        return cls(plain.X, margin, gamma, plain.norms, structure.restrict(columns))

    @property
    def n_features(self) -> int:
        return self.structure.n_groups

    def columns_of(self, features: Positions) -> Positions:
        return self.structure.columns_of(features)

    def features_of(self, columns: Positions) -> Positions:
        return self.structure.groups_of(columns)

    def of_columns(self, values: Vector) -> Vector:
        return np.asarray(values[self.structure.groups])

    def lengths(self, weights: Vector) -> Vector:
        return np.sqrt(self.structure.sums(weights**2))

    def slopes(self, scores: Vector, error: Vector) -> Vector:
        """sum over every group of the largest phi(X_j'a)^2."""
        reach = self.structure.usable(scores + error) if self.structure.nonnegative else np.abs(scores) + error
        return self.structure.sums(reach**2) * (1 + len(self.X) * _EPS)

    def fit(self, columns: Positions, start: tuple[Vector, Vector]) -> LogisticFit:
        return fit_columns(self.margin, self.X[columns], self.gamma, self.structure, start)

    def costs(self, found: Incumbent) -> Vector:
        groups = self.structure.groups[found.columns]
        return group_costs(self.margin, self.X[found.columns], found.fit, self.gamma, groups)

    def relax(self, gram: Gram, face: Face, start: Vector, tolerance: float, deadline: float) -> Relaxation:
        problem = GroupedGram.of(gram, self.structure)
        return solve_group_relaxation(problem, face, self.gamma, start=start, tolerance=tolerance, deadline=deadline)

    def descend(self, gram: Gram, found: Incumbent, n_nonzero: int) -> Positions:
        return improve_groups(GroupedGram.of(gram, self.structure), found.support, n_nonzero, self.gamma).support

    def neighbours(self, gram: Gram, found: Incumbent, n_nonzero: int, count: int) -> list[Positions]:
        """As for columns, and while there is room the supports with one group more."""
        model = GroupIncumbent(found.support, found.spread(len(self.X)), found.objective)
        return group_neighbours(GroupedGram.of(gram, self.structure), model, n_nonzero, self.gamma, count)
