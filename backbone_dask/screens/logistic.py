"""The logistic fit of y on one column at a time: its coefficient, or what it takes off the loss."""

from __future__ import annotations

import math

import numba
import numpy as np

from backbone_dask.columns import Columns
from backbone_dask.screens.rows import (
    LEVELS,
    TABLES,
    as_bytes,
    class_offsets,
    count,
    in_kind,
    is_counted,
    standard_level,
    standardise,
)
from backbone_dask.screens.vectorised import LANES, exp_minus, log_1_plus
from backbone_dask.values import Target, Utilities

RIDGE = 1e-6
"""The fit minimises mean log(1 + exp(-y (b + w z))) + RIDGE / 2 v w^2, v being the product of the classes' shares. It
moves w by less than RIDGE v / h of itself, h being the curvature of the loss in w, and keeps w finite (below 1e4) when
the column separates the classes."""
_MOST_PASSES = 80
_CHUNK = 512
# How far from the fit the last step may leave a coefficient; and the curvature, with b fitted, below which the rounding
# of float32 would: such a column separates the classes, or nearly, or one class is rare.
_SINGLE, _DOUBLE, _FLAT = 1e-7, 1e-13, 5e-3


def logistic(columns: Columns, y: Target) -> Utilities:
    """|w| of the fit (b, w) of y in {-1, +1}, both present, on each standardised column; constant columns score 0.

    Within 1e-9 (1 + |w|) of the minimiser (see `RIDGE`) for float64 and integer columns, 1e-5 (1 + |w|) for float32.
    """
    return np.abs(_fits(columns, y)[0])


def logistic_loss(columns: Columns, y: Target) -> Utilities:
    """The mean loss without the column minus that of the fit `logistic` makes; constant columns score 0.

    Within 1e-12 for float64 and integer columns, 1e-6 for float32 ones.
    """
    return np.maximum(_fits(columns, y)[1], 0.0)


def _fits(columns: Columns, y: Target) -> tuple[Utilities, Utilities]:
    weights, gains = np.zeros(columns.n_features), np.zeros(columns.n_features)
    if (y == y[0]).all():
        return weights, gains
    labels = in_kind(columns, y)
    if is_counted(columns):
        data = as_bytes(columns)
        offsets = class_offsets(y > 0)
        _fit_counted(data.values, data.levels, data.missing, columns.mean, columns.scale, offsets, weights, gains)
    else:
        _fit_floats(columns.values, columns.mean, columns.scale, labels, weights, gains)
    return weights, gains


@numba.njit(cache=True, nogil=True)
def _fit_floats(values, mean, scale, labels, weights, gains):  # type: ignore[no-untyped-def]
    z, double, signs = np.empty_like(labels), np.empty(labels.size), labels.astype(np.float64)
    share, single = (1 + signs.mean()) / 2, z.itemsize == 4
    for j in range(values.shape[0]):
        if scale[j] > 0:
            standardise(values[j], mean[j], scale[j], z)
            weights[j], gains[j], curvature = _newton(z, labels, None, z.size, share, _SINGLE if single else _DOUBLE)
            if single and curvature < _FLAT:
                standardise(values[j], mean[j], scale[j], double)
                weights[j], gains[j], _ = _newton(double, signs, None, z.size, share, _DOUBLE)


@numba.njit(cache=True, nogil=True)
def _fit_counted(values, levels, missing, mean, scale, offsets, weights, gains):  # type: ignore[no-untyped-def]
    tables, counts = np.empty((TABLES, 2 * LEVELS), np.int32), np.empty(2 * LEVELS, np.int32)
    z, labels, shares = np.empty(2 * LEVELS), np.empty(2 * LEVELS), np.empty(2 * LEVELS)
    share = (offsets > 0).mean()
    for j in range(values.shape[0]):
        if scale[j] > 0:
            count(values[j], offsets, tables, counts)
            size = 0
            for cell in range(2 * LEVELS):
                if counts[cell] > 0:
                    z[size] = standard_level(levels, cell % LEVELS, missing, mean[j], scale[j])
                    labels[size], shares[size] = (1.0 if cell >= LEVELS else -1.0), counts[cell]
                    size += 1
            some = slice(0, size)
            weights[j], gains[j], _ = _newton(z[some], labels[some], shares[some], offsets.size, share, _DOUBLE)


