"""Outer approximation for sparse regression with structure: the master chooses groups, weights may have to be >= 0."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.linalg import LinAlgError

from backbone_dask.errors import ExactSolveError
from backbone_dask.exact.checks import check_regression
from backbone_dask.exact.cuts import Cut
from backbone_dask.exact.exclusion import Relax
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram, Positions
from backbone_dask.exact.perspective import Relaxation
from backbone_dask.exact.search import Search
from backbone_dask.exact.structured_gram import GroupedGram, GroupIncumbent
from backbone_dask.exact.structured_incumbent import group_neighbours, improve_groups
from backbone_dask.exact.structured_perspective import solve_group_relaxation
from backbone_dask.exact.trace import Recorder
from backbone_dask.exact.verdict import Answer, Limits, model_of_samples, verdict
from backbone_dask.structure import Structure
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target, Termination


def fit_structured_outer_approximation(
    X: Standardised,
    y: Target,
    structure: Structure,
    *,
    n_nonzero: int,
    gamma: float,
    warm_start: CandidateIds,
    seconds: float,
    gap_tolerance: float,
) -> Outcome[SparseFit]:
    """Best fit on at most `n_nonzero` groups of rows of X, with a proven lower bound for its objective.

    y is used as given. `warm_start` holds positions in X; their groups are meant. The support has the columns with a
    weight. Equal inputs give equal results unless time is what ends it.
    """
    structure.require_columns(X.shape[0])
    recorder = Recorder()
    limits = Limits(gap_tolerance, recorder.began + seconds)
    y = np.asarray(y, np.float64)
    check_regression(X, y, n_nonzero, gamma)
    usable = np.flatnonzero(X.any(axis=1))
    warm = np.searchsorted(usable, np.intersect1d(usable, warm_start))
    with one_blas_thread():
        problem = GroupedGram.of(Gram.of(X[usable], y), structure.restrict(usable))
        answer = _solve(problem, n_nonzero, gamma, problem.structure.groups_of(warm), limits, recorder)
        columns = np.flatnonzero(answer.incumbent.weights)
        model = model_of_samples(X, y, gamma, usable[columns], answer.incumbent.weights[columns])
    return verdict(answer, model, gap_tolerance, recorder)


def _solve(
    problem: GroupedGram, n_nonzero: int, gamma: float, warm: Positions, limits: Limits, recorder: Recorder
) -> Answer[GroupIncumbent]:
    try:
        if problem.n_features <= n_nonzero:
            return _everything(problem, gamma, limits)
        return Search(_Grouped(problem, gamma), n_nonzero, limits, recorder).run(warm)
    except LinAlgError as cause:
        raise ExactSolveError(f"the ridge system is singular in float64 at gamma={gamma:g}") from cause


def _everything(problem: GroupedGram, gamma: float, limits: Limits) -> Answer[GroupIncumbent]:
    """With room for every group the fit on all of them is optimal; its own cut says how exactly it was computed."""
    incumbent = problem.evaluate(np.arange(problem.n_features), gamma)
    whole = Face.whole(problem.n_features, problem.n_features)
    bound = max(problem.best_length_cut(incumbent.weights, gamma, whole).bound(whole), 0.0)
    closed = incumbent.objective - bound <= limits.tolerance * incumbent.objective
    return Answer(incumbent, bound, Termination.PROVEN if closed else Termination.ROUND_LIMIT, 0)


@dataclass(frozen=True, slots=True)
class _Grouped:
    """Features are groups of columns."""

    problem: GroupedGram
    gamma: float

    @property
    def n_features(self) -> int:
        return self.problem.n_features

    def evaluate(self, support: Positions, near: GroupIncumbent | None = None) -> GroupIncumbent:
        return self.problem.evaluate(support, self.gamma)

    def improve(self, support: Positions, n_nonzero: int, deadline: float) -> GroupIncumbent:
        return improve_groups(self.problem, support, n_nonzero, self.gamma)

    def neighbours(self, found: GroupIncumbent, n_nonzero: int, count: int) -> list[Positions]:
        return group_neighbours(self.problem, found, n_nonzero, self.gamma, count)

    def cut_at(self, found: GroupIncumbent) -> Cut:
        return self.problem.cut(found.weights, self.gamma)

    def relaxed(self, face: Face, deadline: float) -> tuple[Relaxation, Relax]:
        found = solve_group_relaxation(self.problem, face, self.gamma)
        return found, partial(solve_group_relaxation, self.problem, gamma=self.gamma, deadline=deadline)
