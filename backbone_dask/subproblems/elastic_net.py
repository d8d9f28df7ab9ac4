"""Elastic net by glmnet: a path of models from the empty one on, the best of them by a hold-out.

glmnet minimises the mean loss + lambda [mu |w|_1 + (1 - mu)/2 |w|^2] and takes X in double precision: twice the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidSettingError, MemoryBudgetError, MissingExtraError
from backbone_dask.losses import logistic
from backbone_dask.losses.logistic import Margin
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.subproblems.gammas import OneGamma
from backbone_dask.subproblems.holdout import draw_split, excerpt
from backbone_dask.subproblems.net_path import UNBOUNDED, Path, empty_path
from backbone_dask.subproblems.products import Positions, largest
from backbone_dask.subproblems.task import Choice, normalised, unit
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import Mask, SparseFit, Standardised, Target

MIXES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""mu: the share of the lasso."""
THRESHOLD = 1e-6
PENALTIES, LEAST_PENALTY = 100, 1e-3
"""How many lambdas there are at most, and the least as a share of that of the empty model."""
PRECISION = 1e-7
_MOST_ROUNDS = 100_000
_LEAST_MIX = 1e-3
"""Stands for 0: at whatever lambda, a ridge fit is never empty."""
_ROUNDING = 1e-9
"""Of an orthonormal basis: a row that spreads less over its samples is constant."""
_CONSTANT, _ONE_CLASS = 7777, 8000
"""glmnet's errors from these on: no column varies; all samples are of one class, for one of the models."""


def fit_elastic_net(
    X: Standardised,
    y: Target,
    *,
    n_nonzero: int,
    gamma: float | None = None,
    mixes: Sequence[float] = MIXES,
    threshold: float = THRESHOLD,
    seed: int,
) -> SparseFit:
    """The ridge fit, at `gamma`, on at most `n_nonzero` rows of X that an elastic net chooses.

    mu (of `mixes`, in [0, 1]) and lambda, on the path from the empty model to the first one with `n_nonzero` features,
    have the least error on a hold-out drawn from `seed`. Of the net with these on all samples, features enter whose
    weight exceeds `threshold` root mean squares of y, the largest first; if they are too many,
    the least ridge weight leaves. y is taken as given, gamma is 1/sqrt(samples) if None; the objective is c(S), as
    that of other solvers.
    """
    _check(mixes, threshold)
    with one_blas_thread():
        problem = normalised(X, y, n_nonzero, gamma)
        task, support = problem.task, np.empty(0, np.int64)

        def refit(few: Positions) -> Choice:
            return task.choose(task.pool(few), np.arange(few.size))

        if problem.scale > 0:
            support = _chosen(_SquaredNet(task.X, task.y), n_nonzero, tuple(mixes), threshold, seed)
        return problem.answer(refit(_reduced(support, n_nonzero, lambda few: refit(few).fit.weights)))


def fit_logistic_elastic_net(
    X: Standardised,
    margin: Margin,
    *,
    n_nonzero: int,
    gamma: float | None = None,
    mixes: Sequence[float] = MIXES,
    threshold: float = THRESHOLD,
    seed: int,
) -> SparseFit:
    """The same for logistic loss; the rows of the margin's basis are in every model and not penalised."""
    _check(mixes, threshold)
    normalised(X, margin.y, n_nonzero, gamma)  # refuses what does not fit together
    ridge = OneGamma(gamma).first(margin.y.size)
    with one_blas_thread():
        counted = np.flatnonzero(margin.weights > 0)
        net = _LogisticNet.of(X[:, counted], _margin_on(margin, counted))
        support = _chosen(net, n_nonzero, tuple(mixes), threshold, seed)
        refit = partial(_refit, X, margin, ridge)
        support = _reduced(support, n_nonzero, lambda few: refit(few).weights)
        fit = refit(support)
        return SparseFit(X.shape[0], support, fit.weights, fit.objective)


def _refit(X: Standardised, margin: Margin, gamma: float, support: Positions) -> logistic.LogisticFit:
    return logistic.fit(margin, X[support].astype(np.float64), gamma)


def _reduced(support: Positions, n_nonzero: int, weights: Callable[[Positions], Vector]) -> Positions:
    """Equal columns share their weight: the smallest leaves alone, so that the last of them has all of it."""
    while support.size > n_nonzero:
        support = np.delete(support, np.abs(weights(support)).argmin())
    return support


