"""Outer approximation for sparse regression with structure: the master chooses groups, weights may have to be >= 0."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from backbone_dask.errors import ExactSolveError
from backbone_dask.exact.checks import check_regression, check_structure
from backbone_dask.exact.cuts import Cut
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram, Positions
from backbone_dask.exact.outer_approximation import Search
from backbone_dask.exact.structured_gram import GroupedGram
from backbone_dask.exact.structured_incumbent import group_neighbours, improve_groups
from backbone_dask.exact.structured_perspective import solve_group_relaxation
from backbone_dask.exact.verdict import Answer, Limits, model_of_samples, verdict
from backbone_dask.structure import Structure
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target, Termination

_NEIGHBOUR_CUTS = 10


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
    started = time.monotonic()
    limits = Limits(gap_tolerance, started + seconds)
    y = np.asarray(y, np.float64)
    check_regression(X, y, n_nonzero, gamma)
    check_structure(X, structure)
    usable = np.flatnonzero(X.any(axis=1))
    warm = np.searchsorted(usable, np.intersect1d(usable, warm_start))
    with one_blas_thread():
        problem = GroupedGram.of(Gram.of(X[usable], y), structure.restrict(usable))
        answer = _solve(problem, n_nonzero, gamma, problem.structure.groups_of(warm), limits)
        columns = np.flatnonzero(answer.incumbent.weights)
        model = model_of_samples(X, y, gamma, usable[columns], answer.incumbent.weights[columns])
    return verdict(answer, model, gap_tolerance, time.monotonic() - started)


def _solve(problem: GroupedGram, n_nonzero: int, gamma: float, warm: Positions, limits: Limits) -> Answer[Any]:
    try:
        if problem.n_features <= n_nonzero:
            return _everything(problem, gamma, limits)
        return _GroupSearch(problem, n_nonzero, gamma, limits).run(warm)
    except LinAlgError as cause:
        raise ExactSolveError(f"the ridge system is singular in float64 at gamma={gamma:g}") from cause


def _everything(problem: GroupedGram, gamma: float, limits: Limits) -> Answer[Any]:
    """With room for every group the fit on all of them is optimal; its own cut says how exactly it was computed."""
    incumbent = problem.evaluate(np.arange(problem.n_features), gamma)
    whole = Face.whole(problem.n_features, problem.n_features)
    bound = max(problem.best_length_cut(incumbent.weights, gamma, whole).bound(whole), 0.0)
    closed = incumbent.objective - bound <= limits.tolerance * incumbent.objective
    return Answer(incumbent, bound, Termination.PROVEN if closed else Termination.ROUND_LIMIT, 0)


class _GroupSearch(Search):
    """The plain search with groups for features: fits, relaxation, descent and cuts are those of the structure."""

    gram: Any

    def __init__(self, problem: GroupedGram, n_nonzero: int, gamma: float, limits: Limits) -> None:
        self.gram, self.n_nonzero, self.gamma, self.limits = problem, n_nonzero, gamma, limits
        self.incumbent = problem.evaluate(np.empty(0, np.int64), gamma)
        self.whole = Face.whole(problem.n_features, n_nonzero)
        self.relaxation = solve_group_relaxation(problem, self.whole, gamma)
        self.relax = partial(solve_group_relaxation, problem, gamma=gamma, deadline=limits.deadline)
        self.bound = 0.0
        self.cuts: list[Cut] = []
        self.visited: set[bytes] = set()

    def _descend(self, support: Positions) -> None:
        found = improve_groups(self.gram, support, self.n_nonzero, self.gamma)
        if found.objective < self.incumbent.objective:
            self.incumbent = found
        self._add_cut(found.support)

    def _add_neighbours(self) -> None:
        for groups in group_neighbours(self.gram, self.incumbent, self.n_nonzero, self.gamma, _NEIGHBOUR_CUTS):
            self._add_cut(groups)

    def _add_cut(self, support: Positions) -> None:
        if support.tobytes() not in self.visited:
            self.visited.add(support.tobytes())
            self.cuts.append(self.gram.cut(self.gram.evaluate(support, self.gamma).weights, self.gamma))
