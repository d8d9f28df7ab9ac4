"""A bound over all columns by column generation: relax on some, price all, add those that are missing, and again.

Any dual vector whose prices over all p columns are known gives a bound for the problem before screening. The columns
that are priced in repair the backbone: what sampling lost comes back, and the exact fit is run again with it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from backbone_dask.algorithm.hierarchy import union
from backbone_dask.certificate import Certificate, Certify, Ended, PricingPass, relative_gap
from backbone_dask.exact.prices import Prices, prices_of
from backbone_dask.exact.restricted import Loss, Restricted, advised_gamma
from backbone_dask.losses.squared import Vector
from backbone_dask.problems.sparse import SparseTask
from backbone_dask.protocols import Problem
from backbone_dask.runtime.checkpoint import Journal, digest
from backbone_dask.runtime.events import Event, Listener, Solving
from backbone_dask.runtime.run import Finding, claims
from backbone_dask.runtime.screening import Screener
from backbone_dask.runtime.site import Site
from backbone_dask.runtime.tasks import Piece, joined, prepared_columns, solve_reduced
from backbone_dask.settings import ResolvedSettings
from backbone_dask.values import CandidateIds, Outcome, SparseFit

_CLOSEST = 1e-12
"""A bound nearer to the objective than this, relatively, is rounding."""
_LEAST_SHARE = 0.1
"""What has less in the relaxation is hardly in a best support. A weak relaxation gives hundreds of columns a little."""
_REDUCED = {"gap": "reduced gap", "bound": "reduced bound"}


@dataclass(frozen=True, slots=True)
class Known:
    """What the exact fit found, in global ids: the columns that it chose from, its support, and its objective.

    `bound` is what was proven over all columns before.
    """

    backbone: CandidateIds
    support: CandidateIds
    objective: float
    bound: float = 0.0


@dataclass(frozen=True, slots=True)
class Working:
    """The columns of the relaxation: sorted ids, pieces in the order in which they came, and its solution on them.

    `order` has the place of every id among the columns of the joined pieces.
    """

    ids: CandidateIds
    pieces: list[Any]
    order: np.ndarray[Any, np.dtype[np.int64]]
    solved: Restricted

    @property
    def support(self) -> CandidateIds:
        return self.ids[self.solved.support]


@dataclass(frozen=True, slots=True)
class Certifier:
    """Where the columns are, what they are to explain, and when to stop; `table` tells the store from others."""

    site: Site
    table: str
    task: SparseTask
    problem: Problem[SparseFit]
    loss: Loss
    settings: ResolvedSettings
    journal: Journal
    listen: Listener

    @property
    def asked(self) -> Certify:
        return self.settings.certify or Certify()

    def certified(self, known: Known) -> tuple[Certificate, Outcome[SparseFit] | None]:
        """A certificate, and the exact fit with the columns that were priced in, where it is no worse than `known`.

        The backbone of that fit is the known one with the columns that the certificate calls priced.
        """
        working, passes, ended = self._priced(self._relaxed(known.backbone, known.support), known)
        priced = self._joining(known.backbone, working)
        better = working.solved.objective < known.objective
        outcome = self._repaired(known, priced, working) if priced.size or better else None
        if outcome is not None and outcome.objective > known.objective:
            outcome = None
        kept = priced if outcome is not None else priced[:0]
        objective = known.objective if outcome is None else outcome.objective
        return self._certificate(working, passes, ended, kept, objective), outcome

    def _priced(self, working: Working, known: Known) -> tuple[Working, tuple[PricingPass, ...], Ended]:
        passes: list[PricingPass] = []
        began = time.perf_counter()
        objective, bound = known.objective, known.bound
        while True:
            objective = min(objective, working.solved.objective)
            prices = self._pass(working, len(passes))
            room = self.asked.columns + passes[0].working - working.ids.size if passes else self.asked.columns
            wanted = prices.entering(working.ids, self.loss.n_nonzero)
            bound = max(bound, self.loss.bound(working.solved.a, prices.heaviest(self.loss.n_nonzero)))
            seconds = time.perf_counter() - began
            passes.append(PricingPass(bound, objective, working.ids.size, wanted.size, seconds))
            self._tell(passes)
            ended = _ended(self.asked, passes, room)
            if ended is not None:
                return working, tuple(passes), ended
            working = self._widened(working, np.sort(wanted[:room]))
            # The relaxation of many columns takes longer than a pass.
            if _is_late(self.asked, time.perf_counter() - began):
                return working, tuple(passes), Ended.TIME_LIMIT

    def _pass(self, working: Working, number: int) -> Prices:
        """Every column priced against the dual vector; the working set and what may enter once more, as prepared."""
        a, rounding = working.solved.a, self.task.adjusted.rounding
        keep = working.ids.size + self.asked.columns + self.loss.n_nonzero
        screener = Screener(self.site, self.site.serve(), self.journal, _passing(self.listen, number))
        (ranking,) = screener.rank(self.task.pricing(a), keep, name=f"price-{number}-{keep}-{self.table}-{digest(a)}")
        n_rest = ranking.n_scored - ranking.n_constant - ranking.candidates.size
        rest = float(ranking.utilities.min(initial=np.inf)) if n_rest else 0.0
        prices = Prices(ranking.candidates, ranking.utilities, rest, n_rest)
        prices = prices.with_known(working.ids, self._run(_prices, working.pieces, a, rounding)[working.order])
        entering = np.sort(prices.entering(working.ids, self.loss.n_nonzero))
        if not entering.size:
            return prices
        return prices.with_known(entering, self._run(_prices, [self._columns(entering)], a, rounding))

    def _relaxed(self, backbone: CandidateIds, support: CandidateIds) -> Working:
        # Any column will do where no level had a use for one: those that matter are priced in.
        ids = backbone if backbone.size else np.zeros(1, np.int64)
        pieces, order = [self._columns(ids)], np.arange(ids.size)
        return self._solved(ids, pieces, order, np.zeros(ids.size), support)

    def _widened(self, working: Working, entering: CandidateIds) -> Working:
        """The relaxation with more columns, from where it stands."""
        came = np.concatenate([working.ids[np.argsort(working.order)], entering])
        ids = np.sort(came)
        order = np.argsort(came)
        start = np.zeros(ids.size)
        start[np.searchsorted(ids, working.ids)] = working.solved.weights
        return self._solved(ids, [*working.pieces, self._columns(entering)], order, start, working.support)

    def _solved(
        self, ids: CandidateIds, pieces: list[Any], order: Any, start: Vector, support: CandidateIds
    ) -> Working:
        found = self._run(_relax, pieces, order, self.loss, start, np.searchsorted(ids, support))
        return Working(ids, pieces, order, replace(found, a=self.task.priceable(found.a)))

    def _columns(self, ids: CandidateIds) -> Any:
        """A handle on prepared columns, on the worker where most of them lie."""
        home = max(self.site.placement.wishes(ids).items(), key=lambda wish: wish[1])[0]
        serve = self.site.serve()
        return self.site.executor.submit(prepared_columns, serve(ids, home), ids, self.problem.prepare, home=home)

    def _run(self, function: Any, *arguments: Any) -> Any:
        return next(iter(self.site.executor.map(function, [arguments])))

    def _joining(self, backbone: CandidateIds, working: Working) -> CandidateIds:
        """Priced columns with a good share in the relaxation, or in the best support; of many the largest shares."""
        share = working.solved.z.copy()
        # Before all others: what is cut off at the end must not be a part of the best support.
        share[working.solved.support] = 2.0
        share[np.isin(working.ids, backbone)] = 0.0
        largest = np.argsort(-share, kind="stable")[: self.settings.backbone_max]
        return np.sort(working.ids[largest[share[largest] > _LEAST_SHARE]])

    def _repaired(self, known: Known, priced: CandidateIds, working: Working) -> Outcome[SparseFit]:
        """The exact fit on a backbone with the priced columns, from the best support that is known."""
        backbone = union([known.backbone, priced])
        best = working.support if working.solved.objective < known.objective else known.support
        executor, tell = self.site.executor, _repairing(self.listen, known.objective)
        start = np.searchsorted(backbone, best)
        seconds = self.settings.time_limit
        item = ([self._columns(backbone)], self.task.response, self.problem.fit, start, seconds)
        with executor.watching(Solving(tell, seconds)):
            outcome: Outcome[SparseFit] = next(iter(executor.map(solve_reduced, [item])))
        tell(Event("repair", 1, 1, "fit", facts=claims(outcome)))
        return outcome

    def _certificate(
        self, working: Working, passes: tuple[PricingPass, ...], ended: Ended, priced: CandidateIds, objective: float
    ) -> Certificate:
        solved, tolerance = working.solved, self.asked.advised_gap
        highest = objective * (1 - _CLOSEST)
        passes = tuple(replace(each, bound=min(each.bound, highest)) for each in passes)
        bound = passes[-1].bound
        weak = relative_gap(objective, solved.value) > tolerance and relative_gap(objective, bound) > tolerance
        advised = self._run(_advise, working.pieces, working.order, self.loss, solved, tolerance) if weak else None
        scale = self.task.ridge(1.0)
        return Certificate(bound, passes, ended, solved.value, priced, None if advised is None else advised / scale)

    def _tell(self, passes: list[PricingPass]) -> None:
        last, source = passes[-1], self.site.source
        gap = relative_gap(last.objective, last.bound)
        facts = {"global gap": gap, "objective": last.objective, "global bound": last.bound}
        width = source.n_samples * source.itemsize
        phase, p = f"pass {len(passes)}", source.n_features
        self.listen(Event(phase, p, p, "columns", unit_bytes=width, facts=facts))


def with_certificate(finding: Finding, work: Certifier) -> Finding:
    """The finding with a bound over all columns, and the better fit where columns were priced in."""
    began, outcome = time.perf_counter(), finding.outcome
    support = finding.backbone[outcome.model.support]
    certificate, repaired = work.certified(Known(finding.backbone, support, outcome.objective))
    seconds = finding.seconds | {"certify": time.perf_counter() - began}
    return replace(finding, outcome=repaired or outcome, certificate=certificate, seconds=seconds)


def _ended(asked: Certify, passes: list[PricingPass], room: int) -> Ended | None:
    last = passes[-1]
    if relative_gap(last.objective, last.bound) <= asked.tolerance:
        return Ended.TOLERANCE
    if not last.entering:
        return Ended.NO_COLUMN_LEFT
    if room <= 0:
        return Ended.COLUMN_LIMIT
    if len(passes) >= asked.passes:
        return Ended.PASS_LIMIT
    return Ended.TIME_LIMIT if _is_late(asked, last.seconds) else None


def _is_late(asked: Certify, seconds: float) -> bool:
    return asked.seconds is not None and seconds >= asked.seconds


def _passing(listen: Listener, number: int) -> Listener:
    """The events of a pass over the columns, but for the last: it ends when the bound is known."""
    phase = f"pass {number + 1}"
    return lambda event: None if event.done >= event.total else listen(replace(event, phase=phase, facts={}))


def _repairing(listen: Listener, objective: float) -> Listener:
    """What an exact fit tells, named apart from the bound over all columns, once it is no worse than what is known."""

    def tell(event: Event) -> None:
        worse = float(event.facts.get("objective", np.inf)) > objective
        facts = {} if worse else {_REDUCED.get(name, name): value for name, value in event.facts.items()}
        listen(replace(event, phase="repair", facts=facts))

    return tell


def _relax(pieces: list[Piece], order: Any, loss: Loss, start: Vector, support: Any) -> Restricted:
    return loss.solve(joined(pieces)[order], start, support)


def _prices(pieces: list[Piece], a: Vector, rounding: float) -> Vector:
    return prices_of(joined(pieces), a, rounding)


def _advise(pieces: list[Piece], order: Any, loss: Loss, solved: Restricted, tolerance: float) -> float | None:
    return advised_gamma(loss, joined(pieces)[order], solved, tolerance)
