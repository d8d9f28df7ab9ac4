"""SIS-ENET: the columns with the largest correlation, then an elastic net on them by glmnet.

mu and lambda have the least error on a hold-out of 30 %; weights of at most 1e-6 are discarded, as in the paper. Its
screen has seen the hold-out, whose noise its columns fit too; "apart" screens without it, as a fair rival would.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask import screen
from backbone_dask.store import FeatureStore
from backbone_dask.values import CandidateIds
from benchmarks.paper.experiment import Case, Metrics
from benchmarks.paper.metrics import accuracy
from benchmarks.paper.simulated import judged, training, warm_up

MIXES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Five values of mu in [0, 1], the lasso among them; at 0 nothing is ever discarded."""
TRAINING_SHARE = 0.7
DISCARDED = 1e-6
MOST_PER_SAMPLE = 0.5
"""The path ends at this many features for each sample; the paper leaves its k_max open."""
SCREENS = {"linear": "correlation", "logistic": "logistic"}
Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Net:
    """Weights (columns,) in the units of the data; `at_end` says that the largest model of the path was the best."""

    weights: Vector
    intercept: float
    at_end: bool

    @property
    def support(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.abs(self.weights) > DISCARDED)


@dataclass(frozen=True, slots=True)
class Loss:
    """Which of glmnet's estimators a kind of target has, and the mean error of every model of a path."""

    estimator: str
    errors: Callable[[Vector, Matrix], Vector]


LOSSES = {
    "linear": Loss("ElasticNet", lambda y, u: ((y[:, None] - u) ** 2).mean(axis=0)),
    "logistic": Loss("LogitNet", lambda y, u: np.logaddexp(0, -y[:, None] * u).mean(axis=0)),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The least error on the hold-out, and the mu and the lambdas down to where it is."""

    error: float
    mix: float
    penalties: Vector
    at_end: bool


def fit_net(X: Matrix, y: Vector, kind: str, *, seed: int, mixes: tuple[float, ...] = MIXES) -> Net:
    """The net of all samples, X (samples, columns), at the mu and lambda that a hold-out chooses."""
    return fit_at(choose(X, y, kind, held_out(y.size, seed), mixes), X, y, kind)


def held_out(n_samples: int, seed: int) -> NDArray[np.bool_]:
    """Marks the samples to judge by."""
    order = np.random.default_rng([seed, 7]).permutation(n_samples)
    return np.isin(np.arange(n_samples), order[round(TRAINING_SHARE * n_samples) :])


def choose(X: Matrix, y: Vector, kind: str, judges: NDArray[np.bool_], mixes: tuple[float, ...] = MIXES) -> Choice:
    part, rest = np.asfortranarray(X[~judges]), X[judges]
    tried = [_tried(part, y[~judges], rest, y[judges], LOSSES[kind], mix) for mix in mixes]
    return min(tried, key=lambda each: each.error)


def fit_at(choice: Choice, X: Matrix, y: Vector, kind: str) -> Net:
    path = _path(LOSSES[kind], X, y, choice.mix, lambda_path=choice.penalties)
    return Net(_weights(path)[:, -1], float(np.ravel(path.intercept_path_)[-1]), choice.at_end)


def _tried(X: Matrix, y: Vector, other: Matrix, other_y: Vector, loss: Loss, mix: float) -> Choice:
    """The best model of the path at one mu."""
    most = min(round(MOST_PER_SAMPLE * y.size), X.shape[1])
    path = _path(loss, X, y, mix, max_features=most, min_lambda_ratio=0.01 if y.size < X.shape[1] else 1e-4)
    weights = _weights(path)
    used = np.flatnonzero(weights.any(axis=1))
    errors = loss.errors(other_y, other[:, used] @ weights[used] + np.ravel(path.intercept_path_))
    best = int(errors.argmin())
    return Choice(float(errors[best]), mix, path.lambda_path_[: best + 1], best == errors.size - 1)


def _path(loss: Loss, X: Matrix, y: Vector, mix: float, **asked: Any) -> Any:
    import glmnet

    return getattr(glmnet, loss.estimator)(alpha=mix, n_splits=0, **asked).fit(X, y)


def _weights(path: Any) -> Matrix:
    """Shape (columns, models); LogitNet has an axis of classes before."""
    return np.asarray(path.coef_path_).reshape(-1, np.shape(path.coef_path_)[-1])


def sis_enet(case: Case) -> Metrics:
    """On the training draw of a case; the screen runs on whatever executor there is, glmnet here."""
    return _measured(case, apart=False)


def sis_enet_apart(case: Case) -> Metrics:
    return _measured(case, apart=True)


def _measured(case: Case, *, apart: bool) -> Metrics:
    warm_up()
    store, kind = training(case), case["kind"]
    y, judges = store.target(None), held_out(case["n"], case["seed"])
    began = time.perf_counter()
    ids, blind = _screened(store, case, judges)
    X = _table(store, ids)
    choice = choose(_table(store, blind) if apart else X, y, kind, judges)
    net = fit_at(choice, X, y, kind)
    seconds = time.perf_counter() - began
    return {
        **judged(case, ids[net.support], net.weights[net.support], net.intercept),
        "in screen": accuracy(ids, store.truth.ids),
        "path too short": float(net.at_end),
        "seconds": seconds,
    }


def _screened(store: FeatureStore, case: Case, judges: NDArray[np.bool_]) -> tuple[CandidateIds, CandidateIds]:
    """The best columns by all samples, and by those that do not judge, from one pass."""
    found = screen(store, screen=SCREENS[case["kind"]], keep=case["screen"], folds=np.where(judges, 0, -1))
    by_fold = {question.fold: each.candidates for question, each in found.items()}
    return by_fold[None], by_fold[0]


def _table(store: FeatureStore, ids: CandidateIds) -> Matrix:
    """Samples x columns; transposed, the rows of features are the columns that glmnet wants."""
    return np.asarray(store.gather(ids).values.astype(np.float64).T)