def _check(mixes: Sequence[float], threshold: float) -> None:
    if not mixes or not all(0 <= mix <= 1 for mix in mixes):
        raise InvalidSettingError(f"mixes are {tuple(mixes)}; give at least one, each in [0, 1] (1 is the lasso)")
    if not threshold >= 0:
        raise InvalidSettingError(f"threshold is {threshold}; it must be 0 or more")


@dataclass(frozen=True, slots=True)
class _SquaredNet:
    """1/2 (y - u)^2, as glmnet takes it."""

    X: Standardised
    y: Vector

    def on(self, X: Standardised, samples: Positions) -> _SquaredNet:
        """The same for some of the samples, of which X has the rows."""
        return _SquaredNet(X, self.y[samples])

    def room(self) -> Matrix:
        """Memory for X in double precision: glmnet works in place."""
        return np.empty(self.X.shape)

    def path(self, mix: float, n_nonzero: int, penalties: Vector | None, room: Matrix) -> Path:
        """Models for the given lambdas, or down to the first with `n_nonzero` features; `room` is overwritten."""
        # glmnet scales y itself, but not the part of lambda that is squared: with y'y = n there is nothing to scale.
        z, scale = unit(self.y)
        if scale == 0:
            return empty_path(0)
        room[:] = self.X
        call = _Call.of(len(room), n_nonzero, penalties)
        naive = 2
        lmu, a0, ca, ia, nin, _, alm, _, jerr = _glmnet().elnet(
            naive, mix, room.T, z, np.ones(z.size), *call.before, PRECISION, *call.after, 0, 0, _MOST_ROUNDS
        )
        found = _unpacked(len(room), 0, lmu, a0, ca, ia, nin, alm, jerr)
        return replace(found, weights=found.weights * scale)

    def errors(self, path: Path, samples: Positions) -> Vector:
        """The mean loss of every model of a path on some of the samples."""
        predicted = path.weights.T @ self.X[path.features][:, samples].astype(np.float64)
        return np.asarray(((self.y[samples] - predicted) ** 2).mean(axis=1))


@dataclass(frozen=True, slots=True)
class _LogisticNet:
    """log(1 + exp(-y u)), as glmnet takes it; `varying` marks the rows of the basis that are no intercept.

    glmnet has an intercept of its own and drops columns of ones. A rare covariate may be constant on some of the
    samples and yet is no intercept there.
    """

    X: Standardised
    margin: Margin
    varying: Mask

    @classmethod
    def of(cls, X: Standardised, margin: Margin) -> _LogisticNet:
        """The rows of the basis besides the intercept are found once: they may be constant on a part of the samples."""
        sizes = np.abs(margin.basis).max(axis=1)
        return cls(X, margin, np.ptp(margin.basis, axis=1) > _ROUNDING * sizes)

    @property
    def _rows(self) -> Matrix:
        """The basis without the intercept, which glmnet has of its own: it drops columns of ones."""
        return np.asarray(self.margin.basis[self.varying])

    @property
    def _has_intercept(self) -> bool:
        return not self.varying.all()

    def on(self, X: Standardised, samples: Positions) -> _LogisticNet:
        return _LogisticNet(X, _margin_on(self.margin, samples), self.varying)

    def room(self) -> Matrix:
        return np.empty((self.X.shape[0] + len(self._rows), self.X.shape[1]))

    def path(self, mix: float, n_nonzero: int, penalties: Vector | None, room: Matrix) -> Path:
        features, free = self.X.shape[0], len(self._rows)
        room[:features], room[features:] = self.X, self._rows
        # glmnet makes up for columns without a penalty by a larger one of the others.
        stretch = len(room) / features
        call = _Call.of(len(room), n_nonzero, None if penalties is None else penalties / stretch, free)
        classes = np.asfortranarray((self.margin.y[:, None] == [1, -1]) * self.margin.weights[:, None])
        offset = np.zeros(classes.shape, order="F")
        lmu, a0, ca, ia, nin, _, _, alm, _, jerr = _glmnet().lognet(
            mix, 1, room.T, classes, offset, *call.before, PRECISION, *call.after, 0, self._has_intercept, _MOST_ROUNDS
        )
        found = _unpacked(features, free, lmu, a0[0], ca[:, 0], ia, nin, alm, jerr)
        return replace(found, penalties=found.penalties * stretch)

    def errors(self, path: Path, samples: Positions) -> Vector:
        predicted = path.weights.T @ self.X[path.features][:, samples].astype(np.float64)
        predicted += path.offsets.T @ np.vstack([np.ones(samples.size), self._rows[:, samples]])
        weights = self.margin.weights[samples]
        return np.asarray(np.logaddexp(0, -self.margin.y[samples] * predicted) @ weights / weights.sum())


