"""Sample weights, and what is in every model without a penalty: the intercept and covariates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from backbone_dask.columns import LEAST_LEFT, Columns
from backbone_dask.errors import InvalidDataError
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import Standardised, Target

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

ROWS_AT_A_TIME = 256
_DEPENDENT = 1e-10


@dataclass(frozen=True)
class Adjustment:
    """What the fit of every support shares.

    Attributes
    ----------
    weights : array (samples,), >= 0
        A sample of weight 2 counts as two samples.
    free : array (rows, samples)
        In every model, unpenalised: the ones of the intercept first, if there is one, then covariates.
    has_intercept : bool
    """

    weights: Vector
    free: Matrix
    has_intercept: bool

    @property
    def n_samples(self) -> int:
        return int(self.weights.size)

    @property
    def total(self) -> float:
        """How many samples the weights stand for."""
        return float(self.weights.sum())

    @cached_property
    def is_plain(self) -> bool:
        """Whether there is an intercept and nothing else: standardising columns is all that is left to do."""
        return self.has_intercept and len(self.free) == 1 and bool((self.weights == 1).all())

    @cached_property
    def root(self) -> Vector:
        return np.asarray(np.sqrt(self.weights))

    @cached_property
    def basis(self) -> Matrix:
        """Orthonormal rows that span root * free; covariates that depend on each other count once."""
        return orthonormal(self.free * self.root)

    @property
    def rounding(self) -> float:
        """What a prepared column may be off by before it becomes float32, relative to its length, in the worst case."""
        if self.is_plain:
            return 0.0
        sums = (len(self.basis) + 2) * (self.n_samples + 32)
        return sums * float(np.finfo(np.float64).eps) / LEAST_LEFT

    def target(self, y: Target) -> Target:
        """root * y without its part in the span of root * free: what a squared loss is left to explain."""
        return self.outside(self.root * y)

    def outside(self, a: Vector) -> Vector:
        """a (samples,) without its part in the span of root * free."""
        with one_blas_thread():
            return np.asarray(_without(a, self.basis))

    def projected(self, columns: Columns) -> Standardised:
        """root * X_j without its part in the span, at the length sqrt(n); all zero for a column in the span.

        The sum of squared errors of a model of these rows for `target` is the weighted one of the model with its best
        intercept and covariates: a solver need not know of any of them.
        """
        if self.is_plain:
            return columns.standardised()
        with one_blas_thread():
            return np.concatenate([np.empty((0, self.n_samples), np.float32), *self._strips(columns)])

    def projected_scale(self, columns: Columns) -> Vector:
        """What `projected` divides each column by; 0 for one in the span."""
        with one_blas_thread():
            return self._projected_strip(columns)[1]

    def scaled(self, columns: Columns) -> Standardised:
        """Columns at weighted mean 0, if there is an intercept, and weighted mean square 1; covariates stay in them."""
        if self.has_intercept and bool((self.weights == 1).all()):
            return columns.standardised()
        parts = [self._scaled_strip(columns[at : at + ROWS_AT_A_TIME])[0] for at in _starts(columns)]
        return np.concatenate([np.empty((0, self.n_samples), np.float32), *parts])

    def scaled_scale(self, columns: Columns) -> Vector:
        """What `scaled` divides each column by; 0 for a constant one."""
        return self._scaled_strip(columns)[1]

    def gamma(self, gamma: float) -> float:
        """The ridge weight for rows of length sqrt(n) that is `gamma` for rows of length sqrt(total)."""
        return gamma * self.total / self.n_samples

    def free_part(self, rest: Target) -> Vector:
        """Coefficients of the free rows that explain `rest`, the target without the model's columns."""
        with one_blas_thread():
            return np.asarray(np.linalg.lstsq((self.free * self.root).T, self.root * rest)[0])

    def _strips(self, columns: Columns) -> list[Standardised]:
        return [self._projected_strip(columns[at : at + ROWS_AT_A_TIME])[0] for at in _starts(columns)]

    def _rows(self, columns: Columns) -> Matrix:
        """Columns over their scale, about 0 if there is an intercept; all zero where they are constant."""
        rows = columns.values.astype(np.float64)
        if columns.missing is not None:
            rows[columns.values == columns.missing] = np.nan
        if self.has_intercept:
            rows -= columns.mean[:, None]
        rows *= np.divide(1.0, columns.scale, out=np.zeros(len(rows)), where=columns.scale > 0)[:, None]
        # A missing value stands for the mean.
        rest = (
            0.0 if self.has_intercept else (columns.mean / np.where(columns.scale > 0, columns.scale, np.inf))[:, None]
        )
        rows = np.where(np.isnan(rows), rest, rows)
        # What does not count may be so far from what does that its squares are no numbers.
        rows[:, self.weights == 0] = 0.0
        return rows

    def _scaled_strip(self, columns: Columns) -> tuple[Standardised, Vector]:
        rows, share = self._rows(columns), self.weights / self.total
        rounding = self._rounding(columns, rows * self.root) / np.sqrt(self.weights.mean())
        if self.has_intercept:
            rows -= np.einsum("ji,i->j", rows, share)[:, None] * (share > 0)
        length = np.sqrt(np.einsum("ji,ji,i->j", rows, rows, share))
        return _at_length(rows, np.where(length > rounding, length, 0.0), columns.scale)

    def _projected_strip(self, columns: Columns) -> tuple[Standardised, Vector]:
        rows = self._rows(columns) * self.root
        rounding = self._rounding(columns, rows)
        rows = _without(rows, self.basis)
        left = _lengths(rows)
        return _at_length(rows, np.where(left > rounding, left, 0.0), columns.scale)

    def _rounding(self, columns: Columns, rows: Matrix) -> Vector:
        """What root * X_j cannot be told from 0 by, over the scale; `rows` are about 0 if there is an intercept."""
        mean = np.divide(np.abs(columns.mean), columns.scale, out=np.zeros(len(rows)), where=columns.scale > 0)
        beside = mean * np.sqrt(self.weights.mean()) if self.has_intercept else np.zeros(len(rows))
        return columns.rounding(_lengths(rows), beside)


