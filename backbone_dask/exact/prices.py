"""What prices of columns say: a bound over all of them, and which are missing from a relaxation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from backbone_dask.losses.squared import Vector
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Standardised

_EPS = float(np.finfo(np.float64).eps)
_SINGLE = 1.01 * float(np.finfo(np.float32).eps) / 2
_ROWS = 256
"""So many columns are in float64 at a time."""


@dataclass(frozen=True, slots=True)
class Prices:
    """|X_j'a| of some columns, by id, never less than it is; no other column's exceeds `rest`."""

    ids: CandidateIds
    prices: Vector
    rest: float
    n_rest: int

    def with_known(self, ids: CandidateIds, prices: Vector) -> Prices:
        """The same with other prices for some columns, or with prices for more of them."""
        others = ~np.isin(self.ids, ids, assume_unique=True)
        both = np.concatenate([self.ids[others], ids])
        order = np.argsort(both)
        return replace(self, ids=both[order], prices=np.concatenate([self.prices[others], prices])[order])

    def heaviest(self, n_nonzero: int) -> float:
        """At least the sum of the n_nonzero largest (X_j'a)^2 over all columns."""
        known = np.sort(self.prices)[::-1][:n_nonzero]
        # Columns that are not known by name may take the places of those that they might exceed.
        known = np.concatenate([known, np.full(min(n_nonzero, self.n_rest), self.rest)])
        largest = np.sort(known)[::-1][:n_nonzero]
        return float(largest @ largest) * (1 + (n_nonzero + 8) * _EPS)

    def entering(self, working: CandidateIds, n_nonzero: int) -> CandidateIds:
        """The columns outside the working set that reach the n_nonzero-th largest price inside, the dearest first."""
        inside = np.isin(self.ids, working, assume_unique=True)
        ranked = np.sort(self.prices[inside])[::-1]
        level = ranked[n_nonzero - 1] if ranked.size >= n_nonzero else 0.0
        wanted = np.flatnonzero(~inside & (self.prices >= level) & (self.prices > 0))
        return self.ids[wanted[np.argsort(-self.prices[wanted], kind="stable")]]


def prices_of(X: Standardised, a: Vector, rounding: float = 0.0) -> Vector:
    """|X_j'a| of prepared columns (features, samples) in float64, its rounding and theirs to float32 added.

    `rounding` is what they may have been off by before, relative to their length.
    """
    with one_blas_thread():
        parts = (_prices(X[at : at + _ROWS], a, rounding) for at in range(0, len(X), _ROWS))
        return np.concatenate([np.empty(0), *parts])


def _prices(X: Standardised, a: Vector, rounding: float) -> Vector:
    rows = X.astype(np.float64)
    lengths = np.sqrt(np.einsum("ji,ji->j", rows, rows))
    # Twice: their scale is off by the rounding of its own sum of squares, too.
    doubt = (_SINGLE + rounding + 2 * (a.size + 16) * _EPS) * lengths * float(np.linalg.norm(a))
    return np.asarray(np.abs(rows @ a) + doubt)
