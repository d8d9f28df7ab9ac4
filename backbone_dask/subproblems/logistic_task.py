"""One subproblem of sparse classification with logistic loss: its data, and the ridge fits on a few of its columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.losses.logistic import LogisticFit, Margin, fit
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.subproblems.products import Positions
from backbone_dask.values import Standardised

NEGLIGIBLE = 1e-10
"""Differences below this share of the objective are rounding, or what a fit has left to go."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A support (q,), sorted, with its fit."""

    columns: Positions
    fit: LogisticFit

    def beats(self, other: Choice) -> bool:
        """Whether c(S) is lower than the other's by more than rounding."""
        return self.fit.objective < other.fit.objective * (1 - NEGLIGIBLE)


@dataclass(frozen=True, slots=True)
class Task:
    """min over |S| <= n_nonzero of c(S), for the margin of n samples and X (m, n)."""

    X: Standardised
    margin: Margin
    n_nonzero: int
    gamma: float

    def rows(self, columns: Positions) -> Matrix:
        """The given columns in double precision, shape (q, n)."""
        return self.X[columns].astype(np.float64)

    def choose(self, columns: Positions, near: Choice) -> Choice:
        """The fit on the given columns (sorted), starting from the weights that `near` gives them."""
        weights = np.zeros(columns.size)
        known = np.isin(columns, near.columns)
        weights[known] = near.fit.weights[np.searchsorted(near.columns, columns[known])]
        return self.choose_from(columns, weights, near.fit.free)

    def choose_from(self, columns: Positions, weights: Vector, free: Vector) -> Choice:
        """The fit on the given columns (sorted), starting from weights (q,) and a free part."""
        return Choice(columns, fit(self.margin, self.rows(columns), self.gamma, (weights, free)))

    def nothing(self) -> Choice:
        """The empty support."""
        return self.choose_from(np.empty(0, np.int64), np.empty(0), np.zeros(len(self.margin.basis)))
