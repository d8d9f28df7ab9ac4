"""Outer approximation of the reduced problem: cuts from below, supports from above, until they meet."""

from __future__ import annotations

import time
from typing import Generic, Protocol, TypeVar

import numpy as np

from backbone_dask.exact.cuts import Cut
from backbone_dask.exact.exclusion import Relax, excluding_cuts
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Positions
from backbone_dask.exact.highs import Master
from backbone_dask.exact.incumbent import round_up
from backbone_dask.exact.perspective import Relaxation
from backbone_dask.exact.trace import Recorder
from backbone_dask.exact.verdict import Answer, Limits
from backbone_dask.values import Termination

_NEIGHBOUR_CUTS = 10
_PROGRESS = 0.05
"""A round counts as progress when it takes this share off the gap."""


class Found(Protocol):
    """A support with its fit."""

    @property
    def support(self) -> Positions: ...

    @property
    def objective(self) -> float: ...


FoundT = TypeVar("FoundT", bound=Found)


class Searched(Protocol[FoundT]):
    """A problem as the search sees it. What supports choose among, columns or groups of them, are its features."""

    @property
    def n_features(self) -> int: ...

    def evaluate(self, support: Positions, near: FoundT | None = None) -> FoundT:
        """The fit on a support, without features that it gives no weight; `near` is a fit to start from."""
        ...

    def improve(self, support: Positions, n_nonzero: int, deadline: float) -> FoundT:
        """What descent from a support of any size leads to."""
        ...

    def neighbours(self, found: FoundT, n_nonzero: int, count: int) -> list[Positions]:
        """Supports one change away that promise most."""
        ...

    def cut_at(self, found: FoundT) -> Cut:
        """The cut that is tight at a support."""
        ...

    def relaxed(self, face: Face, deadline: float) -> tuple[Relaxation, Relax]:
        """The relaxation on the whole problem, and what solves it on its faces."""
        ...


class Search(Generic[FoundT]):
    """The state of one search: best support, best bound, and the supports whose cuts the master has.

    The relaxation's cut comes first: with it the first master already knows the relaxation's bound.
    """

    def __init__(self, problem: Searched[FoundT], n_nonzero: int, limits: Limits, recorder: Recorder) -> None:
        self.problem, self.n_nonzero, self.limits, self.recorder = problem, n_nonzero, limits, recorder
        self.incumbent = problem.evaluate(np.empty(0, np.int64))
        self.whole = Face.whole(problem.n_features, n_nonzero)
        self.relaxation, self.relax = problem.relaxed(self.whole, limits.deadline)
        self.bound = max(self.relaxation.bound, 0.0)
        self.cuts: list[Cut] = [self.relaxation.cut]
        self.visited: set[bytes] = set()

    @property
    def gap(self) -> float:
        """Relative to the objective, which is positive unless there is nothing to explain."""
        return max(self.incumbent.objective - self.bound, 0.0) / max(self.incumbent.objective, np.finfo(float).tiny)

    def run(self, warm: Positions) -> Answer[FoundT]:
        """Search from the features `warm`, of any number, as well as from the relaxation."""
        self._note()
        self._descend(round_up(self.relaxation.z, self.n_nonzero))
        self._descend(warm)
        ended, rounds = self.limits.reached(self.gap), 0
        if ended is None:
            ended, rounds = self._rounds()
        return Answer(self.incumbent, self.bound, ended, rounds)

    def _rounds(self) -> tuple[Termination, int]:
        """Solve masters until a limit is reached, no new cut is left, or the gap stands still."""
        self._add_neighbours()
        master = Master(self.problem.n_features, self.n_nonzero, unit=self.incumbent.objective, floor=self.bound)
        patience = _patience(self.problem.n_features)
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
        self._note()
        self._exclude(found.support)
        self._add_cut(self.problem.evaluate(found.support, self.incumbent))
        self._descend(found.support)
        return bool(self.cuts)

    def _exclude(self, support: Positions) -> None:
        if support.tobytes() not in self.visited:
            goal = (1 - self.limits.tolerance / 2) * self.incumbent.objective
            self.cuts += excluding_cuts(self.relax, self.whole, self.relaxation, support, goal)

    def _descend(self, support: Positions) -> None:
        """The local optimum below a support becomes a cut, and the incumbent if it is better."""
        found = self.problem.improve(support, self.n_nonzero, self.limits.deadline)
        if found.objective < self.incumbent.objective:
            self.incumbent = found
        self._note()
        self._add_cut(found)

    def _note(self) -> None:
        self.recorder.note(self.incumbent.objective, self.bound)

    def _add_neighbours(self) -> None:
        for support in self.problem.neighbours(self.incumbent, self.n_nonzero, _NEIGHBOUR_CUTS):
            self._add_cut(self.problem.evaluate(support, self.incumbent))

    def _add_cut(self, found: FoundT) -> None:
        if found.support.tobytes() not in self.visited:
            self.visited.add(found.support.tobytes())
            self.cuts.append(self.problem.cut_at(found))


def _patience(n_features: int) -> int:
    """Rounds without progress that are worth while: many where they take milliseconds, few where they take longer."""
    return max(6, 1000 // n_features)
