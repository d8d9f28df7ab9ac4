"""|cor(X_j, y)|: with mean and scale known, one dot product per column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numba
import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.protocols import Shuffle
from backbone_dask.screens.panels import TargetsPanel
from backbone_dask.values import Target, Utilities


def correlation(columns: Columns, y: Target) -> Utilities:
    """Absolute correlation of every column with y, in [0, 1]; constant columns score 0.

    float64 columns are scored in float64. The others are summed in float32 lanes, which keeps the speed of memory:
    the error is below 1e-5.
    """
    return np.asarray(CorrelationPanel(y)(columns)[0])


@dataclass(frozen=True)
class CorrelationPanel:
    """`correlation` with one target, which is centred once for all blocks."""

    y: Target
    n_questions: ClassVar[int] = 1

    @cached_property
    def unit(self) -> NDArray[np.float64]:
        """The target at mean 0 and length 1."""
        # The largest value goes first, so that squares neither overflow nor vanish.
        y = self.y / (np.abs(self.y).max(initial=0.0) or 1.0)
        centred = y - y.mean()
        # Not a BLAS product: its bits would depend on the number of threads.
        norm = np.sqrt(np.sum(centred * centred))
        return np.asarray(centred / norm if norm > 0 else centred)

    @cached_property
    def single(self) -> NDArray[np.float32]:
        return self.unit.astype(np.float32)

    def shuffled(self, shuffle: Shuffle) -> TargetsPanel:
        return TargetsPanel(shuffle(self.unit))

    def __call__(self, columns: Columns) -> NDArray[np.float64]:
        if columns.values.dtype == np.float64:
            dots = centred_products(columns, self.unit)
        else:
            dots = centred_products(columns, self.single)
            extreme = np.flatnonzero((columns.scale > _LARGE) | ((columns.scale > 0) & (columns.scale < 1 / _LARGE)))
            if extreme.size:
                dots[extreme] = centred_products(_in_float64(columns[extreme]), self.single.astype(np.float64))
        lengths = columns.scale * np.sqrt(self.y.size)
        scores = np.divide(np.abs(dots), lengths, out=np.zeros_like(dots), where=lengths > 0)
        # Beyond rounding no correlation exceeds 1: the values are not those that mean and scale were taken from.
        scores[scores > _IMPOSSIBLE] = np.nan
        return np.asarray(np.minimum(scores, 1.0, out=scores)[None])


# Past these scales products of float32 overflow or vanish; such columns are rare, and summed in float64.
_LARGE = 1e25
_IMPOSSIBLE = 1.01


def _in_float64(columns: Columns) -> Columns:
    return Columns(columns.values.astype(np.float64), columns.mean, columns.scale, columns.missing)


def centred_products(columns: Columns, unit: NDArray[Any]) -> NDArray[np.float64]:
    """sum_i (x_i - mean) unit_i of every column, summed in the precision of `unit`."""
    dots = np.empty(columns.n_features)
    if columns.missing is None:
        _centred_dots(columns.values, columns.mean.astype(unit.dtype), unit, dots)
    else:
        _present_dots(columns.values, columns.missing, columns.mean, unit, dots)
    return dots


# Reassociation lets the sum run in vector lanes; per column and in a fixed order, so blocks do not change the bits.
_LANES = {"reassoc", "contract", "nsz"}


@numba.njit(cache=True, nogil=True, fastmath=_LANES)
def _centred_dots(values, mean, unit, dots):  # type: ignore[no-untyped-def]
    features, samples = values.shape
    for j in range(features):
        column, centre = values[j], mean[j]
        total = unit.dtype.type(0)
        for i in range(samples):
            total += (unit.dtype.type(column[i]) - centre) * unit[i]
        dots[j] = total


@numba.njit(cache=True, nogil=True, fastmath=_LANES)
def _present_dots(values, code, mean, unit, dots):  # type: ignore[no-untyped-def]
    features, samples = values.shape
    for j in range(features):
        column, centre = values[j], unit.dtype.type(mean[j])
        total, weight = unit.dtype.type(0), unit.dtype.type(0)
        for i in range(samples):
            present = unit[i] if column[i] != code else unit.dtype.type(0)
            total += (unit.dtype.type(column[i]) - centre) * present
            weight += present
        # The target does not sum to 0 over the samples that are present, so the rounding of the mean counts.
        dots[j] = total - (mean[j] - centre) * weight
