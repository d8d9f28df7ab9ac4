"""Outer approximation for sparse classification: the search with cuts and supports of logistic loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from backbone_dask.adjustment import orthonormal
from backbone_dask.exact.checks import check_classification
from backbone_dask.exact.cuts import Cut
from backbone_dask.exact.exclusion import Relax
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Positions
from backbone_dask.exact.logistic_data import Incumbent, LogisticData
from backbone_dask.exact.logistic_incumbent import improve, neighbours, quadratic_model
from backbone_dask.exact.logistic_model import Metric
from backbone_dask.exact.logistic_perspective import solve_logistic_relaxation
from backbone_dask.exact.perspective import Relaxation
from backbone_dask.exact.search import Search
from backbone_dask.exact.trace import Recorder
from backbone_dask.exact.verdict import Answer, Limits, verdict
from backbone_dask.losses.logistic import Margin, free_part, value
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Termination


def fit_logistic_outer_approximation(
    X: Standardised,
    margin: Margin,
    *,
    n_nonzero: int,
    gamma: float,
    warm_start: CandidateIds,
    seconds: float,
    gap_tolerance: float,
) -> Outcome[SparseFit]:
    """Best ridge fit on at most `n_nonzero` rows of X with logistic loss, and a proven lower bound for its objective.

    `warm_start` holds positions in X, of any number. The free part is `losses.logistic.free_part` at the weights.
    Equal inputs give equal results unless time is what ends it. Rows of the basis that depend on each other count once,
    and the bound is about free parts of a root mean square up to `losses.logistic_dual.LARGEST_FREE`. Where the basis
    alone separates the labels nothing is proven but that the objective is positive.
    """
    return solve_margin(
        lambda usable, cleaned: LogisticData.of(X[usable], cleaned, gamma),
        X,
        margin,
        n_nonzero=n_nonzero,
        gamma=gamma,
        warm_start=warm_start,
        seconds=seconds,
        gap_tolerance=gap_tolerance,
    )


def solve_margin(
    data_of: Callable[[Positions, Margin], LogisticData],
    X: Standardised,
    margin: Margin,
    *,
    n_nonzero: int,
    gamma: float,
    warm_start: CandidateIds,
    seconds: float,
    gap_tolerance: float,
) -> Outcome[SparseFit]:
    """The fit of the problem that `data_of` makes of the rows of X that are not constant and of a cleaned margin."""
    recorder = Recorder()
    check_classification(X, margin, n_nonzero, gamma)
    limits = Limits(gap_tolerance, recorder.began + seconds)
    usable = np.flatnonzero(X.any(axis=1))
    warm = np.searchsorted(usable, np.intersect1d(usable, warm_start))
    with one_blas_thread():
        data = data_of(usable, cleaned(margin))
        answer = _solve(data, n_nonzero, data.features_of(warm), limits, recorder)
        model = _model(X, margin, gamma, usable[answer.incumbent.columns], answer.incumbent)
    return verdict(answer, model, gap_tolerance, recorder)


def cleaned(margin: Margin) -> Margin:
    """The same models, with a basis whose rows are orthogonal, and of mean square 1, on the samples that count."""
    counted = margin.weights > 0
    return replace(margin, basis=orthonormal(margin.basis * counted) * np.sqrt(counted.sum()))


def _model(X: Standardised, margin: Margin, gamma: float, support: Positions, found: Incumbent) -> SparseFit:
    """The fit with the objective that its weights have with the best free part."""
    weights = found.fit.weights
    offset = weights @ X[support].astype(np.float64)
    u = offset + free_part(margin, offset) @ margin.basis
    return SparseFit(X.shape[0], support, weights, value(margin, u) + float(weights @ weights) / (2 * gamma))


def _solve(
    data: LogisticData, n_nonzero: int, warm: Positions, limits: Limits, recorder: Recorder
) -> Answer[Incumbent]:
    if data.n_features <= n_nonzero:
        return _everything(data)
    return Search(_Logistic(data), n_nonzero, limits, recorder).run(warm)


def _everything(data: LogisticData) -> Answer[Incumbent]:
    """With room for every feature the fit on all of them is optimal: more features never cost more."""
    incumbent = data.evaluate(np.arange(data.n_features))
    bound = data.cut_at(incumbent).bound(Face.whole(data.n_features, data.n_features))
    return Answer(incumbent, max(bound, 0.0), Termination.ROUND_LIMIT, 0)


@dataclass(frozen=True, slots=True)
class _Logistic:
    """Features are those of the data."""

    data: LogisticData

    @property
    def n_features(self) -> int:
        return self.data.n_features

    def evaluate(self, support: Positions, near: Incumbent | None = None) -> Incumbent:
        return self.data.evaluate(support, near)

    def improve(self, support: Positions, n_nonzero: int, deadline: float) -> Incumbent:
        return improve(self.data, support, n_nonzero, deadline)

    def neighbours(self, found: Incumbent, n_nonzero: int, count: int) -> list[Positions]:
        return neighbours(self.data, quadratic_model(self.data, found), found, n_nonzero, count)

    def cut_at(self, found: Incumbent) -> Cut:
        return self.data.cut_at(found)

    def relaxed(self, face: Face, deadline: float) -> tuple[Relaxation, Relax]:
        """Faces are solved in the metric at the relaxation of the whole as long as it serves."""
        # Without a deadline: its bound and its rounding are what an answer is made of when the limit comes first.
        found = solve_logistic_relaxation(self.data, face)
        metric = Metric.at(self.data, self.data.predictor(found.weights))
        return found, partial(solve_logistic_relaxation, self.data, metric=metric, deadline=deadline)
