"""Iterative sure independence screening: later rounds ask what the columns add to a model of the earlier ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from backbone_dask.algorithm.hierarchy import union
from backbone_dask.algorithm.ranking import survivors, top
from backbone_dask.protocols import Panel, Problem
from backbone_dask.runtime.screening import Screener
from backbone_dask.runtime.survivors import compact
from backbone_dask.runtime.tasks import prepared_columns, solve_subproblem
from backbone_dask.values import CandidateIds, Ranking, Screening, Standardised, Subproblem


@dataclass(frozen=True, slots=True)
class IterativeScreen:
    """`rounds` passes, each of which adds its share of `keep` survivors.

    The first scores columns by themselves. Each further one fits a sparse model to the survivors so far, and scores
    columns by what they add to it: `condition` makes that panel from the model's columns. A feature that is hidden by
    another one in the first round is found when that one is in. Survivors keep the utility of their own round.
    """

    problem: Problem[Any]
    y: Any
    condition: Callable[[Standardised], Panel]
    rounds: int

    def __call__(self, screener: Screener, keep: int) -> Screening:
        (found,) = screener.rank(self.problem.screen, _quota(keep, self.rounds, 1), name="screen-0")
        for done in range(1, self.rounds):
            panel = self._conditioned(screener, found.candidates)
            # As many as may be in already, so that enough new ones are among them.
            (fresh,) = screener.rank(panel, _quota(keep, self.rounds, done + 1), name=f"screen-{done}")
            found = _extended(found, fresh, _quota(keep, self.rounds, done + 1))
        return survivors(found)

    def _conditioned(self, screener: Screener, candidates: CandidateIds) -> Panel:
        executor, problem = screener.site.executor, self.problem.restricted(candidates)
        step = max(1, candidates.size)
        held = compact(executor, screener.serve, candidates, step, problem.prepare, screener.site.placement)
        subproblem = Subproblem(0, 0, candidates, 0)
        item = (subproblem, held.columns(candidates), self.y, problem.fit_subproblem, problem.extract_relevant)
        answer = next(iter(executor.map(solve_subproblem, [item])))
        serve = screener.serve(answer.relevant, None)
        (columns,) = executor.map(prepared_columns, [(serve, answer.relevant, problem.prepare)])
        return self.condition(columns.here())


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
