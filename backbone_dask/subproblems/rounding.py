"""Randomised rounding: features that coins, weighted by the relaxation, choose at least once."""

from __future__ import annotations

import numpy as np

from backbone_dask.errors import InvalidSettingError
from backbone_dask.losses.squared import Vector
from backbone_dask.subproblems.ascent import ascend
from backbone_dask.subproblems.products import Positions, largest
from backbone_dask.subproblems.task import Choice, Task, normalised
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import SparseFit, Standardised, Target

DRAWS = 10
_ROUNDING = 3
"""Address of the draws, apart from those of a hold-out."""


def fit_rounding(
    X: Standardised,
    y: Target,
    *,
    n_nonzero: int,
    gamma: float | None,
    seed: int,
    draws: int = DRAWS,
    keep: int | None = None,
) -> SparseFit:
    """The `keep` largest weights of the ridge fit on the union of `draws` supports, each Bernoulli(z) for every row.

    z (features,) is the averaged point of the relaxation for supports of `n_nonzero` rows of X (features, samples);
    `keep` is n_nonzero if None; half of what is too much leaves at a time, with a new ridge fit after it. y (samples,)
    is taken as given, gamma is 1/sqrt(samples) if None. The objective is c(S), as that of other solvers.
    """
    if draws < 1 or (keep is not None and keep < 1):
        raise InvalidSettingError(f"draws is {draws} and keep is {keep}; they must be at least 1")
    with one_blas_thread():
        problem = normalised(X, y, n_nonzero, gamma)
        if problem.scale == 0:
            return problem.answer(problem.task.nothing())
        union = rounded(ascend(problem.task).z, draws, seed)
        return problem.answer(_largest_weights(problem.task, union, keep or n_nonzero))


def rounded(z: Vector, draws: int, seed: int) -> Positions:
    """Positions that at least one of the draws of Bernoulli(z_j) chose; sorted."""
    possible = np.flatnonzero(z > 0)
    coins = np.random.default_rng([seed, _ROUNDING]).random((draws, possible.size))
    return np.asarray(possible[(coins < z[possible]).any(axis=0)])


def _largest_weights(task: Task, union: Positions, keep: int) -> Choice:
    """Equal columns share their weight: the smallest leave in turns, so that the last of them has all of it."""
    pool = task.pool(union)
    choice = task.choose(pool, np.arange(union.size))
    while choice.columns.size > keep:
        staying = keep + (choice.columns.size - keep) // 2
        kept = choice.columns[largest(np.abs(choice.fit.weights), staying)]
        choice = task.choose(pool, np.searchsorted(union, kept))
    return choice