@numba.njit(cache=True, nogil=True)
def _newton(z, labels, counts, samples, share, tolerance):  # type: ignore[no-untyped-def]
    """The coefficient of the fit, what it takes off the loss, and the curvature of the loss in the coefficient.

    `counts` (or None, for 1) says how often each z occurs.
    """
    variance = share * (1 - share)
    ridge = RIDGE * variance
    # Without the column the fit is b; the first Newton step from there takes a product, as the score test does.
    b, w = math.log(share / (1 - share)), _slope(z, labels, counts) / (2 * samples * variance)
    peak, trial_b, trial_w = np.abs(z).max(), b, w
    best = (np.inf, 0.0, 0.0, 0.0, 0.0, 0.0)
    step_b, step_w = 0.0, 0.0
    for _ in range(_MOST_PASSES):
        sums = _sums(z, labels, counts, samples, trial_b, trial_w, ridge)
        # The rounding of the loss must not forbid the last steps.
        if sums[0] <= best[0] + 10 * tolerance:
            b, w, best = trial_b, trial_w, sums
            step_b, step_w = _newton_step(sums, ridge)
        else:
            step_b, step_w = step_b / 4, step_w / 4
        trial_b, trial_w = b + step_b, w + step_w
        # No margin moves by more than `reach`, and the curvature changes by a factor of at most exp(reach): what is
        # left after this step is of the order of reach times the step.
        reach = abs(step_b) + abs(step_w) * peak
        if reach * (abs(step_b) + abs(step_w)) <= tolerance * (1 + abs(w)):
            break
    null = -share * math.log(share) - (1 - share) * math.log(1 - share)
    gain = null - best[0] - (best[1] * step_b + best[2] * step_w) / 2
    return trial_w, gain, best[5] - best[4] ** 2 / best[3]


@numba.njit(cache=True, nogil=True)
def _newton_step(sums, ridge):  # type: ignore[no-untyped-def]
    _, slope_b, slope_w, bb, bw, ww = sums
    # The determinant is at least bb * ridge; rounding may say otherwise when few samples carry all of the curvature.
    determinant = max(bb * ww - bw * bw, bb * ridge)
    return (bw * slope_w - ww * slope_b) / determinant, (bw * slope_b - bb * slope_w) / determinant


@numba.njit(cache=True, nogil=True, fastmath=LANES)
def _slope(z, labels, counts):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(z.size):
        total += z[i] * labels[i] if counts is None else z[i] * labels[i] * counts[i]
    return total


@numba.njit(cache=True, nogil=True)
def _sums(z, labels, counts, samples, b, w, ridge):  # type: ignore[no-untyped-def]
    """The loss with its ridge at (b, w), and its first and second derivatives: value, b, w, bb, bw, ww."""
    value, slope_b, slope_w, bb, bw, ww = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    # Chunks are summed in the precision of z, and their sums in float64: the rounding does not grow with the samples.
    for start in range(0, z.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        some = _chunk_sums(z[part], labels[part], None if counts is None else counts[part], b, w)
        value, slope_b, slope_w = value + some[0], slope_b + some[1], slope_w + some[2]
        bb, bw, ww = bb + some[3], bw + some[4], ww + some[5]
    value, slope_w = value / samples + ridge / 2 * w * w, slope_w / samples + ridge * w
    return value, slope_b / samples, slope_w, bb / samples, bw / samples, ww / samples + ridge


@numba.njit(cache=True, nogil=True, fastmath=LANES, error_model="numpy")
def _chunk_sums(z, labels, counts, b, w):  # type: ignore[no-untyped-def]
    kind = z.dtype.type
    b, w, zero, one = kind(b), kind(w), kind(0), kind(1)
    value, slope_b, slope_w, bb, bw, ww = zero, zero, zero, zero, zero, zero
    for i in range(z.size):
        weight = one if counts is None else counts[i]
        margin = labels[i] * (b + w * z[i])
        e = exp_minus(abs(margin))
        right = one / (one + e)
        wrong = e * right if margin > zero else right
        slope, curvature = weight * labels[i] * wrong, weight * e * right * right
        value += weight * (log_1_plus(e) + max(-margin, zero))
        slope_b -= slope
        slope_w -= slope * z[i]
        bb += curvature
        bw += curvature * z[i]
        ww += curvature * z[i] * z[i]
    return value, slope_b, slope_w, bb, bw, ww
