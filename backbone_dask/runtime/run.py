"""The spine: screen -> compact -> levels -> reduced fit, over any source, on any executor."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from backbone_dask.algorithm.hierarchy import Hierarchy, union
from backbone_dask.algorithm.ranking import survivors
from backbone_dask.certificate import Certificate
from backbone_dask.protocols import Executor, Panel, Problem, SpineSettings
from backbone_dask.runtime.budget import Budget, losses_advised
from backbone_dask.runtime.checkpoint import Journal, NoJournal
from backbone_dask.runtime.events import Event, Listener, Part, Solving, silent, solve_facts
from backbone_dask.runtime.screening import Screener
from backbone_dask.runtime.site import Site
from backbone_dask.runtime.survivors import Supply, Survivors, compact
from backbone_dask.runtime.tasks import solve_reduced, solve_subproblem
from backbone_dask.values import (
    Answer,
    CandidateIds,
    LevelRecord,
    Outcome,
    Screening,
    Subproblem,
)

ScreenPhase = Callable[[Screener, int], Screening]
"""From a way to pass over the columns and the number of survivors to the survivors."""


@dataclass(frozen=True, slots=True)
class OneScreen:
    """The paper's screen: every column scored by itself, in one pass."""

    panel: Panel

    def __call__(self, screener: Screener, keep: int) -> Screening:
        (ranking,) = screener.rank(self.panel, keep, name="screen")
        return survivors(ranking)


@dataclass(frozen=True, slots=True)
class Reduction:
    """What the reduced fit is made from: handles on the backbone's columns and on what they explain."""

    executor: Executor
    held: Survivors
    backbone: CandidateIds
    columns: list[Any]
    y: Any
    problem: Problem[Any]
    warm_start: CandidateIds
    listen: Listener

    @property
    def homes(self) -> tuple[str, ...]:
        """The worker that has most of the backbone's columns."""
        return self.held.nearest([self.backbone])

    def watched(self, seconds: float) -> AbstractContextManager[None]:
        """The listener hears of the solves of one problem in this block, which have so many seconds."""
        return self.executor.watching(Solving(self.listen, seconds))


Extend = Callable[[Reduction, LevelRecord], Iterator[LevelRecord]]
"""From the backbone of the last level to those of further ones, which look at every survivor again."""


def no_extension(work: Reduction, last: LevelRecord) -> Iterator[LevelRecord]:
    """The paper's method: the backbone is what the subproblems found."""
    return iter(())


Reduced = tuple[Outcome[Any], tuple[Any, ...]]
ReducePhase = Callable[[Reduction], Reduced]
"""From the backbone to the fit, and the grid that it was chosen from."""


@dataclass(frozen=True, slots=True)
class OneFit:
    """The exact fit of the problem as it is."""

    seconds: float

    def __call__(self, work: Reduction) -> Reduced:
        item = (work.columns, work.y, work.problem.fit, work.warm_start, self.seconds)
        with work.watched(self.seconds):
            return next(iter(work.executor.map(solve_reduced, [item], work.homes))), ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What a run found. `support` and `backbone` are global ids; `outcome.model` is on the backbone's columns."""

    screening: Screening
    levels: tuple[LevelRecord, ...]
    outcome: Outcome[Any]
    grid: tuple[Any, ...]
    seconds: dict[str, float]
    certificate: Certificate | None = None

    @property
    def backbone(self) -> CandidateIds:
        """That of the last level, with the columns that were priced in."""
        last = self.levels[-1].backbone
        return last if self.certificate is None else union([last, self.certificate.priced])