_Net: TypeAlias = _SquaredNet | _LogisticNet


def _chosen(net: _Net, n_nonzero: int, mixes: tuple[float, ...], threshold: float, seed: int) -> Positions:
    """The largest weights of the best net of all samples, up to twice as many as asked for."""
    if not net.X.any():
        return np.empty(0, np.int64)
    mix, penalties = _best_by_holdout(net, n_nonzero, mixes, seed)
    if penalties.size == 0:
        return np.empty(0, np.int64)
    path = net.path(mix, n_nonzero, penalties, net.room())
    sizes = np.zeros(net.X.shape[0])
    sizes[path.features] = np.abs(path.weights[:, -1])
    return largest(np.where(sizes > threshold, sizes, 0.0), 2 * n_nonzero)


def _best_by_holdout(net: _Net, n_nonzero: int, mixes: tuple[float, ...], seed: int) -> tuple[float, Vector]:
    """mu, and the lambdas of its path down to the best one; none for the empty model."""
    split = draw_split(net.X.shape[1], seed)
    part = excerpt(net.X, split.training)
    training = net.on(part.X, split.training)
    room, best = training.room(), (np.inf, mixes[0], np.empty(0))
    for mix in (max(mix, _LEAST_MIX) for mix in mixes):
        path = training.path(mix, n_nonzero, None, room).until(n_nonzero).over(part.scale)
        errors = net.errors(path, split.validation)
        at = int(errors.argmin())
        if errors[at] < best[0]:
            best = float(errors[at]), mix, path.penalties[1 : at + 1]
    return best[1:]


def _margin_on(margin: Margin, samples: Positions) -> Margin:
    return Margin(margin.y[samples], margin.weights[samples], margin.basis[:, samples])


@dataclass(frozen=True, slots=True)
class _Call:
    """The arguments of glmnet that are the same for both losses, before and after its precision."""

    before: tuple[Any, ...]
    after: tuple[Any, ...]

    @classmethod
    def of(cls, n_columns: int, n_nonzero: int, penalties: Vector | None, free: int = 0) -> _Call:
        """The last `free` columns are not penalised."""
        penalised = np.ones(n_columns)
        penalised[n_columns - free :] = 0
        bounds = np.asfortranarray(np.repeat([[-UNBOUNDED], [UNBOUNDED]], n_columns, axis=1))
        # All that ever enter, on the way or at the end, must find room.
        room = min(n_columns, 4 * n_nonzero + 200 + free)
        given = np.zeros(PENALTIES) if penalties is None else penalties
        least = LEAST_PENALTY if penalties is None else 1.0
        # It stops after the first model with more features than it is told.
        return cls((0, penalised, bounds, room, least, given), (min(n_nonzero + free - 1, room), given.size))


def _unpacked(
    n_features: int,
    free: int,
    lmu: int,
    a0: Vector,
    ca: Matrix,
    ia: NDArray[np.int32],
    nin: NDArray[np.int32],
    alm: Vector,
    jerr: int,
) -> Path:
    """What glmnet found; where it gave up on small lambdas, up to there."""
    if jerr == _CONSTANT or jerr > _ONE_CLASS:
        return empty_path(free)
    if jerr > 0:
        raise MemoryBudgetError(
            f"glmnet found no memory for {n_features} columns (its error {jerr}); use fewer columns"
        )
    if lmu == 0:
        return empty_path(free)
    nin = nin[:lmu]
    entered = ia[: nin.max()].astype(np.int64) - 1
    weights = np.where(np.arange(entered.size)[:, None] < nin, ca[: entered.size, :lmu], 0.0)
    offsets = np.zeros((1 + free, lmu))
    offsets[0] = a0[:lmu]
    own = entered < n_features
    offsets[1 + entered[~own] - n_features] = weights[~own]
    return Path(alm[:lmu], entered[own], weights[own], offsets)


def _glmnet() -> Any:
    try:
        from glmnet import _glmnet
    except ImportError as cause:
        raise MissingExtraError("the elastic net needs glmnet: pip install 'backbone-dask[glmnet]'") from cause
    return _glmnet
