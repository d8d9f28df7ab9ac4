"""SR-REL: sparse regression by the boolean relaxation's dual sub-gradient, then exchanges until none helps."""

from __future__ import annotations

import math

import numpy as np

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.losses.squared import Vector
from backbone_dask.subproblems.ascent import ascend
from backbone_dask.subproblems.polish import polish, trim
from backbone_dask.subproblems.task import Choice, Task
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import Mask, SparseFit, Standardised, Target


def fit_relaxation(X: Standardised, y: Target, *, n_nonzero: int, gamma: float | None, seed: int) -> SparseFit:
    """The best support found of at most `n_nonzero` rows of X, with its ridge weights and c(S).

    X has shape (features, samples). y has shape (samples,) and is taken as given: for a model with an intercept it is
    centred. `gamma` is the ridge weight, 1/sqrt(samples) if None. No swap of one feature for another lowers c(S) by
    more than the rounding of single precision. Constant columns are never chosen, and no feature of the support is
    without effect, so it may be smaller than asked. Nothing is drawn: `seed` is there because the protocol has it, and
    the same arguments give the same bits.
    """
    _check(X, y, n_nonzero, gamma)
    # The bits of a BLAS product depend on the number of threads.
    with one_blas_thread():
        scaled, scale = _normalised(np.asarray(y, np.float64))
        if scale == 0:
            return SparseFit(X.shape[0], np.empty(0, np.int64), np.empty(0), 0.0)
        task = Task(np.ascontiguousarray(X, np.float32), scaled, n_nonzero, _usable(gamma, n_nonzero, y.size))
        choice = trim(task, polish(task, ascend(task)))
    return _in_units_of(scale, X.shape[0], choice)


def relevant_of(fit: SparseFit) -> Mask:
    """Marks the support among the columns just fitted, shape (n_columns,)."""
    mask = np.zeros(fit.n_columns, np.bool_)
    mask[fit.support] = True
    return mask


def _check(X: Standardised, y: Target, n_nonzero: int, gamma: float | None) -> None:
    if X.ndim != 2 or y.shape != (X.shape[1],):
        raise InvalidDataError(f"X of shape {X.shape} (features, samples) does not fit y of shape {y.shape}")
    if not np.isfinite(y).all():
        raise InvalidDataError("y holds values that are not finite; drop those samples first")
    if n_nonzero < 1:
        raise InvalidSettingError(f"n_nonzero must be at least 1, not {n_nonzero}")
    if gamma is not None and not 0 < gamma < math.inf:
        raise InvalidSettingError(f"gamma must be positive and finite, not {gamma}")


def _normalised(y: Vector) -> tuple[Vector, float]:
    """z and scale with y = scale * z and z'z = n; zeros and 0 for a y of zeros."""
    # The largest value goes first, so that squares neither overflow nor vanish.
    size = float(np.abs(y).max(initial=0.0))
    if size == 0:
        return np.zeros_like(y), 0.0
    z = y / size
    spread = float(np.sqrt(z @ z / z.size))
    return z / spread, spread * size


def _usable(gamma: float | None, n_nonzero: int, n_samples: int) -> float:
    if gamma is None:
        return 1 / math.sqrt(n_samples)
    # G_SS has eigenvalues up to k n: a smaller 1/gamma would vanish in their rounding, and with it the factorisation
    # of columns that depend on each other. At the other end, squares of weights must not underflow.
    return min(max(gamma, 1e-100), 1e11 / (n_nonzero * n_samples))


def _in_units_of(scale: float, n_columns: int, choice: Choice) -> SparseFit:
    weights = choice.fit.weights * scale
    kept = weights != 0
    return SparseFit(n_columns, choice.columns[kept], weights[kept], choice.fit.objective * scale * scale)
