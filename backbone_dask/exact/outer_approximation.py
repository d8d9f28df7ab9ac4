"""Outer approximation for sparse regression: the search with cuts and supports of squared loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.linalg import LinAlgError

from backbone_dask.errors import ExactSolveError
from backbone_dask.exact.checks import check_regression
from backbone_dask.exact.cuts import Cut, dual_cut
from backbone_dask.exact.everything import fit_everything
from backbone_dask.exact.exclusion import Relax
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram, Positions
from backbone_dask.exact.incumbent import Incumbent, evaluate, improve, swap_neighbours
from backbone_dask.exact.perspective import Relaxation, solve_relaxation
from backbone_dask.exact.search import Search
from backbone_dask.exact.trace import Recorder
from backbone_dask.exact.verdict import Answer, Limits, model_of_samples, verdict
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target


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
    recorder = Recorder()
    limits = Limits(gap_tolerance, recorder.began + seconds)
    y = np.asarray(y, np.float64)
    check_regression(X, y, n_nonzero, gamma)
    usable = np.flatnonzero(X.any(axis=1))
    warm = np.searchsorted(usable, np.intersect1d(usable, warm_start))
    with one_blas_thread():
        if usable.size <= n_nonzero:
            answer = fit_everything(X[usable], y, gamma)
        else:
            answer = _solve(Gram.of(X[usable], y), n_nonzero, gamma, warm, limits, recorder)
        model = model_of_samples(X, y, gamma, usable[answer.incumbent.support], answer.incumbent.weights)
    return verdict(answer, model, gap_tolerance, recorder)


def _solve(
    gram: Gram, n_nonzero: int, gamma: float, warm: Positions, limits: Limits, recorder: Recorder
) -> Answer[Incumbent]:
    try:
        return Search(_Squared(gram, gamma), n_nonzero, limits, recorder).run(warm)
    except LinAlgError as cause:
        raise ExactSolveError(f"the ridge system is singular in float64 at gamma={gamma:g}") from cause


@dataclass(frozen=True, slots=True)
class _Squared:
    """Features are columns, by their products."""

    gram: Gram
    gamma: float

    @property
    def n_features(self) -> int:
        return self.gram.n_features

    def evaluate(self, support: Positions, near: Incumbent | None = None) -> Incumbent:
        return evaluate(self.gram, support, self.gamma)

    def improve(self, support: Positions, n_nonzero: int, deadline: float) -> Incumbent:
        return improve(self.gram, support, n_nonzero, self.gamma)

    def neighbours(self, found: Incumbent, n_nonzero: int, count: int) -> list[Positions]:
        return swap_neighbours(self.gram, found, self.gamma, count)

    def cut_at(self, found: Incumbent) -> Cut:
        return dual_cut(self.gram, found.spread(self.gram.n_features), self.gamma)

    def relaxed(self, face: Face, deadline: float) -> tuple[Relaxation, Relax]:
        # Without a deadline: its bound and its rounding are what an answer is made of when the limit comes first.
        found = solve_relaxation(self.gram, face, self.gamma)
        return found, partial(solve_relaxation, self.gram, gamma=self.gamma, deadline=deadline)