def adjustment(
    n_samples: int, *, sample_weight: Any = None, covariates: Any = None, fit_intercept: bool = True
) -> Adjustment:
    """Check sample weights (samples,) and covariates (samples, q), and put them together."""
    weights = checked_weights(sample_weight, n_samples)
    ones = [np.ones(n_samples)] if fit_intercept else []
    rows = _checked_covariates(covariates, n_samples) if covariates is not None else np.empty((0, n_samples))
    return Adjustment(weights, np.array([*ones, *rows]).reshape(-1, n_samples), fit_intercept)


def orthonormal(rows: Matrix) -> Matrix:
    """An orthonormal basis of the span of some rows, as rows."""
    if not len(rows):
        return rows
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    with one_blas_thread():
        q, r, _ = qr((rows / np.where(lengths > 0, lengths, 1)).T, mode="economic", pivoting=True)
    return np.asarray(q[:, np.abs(np.diagonal(r)) > _DEPENDENT].T)


def _starts(columns: Columns) -> range:
    return range(0, columns.n_features, ROWS_AT_A_TIME)


def _without(rows: Any, basis: Matrix) -> Any:
    return rows - (rows @ basis.T) @ basis


def _at_length(rows: Matrix, length: Vector, scale: Vector) -> tuple[Standardised, Vector]:
    """Rows over their length, all zero where it is 0; and what columns of that scale were divided by in all."""
    rows *= np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)[:, None]
    return rows.astype(np.float32), length * scale


def _lengths(rows: Matrix) -> Vector:
    return np.asarray(np.sqrt(np.einsum("ji,ji->j", rows, rows) / rows.shape[1]))


def as_numbers(name: str, given: Any) -> NDArray[np.float64]:
    """An array of what was given under a name, or what is wrong with it."""
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError) as cause:
        raise InvalidDataError(f"{name} must be an array of numbers, and cannot be read as one ({cause})") from cause


def checked_weights(sample_weight: Any, n_samples: int) -> Vector:
    """Sample weights (samples,), or what is wrong with them; None is 1 for each."""
    if sample_weight is None:
        return np.ones(n_samples)
    weights = as_numbers("sample_weight", sample_weight)
    if weights.shape != (n_samples,):
        raise InvalidDataError(f"sample_weight has shape {weights.shape}, the table has {n_samples} samples")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise InvalidDataError(f"sample_weight is {weights[wrong[0]]:g} at sample {wrong[0]}; it must be 0 or more")
    if not weights.any():
        raise InvalidDataError("every sample_weight is zero; at least one sample must count")
    return weights


def _checked_covariates(covariates: Any, n_samples: int) -> Matrix:
    table = as_numbers("covariates", covariates)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[0] != n_samples:
        raise InvalidDataError(f"covariates have shape {table.shape}, the table has {n_samples} samples")
    wrong = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if wrong.size:
        raise InvalidDataError(f"covariates contain NaN or infinity at sample {wrong[0]}; clean them first")
    return table.T
