"""One fit from a store to a model: what the estimators and the command line share."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.adjustment import Adjustment, adjustment
from backbone_dask.algorithm.sampling import weights
from backbone_dask.columns import on_samples
from backbone_dask.errors import InvalidSettingError
from backbone_dask.problems.certifying import Certifier, with_certificate
from backbone_dask.problems.chance import screen_phase
from backbone_dask.problems.classes import class_names, two_classes, weigh_classes, words_for_numbers
from backbone_dask.problems.covariates import Covariates, find_covariates
from backbone_dask.problems.extras import Extras
from backbone_dask.problems.groups import GroupedScreen, Groups, find_groups, grouped
from backbone_dask.problems.iterative import IterativeScreen
from backbone_dask.problems.linear import LinearTask, finite_target, require_spread
from backbone_dask.problems.logistic import LEARNERS as LOGISTIC_LEARNERS
from backbone_dask.problems.logistic import LogisticTask
from backbone_dask.problems.model import LinearModel, Terms
from backbone_dask.problems.selection import FitByCriterion, GridFits, best_point, draw_trainings
from backbone_dask.problems.sparse import SparseTask, raw_values, sampler, subproblem_gamma
from backbone_dask.problems.validation import validation_curve
from backbone_dask.protocols import Executor, Problem
from backbone_dask.runtime.budget import Budget, plan, require_memory, with_passes
from backbone_dask.runtime.checkpoint import Journal, NoJournal, digest
from backbone_dask.runtime.events import Listener, Part, silent
from backbone_dask.runtime.run import Finding, OneFit, ReducePhase, Run, ScreenPhase
from backbone_dask.runtime.site import Site, settle
from backbone_dask.settings import ResolvedSettings, Settings
from backbone_dask.store import FeatureStore
from backbone_dask.values import CandidateIds, GridPoint, SparseFit, Target


@dataclass(frozen=True, slots=True)
class Preparation:
    """Everything that is checked before work starts; `labels` are the names of the classes, where they have some."""

    store: FeatureStore
    task: SparseTask
    settings: ResolvedSettings
    covariates: Covariates
    groups: Groups
    classes: tuple[float, ...]
    labels: tuple[str, ...]

    @property
    def problem(self) -> Problem[SparseFit]:
        settings, task = self.settings, self.task
        problem = task.problem(settings)
        if self.groups.is_trivial:
            return problem
        return grouped(
            problem,
            self.groups,
            task.structured,
            n_nonzero=settings.n_nonzero,
            gamma=task.ridge(settings.gamma),
            subproblem_gamma=task.ridge(subproblem_gamma(settings)),
            gap_tolerance=settings.gap_tolerance,
        )

    @property
    def extras_json(self) -> dict[str, Any]:
        """What was given besides table and target, in a few characters each: part of what makes two runs the same."""
        arrays = {
            "weights": self.task.adjusted.weights,
            "free": self.task.adjusted.free,
            "members": self.groups.members,
            "labels": self.groups.labels,
        }
        return {**{name: digest(array) for name, array in arrays.items()}, "nonnegative": self.groups.nonnegative}

    def budget(self, n_workers: int, available: int = 0) -> Budget:
        """The cut of this fit for that many workers, with so much memory each."""
        width = sampler(self.settings).size(self.settings.screen_size, self.settings.n_subproblems)
        budget = plan(self.store, self.settings, n_workers=n_workers, subproblem_features=width, available=available)
        certify = self.settings.certify
        if certify is None:
            return budget
        columns = min(self.settings.backbone_max + certify.columns, self.store.n_features)
        return with_passes(budget, self.store, columns=columns, passes=certify.passes)


@dataclass(frozen=True, slots=True)
class Fitted:
    """The model in the units of the data, how it was found, and how well it explains its training samples.

    `scales` are the standard deviations of the model's features, `unpenalised` the coefficients that they would have
    without a ridge, None where a fit without one has no single answer, or would break a promise of signs.
    """

    model: LinearModel
    finding: Finding
    settings: ResolvedSettings
    training: dict[str, float]
    traffic: dict[str, int]
    scales: NDArray[np.float64]
    unpenalised: NDArray[np.float64] | None

    @property
    def n_nonzero(self) -> int:
        """The size that was asked for, or chosen."""
        return best_point(self.finding.grid).n_nonzero if self.finding.grid else self.settings.n_nonzero

    @property
    def global_gap(self) -> float | None:
        """Over all columns, where they were priced."""
        certificate = self.finding.certificate
        return None if certificate is None else certificate.gap(self.finding.outcome.objective)

    @property
    def gamma(self) -> float:
        return best_point(self.finding.grid).gamma if self.finding.grid else self.settings.gamma


def _numbers(y: Target, adjusted: Adjustment) -> LinearTask:
    require_spread(y[adjusted.weights > 0], has_intercept=adjusted.has_intercept)
    return LinearTask(y, adjusted)


def _labels(y: Target, adjusted: Adjustment) -> LogisticTask:
    return LogisticTask(np.where(y == two_classes(y, adjusted.weights)[1], 1.0, -1.0), adjusted)


TASKS: dict[str, Callable[[Target, Adjustment], SparseTask]] = {
    "regression": _numbers,
    "classification": _labels,
}


def prepare(
    store: FeatureStore,
    y: Target,
    settings: Settings,
    *,
    task: str = "regression",
    extras: Extras | None = None,
    labels: Sequence[str] = (),
) -> Preparation:
    """Check target, settings and extras against the data; raises before anything is started or written.

    `labels` are the names of the classes 0, 1, ... in `y`, where they have some.
    """
    weights[settings.sampling]
    if labels and task == "regression":
        raise words_for_numbers(labels)
    extras = extras or Extras()
    target = finite_target(y, store.n_samples)
    covariates = find_covariates(extras.covariates, store)
    adjusted = adjustment(
        store.n_samples,
        sample_weight=_weights(task, target, extras),
        covariates=covariates.values,
        fit_intercept=extras.fit_intercept,
    )
    covariates.require_not(target)
    resolved = settings.resolve(n_samples=store.n_samples, n_features=store.n_features, total=adjusted.total)
    groups = find_groups(extras.groups, store, nonnegative=extras.nonnegative)
    _require_together(task, resolved, groups)
    classes = two_classes(target, adjusted.weights, labels) if task == "classification" else ()
    named = class_names(classes, labels)
    return Preparation(store, TASKS[task](target, adjusted), resolved, covariates, groups, classes, named)


def _weights(task: str, target: Target, extras: Extras) -> Any:
    if extras.class_weight is None:
        return extras.sample_weight
    if task != "classification":
        raise InvalidSettingError("class_weight is for classification; give sample weights to a regression")
    return weigh_classes(extras.class_weight, target, extras.sample_weight)


def _require_together(task: str, settings: ResolvedSettings, groups: Groups) -> None:
    if task == "classification" and settings.subproblem not in LOGISTIC_LEARNERS:
        known = " or ".join(map(repr, LOGISTIC_LEARNERS))
        raise InvalidSettingError(f"subproblem={settings.subproblem!r} is for regression; use {known}")
    if groups.is_trivial:
        return
    if settings.certify is not None:
        raise InvalidSettingError("certify prices columns one by one; it does not go with groups or nonnegative yet")
    for name, needed in (("subproblem", "relaxation"), ("subproblem_size", "fixed"), ("sample_fraction", 1.0)):
        if getattr(settings, name) != needed:
            raise InvalidSettingError(f"groups and nonnegative need {name}={needed!r}")
    if settings.subproblem_gamma == "grid":
        raise InvalidSettingError("groups and nonnegative need one subproblem_gamma, not 'grid'")


def fit_sparse(
    ready: Preparation, executor: Executor, *, journal: Journal | None = None, listen: Listener = silent
) -> Fitted:
    """Choose k and gamma where there is a choice, run the spine, and bring the model back to the units of the data."""
    budget = ready.budget(executor.n_workers, executor.worker_bytes)
    require_memory(budget, ready.store.n_samples, executor.worker_bytes)
    site = settle(ready.store, executor, needed_bytes=budget.worker_bytes)
    spine = _Spine(ready, site, budget, journal or NoJournal(), listen)
    finding = _found(ready, spine)
    if ready.settings.certify is not None:
        chosen = ready.settings.at(*_chosen(finding.grid)) if finding.grid else ready.settings
        finding = with_certificate(finding, certifier(replace(ready, settings=chosen), site, journal, listen))
    return fitted_model(ready, finding, executor.traffic())


def certifier(ready: Preparation, site: Site, journal: Journal | None, listen: Listener) -> Certifier:
    """What prices all columns for the size and the ridge weight of the settings."""
    settings = ready.settings
    loss = ready.task.relaxing(settings.n_nonzero, settings.gamma)
    weighted = site.weighted(ready.task.adjusted.weights)
    table = digest(np.frombuffer(ready.store.identity.encode(), np.uint8))
    return Certifier(weighted, table, ready.task, ready.problem, loss, settings, journal or NoJournal(), listen)


def _found(ready: Preparation, spine: _Spine) -> Finding:
    if not ready.settings.has_choice:
        return spine(ready.task, OneFit(ready.settings.time_limit))
    if isinstance(ready.settings.validation, str):
        return spine(ready.task, FitByCriterion(GridFits(ready.task, ready.settings), ready.store.n_features))
    began = time.perf_counter()
    trainings = draw_trainings(ready.settings, ready.store.n_samples)
    curve = validation_curve(ready.store, ready.task, ready.settings, trainings, spine)
    took = {"validation": time.perf_counter() - began}
    chosen = replace(ready, settings=ready.settings.at(*_chosen(curve)))
    finding = replace(spine, ready=chosen)(chosen.task, OneFit(ready.settings.time_limit))
    return replace(finding, grid=curve, seconds=took | finding.seconds)


def _chosen(curve: tuple[GridPoint, ...]) -> tuple[int, float]:
    best = best_point(curve)
    return best.n_nonzero, best.gamma


@dataclass(frozen=True, slots=True)
class _Spine:
    """Runs the method on one table: for a task, with a way to reduce; every part keeps a journal of its own."""

    ready: Preparation
    site: Site
    budget: Budget
    journal: Journal
    listen: Listener

    def __call__(self, task: SparseTask, reduce: ReducePhase, part: Part | None = None) -> Finding:
        ready = replace(self.ready, task=task)
        problem = ready.problem
        return Run(
            problem=problem,
            site=self.site.weighted(task.adjusted.weights),
            y=task.response,
            settings=ready.settings,
            budget=self.budget,
            screen=_screen_phase(problem, ready),
            reduce=reduce,
            journal=self.journal if part is None else self.journal.part(part.name),
            listen=self.listen,
            part=part,
        ).execute()


def _screen_phase(problem: Problem[SparseFit], ready: Preparation) -> ScreenPhase:
    rounds, task = ready.settings.screen_rounds, ready.task
    phase: ScreenPhase = screen_phase(problem.screen, ready.settings, task.adjusted.weights)
    if rounds > 1:
        phase = IterativeScreen(problem, task.response, task.condition, rounds)
    most = None if ready.settings.n_subproblems else ready.settings.backbone_max
    return phase if ready.groups.is_trivial else GroupedScreen(phase, ready.groups, most)


def fitted_model(ready: Preparation, finding: Finding, traffic: dict[str, int]) -> Fitted:
    """The model of a finding in the units of the data."""
    fit: SparseFit = finding.outcome.model
    ids: CandidateIds = finding.backbone[fit.support]
    columns = ready.store.gather(ids)
    adjusted = ready.task.adjusted
    coefficients, free = ready.task.in_data_units(fit, on_samples(columns, adjusted.weights > 0))
    has_intercept = adjusted.has_intercept
    tied, beside = ready.covariates.terms(free[1:] if has_intercept else free)
    support = Terms(ids, tuple(ready.store.names(ids)), coefficients, columns.mean)
    intercept = float(free[0]) if has_intercept else 0.0
    model = LinearModel(support, intercept, tied, beside, ready.classes, ready.covariates.beside, ready.labels)
    predictor = coefficients @ raw_values(columns) + free @ adjusted.free
    quality = ready.task.quality(np.asarray(predictor))
    unpenalised = None if ready.groups.nonnegative else ready.task.unpenalised(columns)
    return Fitted(model, finding, ready.settings, quality, traffic, columns.scale, unpenalised)
