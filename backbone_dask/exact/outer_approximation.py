"""Outer approximation of the reduced problem: cuts from below, supports from above, until they meet."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from numpy.linalg import LinAlgError

from backbone_dask.errors import ExactSolveError
from backbone_dask.exact.checks import check_regression
from backbone_dask.exact.cuts import Cut, dual_cut
from backbone_dask.exact.everything import fit_everything
from backbone_dask.exact.exclusion import excluding_cuts
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram, Positions
from backbone_dask.exact.highs import Master
from backbone_dask.exact.incumbent import Incumbent, evaluate, improve, round_up, swap_neighbours
from backbone_dask.exact.perspective import solve_relaxation
from backbone_dask.exact.verdict import Answer, Limits, model_of_samples, verdict
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target, Termination

_NEIGHBOUR_CUTS = 10
_PROGRESS = 0.05
"""A round counts as progress when it takes this share off the gap."""


def fit_outer_approximation(
    X: Standardised,
    y: Target,
    *,
    n_nonzero: int,
    gamma: float,
    warm_start: CandidateIds,
    seconds: float,
    gap_tolerance: float,
) -> Outcome[SparseFit]:
    """Best ridge fit on at most `n_nonzero` rows of X, with a proven lower bound for its objective.

    y is taken as given: for a model with an intercept it is centred. `warm_start` holds positions in X, of any number.
    Equal inputs give equal results unless time is what ends it.
    """
    started = time.monotonic()
    limits = Limits(gap_tolerance, started + seconds)
    y = np.asarray(y, np.float64)
    check_regression(X, y, n_nonzero, gamma)
    usable = np.flatnonzero(X.any(axis=1))
    warm = np.searchsorted(usable, np.intersect1d(usable, warm_start))
    with one_blas_thread():
        if usable.size <= n_nonzero:
            answer = fit_everything(X[usable], y, gamma)
        else:
            answer = _solve(Gram.of(X[usable], y), n_nonzero, gamma, warm, limits)
        model = model_of_samples(X, y, gamma, usable[answer.incumbent.support], answer.incumbent.weights)
    return verdict(answer, model, gap_tolerance, time.monotonic() - started)


def _solve(gram: Gram, n_nonzero: int, gamma: float, warm: Positions, limits: Limits) -> Answer[Incumbent]:
    try:
        return Search(gram, n_nonzero, gamma, limits).run(warm)
    except LinAlgError as cause:
        raise ExactSolveError(f"the ridge system is singular in float64 at gamma={gamma:g}") from cause


class Search:
    """The state of one search: best support, best bound, and the supports whose cuts the master has."""

    def __init__(self, gram: Gram, n_nonzero: int, gamma: float, limits: Limits) -> None:
        self.gram, self.n_nonzero, self.gamma, self.limits = gram, n_nonzero, gamma, limits
        self.incumbent = evaluate(gram, np.empty(0, np.int64), gamma)
        self.whole = Face.whole(gram.n_features, n_nonzero)
        # Without a deadline: its bound and its rounding are what an answer is made of when the limit comes first.
        self.relaxation = solve_relaxation(gram, self.whole, gamma)
        self.relax = partial(solve_relaxation, gram, gamma=gamma, deadline=limits.deadline)
        self.bound = 0.0
        self.cuts: list[Cut] = []
        self.visited: set[bytes] = set()

    @property
    def gap(self) -> float:
        """Relative to the objective, which is positive unless y is zero."""
        return max(self.incumbent.objective - self.bound, 0.0) / max(self.incumbent.objective, np.finfo(float).tiny)

    def run(self, warm: Positions) -> Answer[Incumbent]:
        self._start(warm)
        ended, rounds = self.limits.reached(self.gap), 0
        if ended is None:
            ended, rounds = self._rounds()
        return Answer(self.incumbent, self.bound, ended, rounds)

    def _start(self, warm: Positions) -> None:
        """The relaxation's cut comes first: with it the first master already knows the relaxation's bound."""
        self.bound = max(self.bound, self.relaxation.bound)
        self.cuts.append(self.relaxation.cut)
        self._descend(round_up(self.relaxation.z, self.n_nonzero))
        self._descend(warm)

    def _rounds(self) -> tuple[Termination, int]:
        """Solve masters until a limit is reached, no new cut is left, or the gap stands still."""
        self._add_neighbours()
        master = Master(self.gram.n_features, self.n_nonzero, unit=self.incumbent.objective, floor=self.bound)
        patience = _patience(self.gram.n_features)
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
        self._add_cut(found.support)
        self._descend(found.support)
        return bool(self.cuts)

    def _exclude(self, support: Positions) -> None:
        if support.tobytes() not in self.visited:
            goal = (1 - self.limits.tolerance / 2) * self.incumbent.objective
            self.cuts += excluding_cuts(self.relax, self.whole, self.relaxation, support, goal)

    def _descend(self, support: Positions) -> None:
        """The local optimum below a support becomes a cut, and the incumbent if it is better."""
        found = improve(self.gram, support, self.n_nonzero, self.gamma)
        if found.objective < self.incumbent.objective:
            self.incumbent = found
        self._add_cut(found.support)

    def _add_neighbours(self) -> None:
        for support in swap_neighbours(self.gram, self.incumbent, self.gamma, _NEIGHBOUR_CUTS):
            self._add_cut(support)

    def _add_cut(self, support: Positions) -> None:
        if support.tobytes() not in self.visited:
            self.visited.add(support.tobytes())
            weights = evaluate(self.gram, support, self.gamma).spread(self.gram.n_features)
            self.cuts.append(dual_cut(self.gram, weights, self.gamma))


def _patience(n_features: int) -> int:
    """Rounds without progress that are worth while: many where they take milliseconds, few where they take longer."""
    return max(6, 1000 // n_features)
