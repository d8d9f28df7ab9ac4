"""Outer approximation of the reduced problem with logistic loss: cuts from below, supports from above."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from backbone_dask.adjustment import orthonormal
from backbone_dask.exact.checks import check_classification
from backbone_dask.exact.cuts import Cut
from backbone_dask.exact.exclusion import excluding_cuts
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Positions
from backbone_dask.exact.highs import Master
from backbone_dask.exact.incumbent import round_up
from backbone_dask.exact.logistic_data import Incumbent, LogisticData
from backbone_dask.exact.logistic_incumbent import improve, neighbours, quadratic_model
from backbone_dask.exact.logistic_model import Metric
from backbone_dask.exact.logistic_perspective import solve_logistic_relaxation
from backbone_dask.exact.verdict import Answer, Limits, verdict
from backbone_dask.losses.logistic import Margin, free_part, value
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Termination

_NEIGHBOUR_CUTS = 10
_PROGRESS = 0.05
"""A round counts as progress when it takes this share off the gap."""


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
    started = time.monotonic()
    check_classification(X, margin, n_nonzero, gamma)
    limits = Limits(gap_tolerance, started + seconds)
    usable = np.flatnonzero(X.any(axis=1))
    warm = np.searchsorted(usable, np.intersect1d(usable, warm_start))
    with one_blas_thread():
        data = data_of(usable, _cleaned(margin))
        answer = _solve(data, n_nonzero, data.features_of(warm), limits)
        model = _model(X, margin, gamma, usable[answer.incumbent.columns], answer.incumbent)
    return verdict(answer, model, gap_tolerance, time.monotonic() - started)


def _cleaned(margin: Margin) -> Margin:
    """The same models, with a basis whose rows are orthogonal, and of mean square 1, on the samples that count."""
    counted = margin.weights > 0
    return replace(margin, basis=orthonormal(margin.basis * counted) * np.sqrt(counted.sum()))


def _model(X: Standardised, margin: Margin, gamma: float, support: Positions, found: Incumbent) -> SparseFit:
    """The fit with the objective that its weights have with the best free part."""
    weights = found.fit.weights
    offset = weights @ X[support].astype(np.float64)
    u = offset + free_part(margin, offset) @ margin.basis
    return SparseFit(X.shape[0], support, weights, value(margin, u) + float(weights @ weights) / (2 * gamma))


def _solve(data: LogisticData, n_nonzero: int, warm: Positions, limits: Limits) -> Answer[Incumbent]:
    if data.n_features <= n_nonzero:
        return _everything(data)
    return _Search(data, n_nonzero, limits).run(warm)


def _everything(data: LogisticData) -> Answer[Incumbent]:
    """With room for every feature the fit on all of them is optimal: more features never cost more."""
    incumbent = data.evaluate(np.arange(data.n_features))
    bound = data.cut_at(incumbent).bound(Face.whole(data.n_features, data.n_features))
    return Answer(incumbent, max(bound, 0.0), Termination.ROUND_LIMIT, 0)


class _Search:
    """The state of one search: best support, best bound, and the supports whose cuts the master has."""

    def __init__(self, data: LogisticData, n_nonzero: int, limits: Limits) -> None:
        self.data, self.n_nonzero, self.limits = data, n_nonzero, limits
        self.incumbent = data.evaluate(np.empty(0, np.int64))
        self.whole = Face.whole(data.n_features, n_nonzero)
        # Without a deadline: its bound and its rounding are what an answer is made of when the limit comes first.
        self.relaxation = solve_logistic_relaxation(data, self.whole)
        self.relax = partial(
            solve_logistic_relaxation,
            data,
            metric=Metric.at(data, data.predictor(self.relaxation.weights)),
            deadline=limits.deadline,
        )
        self.bound = max(self.relaxation.bound, 0.0)
        self.cuts: list[Cut] = [self.relaxation.cut]
        self.visited: set[bytes] = set()

    @property
    def gap(self) -> float:
        """Relative to the objective, which is positive."""
        return max(self.incumbent.objective - self.bound, 0.0) / max(self.incumbent.objective, np.finfo(float).tiny)

    def run(self, warm: Positions) -> Answer[Incumbent]:
        self._descend(warm)
        self._descend(round_up(self.relaxation.z, self.n_nonzero))
        ended, rounds = self.limits.reached(self.gap), 0
        if ended is None:
            ended, rounds = self._rounds()
        return Answer(self.incumbent, self.bound, ended, rounds)

    def _rounds(self) -> tuple[Termination, int]:
        """Solve masters until a limit is reached, no new cut is left, or the gap stands still."""
        self._add_neighbours()
        master = Master(self.data.n_features, self.n_nonzero, unit=self.incumbent.objective, floor=self.bound)
        patience = _patience(self.data.n_features)
        rounds, marked, mark, fresh = 0, 0, self.gap, True
        while rounds - marked < patience:
            rounds, was_fresh, fresh = rounds + 1, fresh, self._round(master, tight=not fresh)
            if (ended := self.limits.reached(self.gap)) is not None:
                return ended, rounds
            if self.gap < (1 - _PROGRESS) * mark:
                mark, marked = self.gap, rounds
            if not (fresh or was_fresh):
                break
        return Termination.ROUND_LIMIT, rounds

    def _round(self, master: Master, *, tight: bool) -> bool:
        """One master and the cuts at what it found; whether there was any that it did not have."""
        for cut in self.cuts:
            master.add_cut(cut)
        self.cuts.clear()
        mip_gap = self.limits.tolerance / 4 if tight else max(self.limits.tolerance / 4, self.gap / 5)
        seconds = self.limits.deadline - time.monotonic()
        found = master.solve(seconds=seconds, mip_gap=mip_gap, start=self.incumbent.support)
        self.bound = max(self.bound, found.bound)
        self._exclude(found.support)
        self._add_cut(self.data.evaluate(found.support, self.incumbent))
        self._descend(found.support)
        return bool(self.cuts)

    def _exclude(self, support: Positions) -> None:
        if support.tobytes() not in self.visited:
            goal = (1 - self.limits.tolerance / 2) * self.incumbent.objective
            self.cuts += excluding_cuts(self.relax, self.whole, self.relaxation, support, goal)

    def _descend(self, support: Positions) -> None:
        """The local optimum below a support becomes a cut, and the incumbent if it is better."""
        found = improve(self.data, support, self.n_nonzero, self.limits.deadline)
        if found.objective < self.incumbent.objective:
            self.incumbent = found
        self._add_cut(found)

    def _add_neighbours(self) -> None:
        gram = quadratic_model(self.data, self.incumbent)
        for support in neighbours(self.data, gram, self.incumbent, self.n_nonzero, _NEIGHBOUR_CUTS):
            self._add_cut(self.data.evaluate(support, self.incumbent))

    def _add_cut(self, found: Incumbent) -> None:
        if found.support.tobytes() not in self.visited:
            self.visited.add(found.support.tobytes())
            self.cuts.append(self.data.cut_at(found))


def _patience(n_features: int) -> int:
    """Rounds without progress that are worth while: many where they take milliseconds, few where they take longer."""
    return max(6, 1000 // n_features)
