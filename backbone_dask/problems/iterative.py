"""Iterative sure independence screening: later rounds ask what the columns add to a model of the earlier ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.adjustment import orthonormal
from backbone_dask.algorithm.hierarchy import union
from backbone_dask.algorithm.ranking import survivors, top
from backbone_dask.protocols import FitSubproblem, Panel, Screen
from backbone_dask.runtime.scoring import OneQuestion
from backbone_dask.runtime.screening import Screener
from backbone_dask.runtime.survivors import compact
from backbone_dask.runtime.tasks import solve_subproblem, standardised_columns
from backbone_dask.screens.panels import ScorePanel
from backbone_dask.subproblems.relaxation import relevant_of
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Ranking, Screening, SparseFit, Standardised, Subproblem, Target


@dataclass(frozen=True, slots=True)
class IterativeScreen:
    """`rounds` passes, each of which adds its share of `keep` survivors.

    The first scores columns by themselves. Each further one fits a sparse model to the survivors so far, and scores
    columns by their partial correlation with the target given the columns of that model. A feature that is hidden by
    another one in the first round is found when that one is in. Survivors keep the utility of their own round.
    """

    screen: Screen
    fit_subproblem: FitSubproblem[SparseFit]
    y: Target
    rounds: int

    def __call__(self, screener: Screener, keep: int) -> Screening:
        (found,) = screener.rank(OneQuestion(self.screen, self.y), _quota(keep, self.rounds, 1), name="screen-0")
        for done in range(1, self.rounds):
            panel = self._condition(screener, found.candidates)
            # As many as may be in already, so that enough new ones are among them.
            (fresh,) = screener.rank(panel, _quota(keep, self.rounds, done + 1), name=f"screen-{done}")
            found = _extended(found, fresh, _quota(keep, self.rounds, done + 1))
        return survivors(found)

    def _condition(self, screener: Screener, candidates: CandidateIds) -> Panel:
        held = compact(screener.executor, screener.serve, candidates, max(1, candidates.size))
        subproblem = Subproblem(0, 0, candidates, 0)
        item = (subproblem, held.columns(candidates), self.y, self.fit_subproblem, relevant_of)
        answer = next(iter(screener.executor.map(solve_subproblem, [item])))
        serve = screener.serve(answer.relevant)
        (columns,) = screener.executor.map(standardised_columns, [(serve, answer.relevant)])
        return conditional_panel(columns, self.y)


def conditional_panel(columns: Standardised, y: Target) -> Panel:
    """Partial correlation with y given standardised columns (features, samples)."""
    ones = np.ones((1, y.size))
    basis = orthonormal(np.vstack([ones, columns.astype(np.float64)]))
    with one_blas_thread():
        residual = y - (basis @ y) @ basis
    return ScorePanel(ones[0], basis, residual)


def _quota(keep: int, rounds: int, done: int) -> int:
    """Survivors after `done` of `rounds` rounds."""
    return -(-keep * done // rounds)


def _extended(found: Ranking, fresh: Ranking, size: int) -> Ranking:
    """The survivors so far and the best new ones, `size` in all."""
    new = ~np.isin(fresh.candidates, found.candidates)
    ids, utilities = top(fresh.candidates[new], fresh.utilities[new], size - found.candidates.size)
    both = union([found.candidates, ids])
    values = np.empty(both.size)
    values[np.searchsorted(both, ids)] = utilities
    values[np.searchsorted(both, found.candidates)] = found.utilities
    return Ranking(both, values, found.n_scored, found.n_constant)
