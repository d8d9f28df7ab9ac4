"""SR-REL for sparse regression with structure: groups of features that enter together, weights that keep their sign."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.structure import Structure
from backbone_dask.subproblems.forward import grow
from backbone_dask.subproblems.products import checked_start
from backbone_dask.subproblems.structured_ascent import ascend_groups
from backbone_dask.subproblems.structured_polish import LARGEST_GAMMA, polish_groups, truncated
from backbone_dask.subproblems.structured_task import NOTHING, GroupChoice, StructuredTask
from backbone_dask.subproblems.task import Task, literal_fit, unit
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, SparseFit, Standardised, Target


def fit_structured(
    X: Standardised,
    y: Target,
    structure: Structure,
    *,
    n_nonzero: int,
    gamma: float,
    start: CandidateIds | None = None,
    seed: int,
) -> SparseFit:
    """The best support found of at most `n_nonzero` groups of rows of X, with its weights and c(S).

    X has shape (features, samples); y, shape (samples,), is used as given. `start` holds positions in X whose groups
    the search may begin from. The support has the columns with a weight: constant columns never, and with
    `structure.nonnegative` only those whose weight is positive. Where weights may have any sign, no swap of one group
    for another lowers c(S) by more than the rounding of single precision; where they may not, none of the most
    promising ones does. Nothing is drawn: `seed` is there because the protocol has it.
    """
    _check(X, y, structure, n_nonzero, gamma)
    scaled, scale = unit(np.asarray(y, np.float64))
    if scale == 0:
        return SparseFit(X.shape[0], NOTHING, np.empty(0), 0.0)
    # The bits of a BLAS product depend on the number of threads.
    with one_blas_thread():
        plain = Task(np.ascontiguousarray(X, np.float32), scaled, n_nonzero, _within_reach(gamma, y.size))
        task = StructuredTask(plain, structure)
        begun = _begin(task, NOTHING if start is None else start)
        found = truncated(task, polish_groups(task, begun, _grown(task)))
        return literal_fit(plain, found.columns, found.weights, gamma, scale)


def _begin(task: StructuredTask, start: CandidateIds) -> GroupChoice:
    """The better of what the ascent finds and the groups to start from."""
    groups = task.structure.groups_of(checked_start(start, task.plain.X.shape[0]))
    found = ascend_groups(task)
    given = truncated(task, task.choose(task.pool(groups), groups))
    return given if given.beats(found) else found


def _grown(task: StructuredTask) -> GroupChoice:
    """The groups of the columns that forward selection finds, as if columns were free and had no sign."""
    plain = replace(task.plain, gamma=min(task.plain.gamma, LARGEST_GAMMA / task.plain.y.size))
    groups = task.structure.groups_of(grow(plain).columns)
    return truncated(task, task.choose(task.pool(groups), groups))


def _within_reach(gamma: float, n_samples: int) -> float:
    """Squares of weights must not underflow, and 1/gamma must not vanish beside X_j'X_j = n."""
    return min(max(gamma, 1e-100), 1e12 / n_samples)


def _check(X: Standardised, y: Target, structure: Structure, n_nonzero: int, gamma: float) -> None:
    if X.ndim != 2 or y.shape != (X.shape[1],):
        raise InvalidDataError(f"X of shape {X.shape} (features, samples) does not fit y of shape {y.shape}")
    structure.require_columns(X.shape[0])
    if not np.isfinite(y).all():
        raise InvalidDataError("y holds values that are not finite; drop those samples first")
    if n_nonzero < 1:
        raise InvalidSettingError(f"n_nonzero must be at least 1 group, not {n_nonzero}")
    if not 0 < gamma < math.inf:
        raise InvalidSettingError(f"gamma must be positive and finite, not {gamma}")