@dataclass(slots=True)
class Run:
    """One execution of the method; every phase is a method, in the order in which they run."""

    problem: Problem[Any]
    site: Site
    y: Any
    settings: SpineSettings
    budget: Budget
    screen: ScreenPhase
    reduce: ReducePhase
    extend: Extend = no_extension
    journal: Journal = field(default_factory=NoJournal)
    listen: Listener = silent
    part: Part | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def execute(self) -> Finding:
        """Run every phase that the journal does not have the answer of."""
        with losses_advised(self.budget, self.site.executor.worker_bytes):
            return self._phases()

    def _phases(self) -> Finding:
        serve, y = self.site.serve(), self.site.executor.share(self.y)
        screening = self._screen(serve)
        held = self._compact(serve, screening.candidates)
        levels = self._levels(screening, held, y)
        levels += self._extended(levels[-1], held, y)
        outcome, grid = self._reduce(levels[-1], held, y)
        return Finding(screening, levels, outcome, grid, self.seconds)

    def _screen(self, serve: Supply) -> Screening:
        with self._timed("screen"):
            screening = self.journal.screening()
            if screening is None:
                screener = Screener(self.site, serve, self.journal, self._tell)
                screening = self.screen(screener, self.settings.screen_size)
                self.journal.keep_screening(screening)
        return screening

    def _compact(self, serve: Supply, candidates: CandidateIds) -> Survivors:
        with self._timed("compact"):
            step = self.budget.partition_features
            self._tell(Event("compact", 0, candidates.size, "columns"))
            held, done = self._held(serve, candidates, step), 0
            for size in held.sizes():
                done += size
                self._tell(Event("compact", done, candidates.size, "columns"))
        return held

    def _held(self, serve: Supply, candidates: CandidateIds, step: int) -> Survivors:
        prepare, placement, everywhere = self.problem.prepare, self.site.placement, self.budget.everywhere
        return compact(self.site.executor, serve, candidates, step, prepare, placement, everywhere=everywhere)

    def _levels(self, screening: Screening, held: Survivors, y: Any) -> tuple[LevelRecord, ...]:
        settings, problem = self.settings, self.problem
        hierarchy = Hierarchy(settings.n_subproblems, settings.backbone_max, settings.patience)
        records = []
        with self._timed("levels"):
            for record in hierarchy.levels(screening, problem.construct_subproblems, self._solver(held, y)):
                self.journal.keep_level(record)
                records.append(record)
                facts = {**_facts(record.level, record.backbone), "coverage": record.coverage}
                self._tell(Event("levels", len(record.answers), record.n_planned, "subproblems", facts=facts))
        return tuple(records)

    def _solver(self, held: Survivors, y: Any) -> Any:
        def solve(subproblems: Sequence[Subproblem]) -> Iterator[Answer]:
            backbone = union([])
            self._tell_level(0, subproblems, backbone)
            for found, answer in enumerate(self._answers(subproblems, held, y), start=1):
                backbone = union([backbone, answer.relevant])
                self._tell_level(found, subproblems, backbone)
                yield answer

        return solve

    def _tell_level(self, done: int, subproblems: Sequence[Subproblem], backbone: CandidateIds) -> None:
        facts = _facts(subproblems[0].level, backbone)
        self._tell(Event("levels", done, len(subproblems), "subproblems", facts=facts))

    def _answers(self, subproblems: Sequence[Subproblem], held: Survivors, y: Any) -> Iterator[Answer]:
        """Answers in index order; the journal has a prefix of them after a restart."""
        rest = list(subproblems)
        while rest and (kept := self.journal.answer(rest[0].level, rest[0].index)):
            rest.pop(0)
            yield kept
        homes = held.nearest([subproblem.candidates for subproblem in rest])
        items = (self._item(subproblem, held, y, home) for subproblem, home in zip(rest, homes, strict=True))
        for answer in self.site.executor.map(solve_subproblem, items, homes):
            self.journal.keep_answer(answer)
            yield answer

    def _item(self, subproblem: Subproblem, held: Survivors, y: Any, home: str) -> tuple[Any, ...]:
        problem = self.problem.restricted(subproblem.candidates)
        columns = held.columns(subproblem.candidates, home)
        return subproblem, columns, y, problem.fit_subproblem, problem.extract_relevant

    def _extended(self, last: LevelRecord, held: Survivors, y: Any) -> tuple[LevelRecord, ...]:
        if self.extend is no_extension:
            return ()
        records = []
        with self._timed("extend"):
            work = replace(self._reduction(last, held, y), listen=self._tell_as("extend"))
            for record in self.extend(work, last):
                self.journal.keep_level(record)
                records.append(record)
        return tuple(records)

    def _reduce(self, last: LevelRecord, held: Survivors, y: Any) -> Reduced:
        with self._timed("reduced"):
            self._tell(Event("reduced", 0, 1, "fit", facts={"backbone": last.backbone.size}))
            outcome, grid = self.reduce(self._reduction(last, held, y))
            self._tell(Event("reduced", 1, 1, "fit", facts=claims(outcome) if self.part is None else {}))
        return outcome, grid

    def _reduction(self, last: LevelRecord, held: Survivors, y: Any) -> Reduction:
        backbone = last.backbone
        problem, columns = self.problem.restricted(backbone), held.columns(backbone)
        return Reduction(self.site.executor, held, backbone, columns, y, problem, warm_start(last), self._tell)

    def _tell(self, event: Event) -> None:
        self.listen(event if self.part is None else replace(event, run=str(self.part)))

    def _tell_as(self, phase: str) -> Listener:
        return lambda event: self._tell(replace(event, phase=phase))

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[phase] = time.perf_counter() - began


def _facts(level: int, backbone: CandidateIds) -> dict[str, float | str]:
    return {"level": level, "backbone": backbone.size}


def claims(outcome: Outcome[Any]) -> dict[str, float | str]:
    """What a solve found and proved; nothing of a model that has no objective of ours."""
    if np.isnan(outcome.objective):
        return {}
    proven = {"gap": outcome.gap, "termination": outcome.termination.value}
    return solve_facts(outcome.objective, outcome.bound) | proven


def warm_start(record: LevelRecord) -> CandidateIds:
    """The best single answer of the last level, as positions in its backbone."""
    scored = [answer for answer in record.answers if not np.isnan(answer.objective)]
    if not scored:
        return np.empty(0, np.int64)
    best = min(scored, key=lambda answer: (answer.objective, answer.index))
    return np.searchsorted(record.backbone, best.relevant)
