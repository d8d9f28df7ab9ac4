"""SR-REL: sparse regression by the boolean relaxation's dual sub-gradient, then exchanges until none helps."""

from __future__ import annotations

import numpy as np

from backbone_dask.subproblems.ascent import ascend
from backbone_dask.subproblems.forward import grow
from backbone_dask.subproblems.polish import polish, trim
from backbone_dask.subproblems.products import Positions, checked_start, correlate, largest
from backbone_dask.subproblems.task import Choice, Task, normalised
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import Mask, SparseFit, Standardised, Target


def fit_relaxation(
    X: Standardised, y: Target, *, n_nonzero: int, gamma: float | None, seed: int, start: Positions | None = None
) -> SparseFit:
    """The best support found of at most `n_nonzero` rows of X, with its ridge weights and c(S).

    X has shape (features, samples). y has shape (samples,) and is taken as given: for a model with an intercept it is
    centred. `gamma` is the ridge weight, 1/sqrt(samples) if None. No swap of one feature for another lowers c(S) by
    more than the rounding of single precision. Constant columns are never chosen, and no feature of the support is
    without effect, so it may be smaller than asked. `start` holds positions in X, of any number: the support of
    another size or gamma, from which the search goes on if it is better than what the relaxation finds. Nothing is
    drawn: `seed` is there because the protocol has it, and the same arguments give the same bits.
    """
    # The bits of a BLAS product depend on the number of threads.
    with one_blas_thread():
        problem = normalised(X, y, n_nonzero, gamma)
        if problem.scale == 0:
            return problem.answer(problem.task.nothing())
        best = ascend(problem.task).best
        if start is not None and (warm := started(problem.task, start)).beats(best):
            best = warm
        # Two starts, since either alone ends now and then in a support that the other would have left.
        return problem.answer(trim(problem.task, polish(problem.task, best, grow(problem.task))))


def refine(X: Standardised, y: Target, *, n_nonzero: int, gamma: float | None, start: Positions) -> SparseFit:
    """As `fit_relaxation`, but from `start` alone: half of the work where supports follow from each other."""
    with one_blas_thread():
        problem = normalised(X, y, n_nonzero, gamma)
        if problem.scale == 0:
            return problem.answer(problem.task.nothing())
        return problem.answer(trim(problem.task, polish(problem.task, started(problem.task, start))))


def started(task: Task, start: Positions) -> Choice:
    """A support of the size asked for: `start` without what it misses least, or with what its residual asks for."""
    columns = checked_start(start, task.X.shape[0])
    choice = task.choose(task.pool(columns), np.arange(columns.size))
    if columns.size >= task.n_nonzero:
        kept = columns[largest(choice.fit.removal_cost, task.n_nonzero)]
        return task.choose(task.pool(kept), np.arange(kept.size))
    outside = correlate(task.X, task.residual(choice)) ** 2
    outside[columns] = 0
    grown = np.concatenate([columns, largest(outside, task.n_nonzero - columns.size)])
    return task.choose(task.pool(grown), np.arange(grown.size))


def relevant_of(fit: SparseFit) -> Mask:
    """Marks the support among the columns just fitted, shape (n_columns,)."""
    mask = np.zeros(fit.n_columns, np.bool_)
    mask[fit.support] = True
    return mask
