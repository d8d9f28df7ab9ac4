"""Prices of columns: |X_j'a| of every column as the solvers take it, never less than it is.

Sums run in float64 whatever the columns are. What they leave open is added: their own rounding, and that of the
prepared columns to float32, of which the bound over all columns speaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.screens.correlation import centred_products
from backbone_dask.screens.sums import exact_squares, exact_sums

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

_SINGLE, _DOUBLE = float(np.finfo(np.float32).eps) / 2, float(np.finfo(np.float64).eps)
_CARE = 1.01
"""Makes up for the rounding of the few operations that an error bound itself takes."""
_LARGEST = float(np.finfo(np.float64).max)
_WITHIN = 0.99
"""Of what counts as rounding: prepared columns of which less is left are all zero, whatever the rounding."""


@dataclass(frozen=True, slots=True)
class PricePanel:
    """Columns as `Columns.standardised` makes them, against `length` times a direction (samples,) of length 1."""

    direction: Vector
    length: float
    n_questions: ClassVar[int] = 1

    @classmethod
    def along(cls, a: Vector) -> PricePanel:
        return cls(*_unit(a))

    def __call__(self, columns: Columns) -> Matrix:
        products = np.abs(centred_products(columns, self.direction))
        prices = np.divide(products, columns.scale, out=np.zeros_like(products), where=columns.scale > 0)
        samples = self.direction.size
        # The scale is off by the rounding of its own sum of squares.
        prices += _CARE * np.sqrt(samples) * (_SINGLE + 2 * _rounding(samples))
        return np.asarray(prices * self.length)[None]


@dataclass(frozen=True, slots=True)
class AdjustedPricePanel:
    """Columns over the root of x'Hx - |Bx|^2, against `length` times a direction (samples,) of length 1.

    Attributes
    ----------
    squares : array (samples,), the diagonal of H
    taken : array (rows, samples), B
    centred : whether x has its mean taken off first
    longest_row : length that no prepared column exceeds on samples that count
    whole : length of the vector that prepared columns meet, of which the direction may have lost a part
    """

    direction: Vector
    length: float
    squares: Vector
    taken: Matrix
    centred: bool
    longest_row: float
    whole: float
    n_questions: ClassVar[int] = 1

    @classmethod
    def along(
        cls, turned: Vector, a: Vector, *, squares: Vector, taken: Matrix, centred: bool, longest_row: float
    ) -> AdjustedPricePanel:
        """For prepared columns that meet `a` as raw ones meet `turned`."""
        return cls(*_unit(turned), squares, taken, centred, longest_row, _unit(a)[1])

    @property
    def _strength(self) -> float:
        """How many times longer than `whole` the vector may be that raw columns meet."""
        return 2 * max(1.0, float(np.sqrt(self.direction.size * self.squares.max())))

    def __call__(self, columns: Columns) -> Matrix:
        with np.errstate(over="ignore", invalid="ignore"):
            return self._prices(columns)[None]

    def _prices(self, columns: Columns) -> Vector:
        samples, rows = self.direction.size, np.vstack([self.direction, self.taken])
        sums, whole = self._sums(columns, rows)
        error = len(rows) * _rounding(samples)
        raw = np.sqrt(samples) * (columns.scale + (0.0 if self.centred else np.abs(columns.mean)))
        # Both parts of the difference may be off by as much as the sums of squares that they are made of.
        doubt = 4 * error * (whole + raw**2 * self.squares.max())
        length = np.sqrt(np.maximum(whole - (sums[1:] ** 2).sum(axis=0) - doubt, self._least_left(columns, whole)))
        over = np.divide(1.0, length, out=np.zeros_like(length), where=(columns.scale > 0) & ~(length <= 0))
        longest = over * (raw + np.sqrt(samples * np.maximum(whole, 0.0)))
        moved = _SINGLE * np.minimum(longest, self.longest_row) + error * self._strength * longest
        prices = np.abs(sums[0]) * over * self.length + _CARE * moved * self.whole
        # A column whose squares leave the range of numbers may be the dearest; one without a product has no price.
        return np.where(np.isfinite(prices) | ~np.isfinite(sums[0]), prices, _LARGEST)

    def _least_left(self, columns: Columns, whole: Vector) -> Vector:
        """The least square that is left of a column that is not all zero once it is prepared."""
        beside = np.abs(columns.mean) * np.sqrt(self.squares.sum()) * self.centred
        return np.asarray((_WITHIN * columns.rounding(np.sqrt(np.maximum(whole, 0.0)), beside)) ** 2)

    def _sums(self, columns: Columns, rows: Matrix) -> tuple[Matrix, Vector]:
        """What every row sums of the columns, and the weighted sums of their squares."""
        sums, whole = exact_sums(columns, rows), exact_squares(columns, self.squares[None])[0]
        if self.centred:
            return sums, whole
        inside = exact_sums(columns, self.squares[None])[0]
        whole = whole + columns.mean * (2 * inside + columns.mean * self.squares.sum())
        return sums + columns.mean * rows.sum(axis=1, keepdims=True), whole


def _unit(a: Vector) -> tuple[Vector, float]:
    """The direction of a vector, and its length; its squares may leave the range of numbers."""
    peak = float(np.abs(a).max(initial=0.0)) or 1.0
    # Not a BLAS product: its bits would depend on the number of threads.
    length = float(np.sqrt(np.sum((a / peak) ** 2)))
    return (a / peak / (length or 1.0), peak * length)


def _rounding(samples: int) -> float:
    """Relative error of a sum of so many products in float64, in whatever order."""
    return (samples + 32) * _DOUBLE
