"""SR-REL for logistic loss: the boolean relaxation's dual sub-gradient, then exchanges until none helps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.losses.logistic import Margin
from backbone_dask.subproblems.logistic_ascent import ascend
from backbone_dask.subproblems.logistic_polish import polish, trim
from backbone_dask.subproblems.logistic_swaps import Curved, MetricAt
from backbone_dask.subproblems.logistic_task import Choice, Task
from backbone_dask.subproblems.products import checked_start
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, SparseFit, Standardised


def fit_logistic_relaxation(
    X: Standardised,
    margin: Margin,
    *,
    n_nonzero: int,
    gamma: float | None,
    start: CandidateIds | None = None,
    seed: int,
) -> SparseFit:
    """The best support found of at most `n_nonzero` rows of X, with its ridge weights and c(S).

    X has shape (features, samples). `gamma` is the ridge weight, 1/sqrt(samples) if None. `start` holds positions in X
    of a support to start from, of any size, such as the answer for another k or gamma; without it the relaxation's
    dual gives one. The free part is `losses.logistic.free_part` at the weights. Constant columns are never chosen, so
    the support may be smaller than asked. Nothing is drawn: `seed` is there because the protocol has it.
    """
    check_margin(X, margin, n_nonzero, gamma)
    ridge = 1 / math.sqrt(margin.y.size) if gamma is None else gamma
    task = Task(np.ascontiguousarray(X, np.float32), margin, n_nonzero, ridge)
    return solve_task(task, partial(Curved.at, task), start)


def solve_task(task: Task, metric_at: MetricAt, start: CandidateIds | None) -> SparseFit:
    """Descent from the start, or from what the relaxation's dual gives."""
    # The bits of a BLAS product depend on the number of threads.
    with one_blas_thread():
        starts = _starts(task) if start is None else [_started(task, start)]
        choice = trim(task, polish(task, starts, metric_at))
    return SparseFit(task.X.shape[0], choice.columns, choice.fit.weights, choice.fit.objective)


def _starts(task: Task) -> Iterator[Choice]:
    """Two, since either alone ends now and then in a support that the other would have left."""
    yield ascend(task)
    yield task.nothing()


def _started(task: Task, start: CandidateIds) -> Choice:
    """The fit on a start, less the features that cost least if it is too large."""
    columns = checked_start(start, task.X.shape[0])
    choice = task.choose(task.features_of(columns[task.X[columns].any(axis=1)]), task.nothing())
    while choice.features.size > task.n_nonzero:
        order = np.argsort(task.costs(choice), kind="stable")
        leaving = max(1, (choice.features.size - task.n_nonzero) // 2)
        choice = task.choose(np.delete(choice.features, order[:leaving]), choice)
    return choice


def check_margin(X: Standardised, margin: Margin, n_nonzero: int, gamma: float | None) -> None:
    """That the labels are those of X, and the settings can be met."""
    if X.ndim != 2 or margin.y.shape != (X.shape[1],):
        raise InvalidDataError(f"X of shape {X.shape} (features, samples) does not fit {margin.y.size} labels")
    if n_nonzero < 1:
        raise InvalidSettingError(f"n_nonzero must be at least 1, not {n_nonzero}")
    if gamma is not None and not 0 < gamma < math.inf:
        raise InvalidSettingError(f"gamma must be positive and finite, not {gamma}")
