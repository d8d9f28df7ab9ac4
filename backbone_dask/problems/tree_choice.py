"""The reduced phase of trees, and the choice of depth, bucket and complexity on samples that nothing has seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from backbone_dask.errors import InvalidDataError
from backbone_dask.problems.tree import FitTree, TreeTask, goals, tree_values
from backbone_dask.runtime.events import Event, Part
from backbone_dask.runtime.run import Finding, Reduced, ReducePhase, Reduction
from backbone_dask.runtime.survivors import supply
from backbone_dask.runtime.tasks import prepared_columns, solve_reduced
from backbone_dask.store import FeatureStore
from backbone_dask.tree_settings import ResolvedTreeSettings
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Tree
from backbone_dask.values import Mask, Outcome, Termination, TreePoint

LEAST_SECONDS = 1.0
_SPLITS = 11
"""Address of the draw of validation samples."""
Spine = Callable[[TreeTask, ReducePhase, Part], Finding]
"""Runs the method for a task with a way to reduce, as one part of several."""


@dataclass(frozen=True, slots=True)
class OneTree:
    """The tree of one goal: its parts are solved at the same time, and the best is taken."""

    store: FeatureStore
    goal: Goal
    n_parts: int
    seconds: float

    def __call__(self, work: Reduction) -> Reduced:
        parts = fit_of(work).at(self.goal).split(self.n_parts)
        with work.watched(self.seconds):
            outcomes = solved(work, self.store, parts, self.seconds)
        best = min(outcomes, key=lambda outcome: outcome.objective)
        return best, ()


@dataclass
class KeptTrees:
    """A reduce phase that keeps a tree for every goal, each by one part of the search."""

    store: FeatureStore
    goals: tuple[Goal, ...]
    n_parts: int
    seconds: float
    outcomes: dict[Goal, Outcome[Tree]] = field(default_factory=dict)

    def __call__(self, work: Reduction) -> Reduced:
        fit = fit_of(work)
        firsts = [fit.at(goal).split(self.n_parts)[0] for goal in self.goals]
        outcomes = solved(work, self.store, firsts, self.seconds)
        self.outcomes = dict(zip(self.goals, outcomes, strict=True))
        return outcomes[0], ()


def solved(work: Reduction, store: FeatureStore, fits: list[FitTree], seconds: float) -> list[Outcome[Tree]]:
    """The outcome of every fit on the backbone's columns, which a worker reads again as they are in the data."""
    values = values_of(work, store)
    share = max(seconds * work.executor.n_workers / len(fits), LEAST_SECONDS)
    outcomes: list[Outcome[Tree]] = []
    work.listen(Event("search", 0, len(fits), "trees"))
    items = (([values], work.y, fit, work.warm_start, share) for fit in fits)
    for outcome in work.executor.map(solve_reduced, items):
        outcomes.append(outcome)
        work.listen(Event("search", len(outcomes), len(fits), "trees", f"objective {outcome.objective:.4f}"))
    return outcomes


def values_of(work: Reduction, store: FeatureStore) -> Any:
    """A handle on the values of the backbone's columns."""
    serve, (home,) = supply(work.executor, store), work.homes
    return work.executor.submit(prepared_columns, serve(work.backbone, home), work.backbone, tree_values, home=home)


def fit_of(work: Reduction) -> FitTree:
    fit = work.problem.fit
    if not isinstance(fit, FitTree):
        raise TypeError(f"a tree is fitted by FitTree, not by {type(fit).__name__}")
    return fit


def validation_curve(
    store: FeatureStore, task: TreeTask, settings: ResolvedTreeSettings, trainings: list[Mask], run: Spine
) -> tuple[TreePoint, ...]:
    """Every goal with its errors on the samples that each training set leaves out.

    A sample that is left out has weight 0, so that no phase learns from it.
    """
    tried: dict[Goal, list[Trial]] = {goal: [] for goal in goals(settings)}
    for at, training in enumerate(trainings):
        kept = KeptTrees(store, tuple(tried), settings.n_starts, settings.time_limit / len(trainings))
        finding = run(_trained(task, training), kept, Part(at, len(trainings)))
        values = tree_values(store.gather(finding.backbone))
        left_out = task.labels.weighted(np.where(training, 0.0, task.labels.weights))
        for goal, outcome in kept.outcomes.items():
            wrong = outcome.model.choices[outcome.model.leaves(values)] != left_out.classes
            error = float(left_out.weights @ wrong / left_out.total)
            tried[goal].append(Trial(error, outcome.termination, left_out.total))
    return tuple(_point(goal, trials) for goal, trials in tried.items())


class Trial(NamedTuple):
    """A tree on one validation set: its error there, what ended the search for it, and the weight of the set."""

    error: float
    termination: Termination
    weight: float


def _point(goal: Goal, trials: list[Trial]) -> TreePoint:
    errors, terminations, weights = zip(*trials, strict=True)
    return TreePoint(goal.depth, goal.min_bucket, goal.complexity, errors, Termination.worst(terminations), weights)


def draw_trainings(labels: Labels, validation: float | int, seed: int) -> list[Mask]:
    """Marks the samples to train on, for the hold-out or for each fold, with about the same share of every class."""
    size = labels.classes.size
    order = np.random.default_rng([seed, _SPLITS]).permutation(size)
    by_class = order[np.argsort(labels.classes[order], kind="stable")]
    if isinstance(validation, int):
        return [np.isin(np.arange(size), by_class[at::validation], invert=True) for at in range(validation)]
    # Every so many samples along the classes one is held out.
    steps = np.floor(np.arange(size + 1) * (1 - validation) + 0.5)
    return [np.isin(np.arange(size), by_class[np.diff(steps) > 0], invert=True)]


def best_goal(curve: tuple[TreePoint, ...]) -> Goal:
    """The simplest goal whose error is within one standard error of the least, the rule of CART's authors.

    Simplest are the dearest splits, then the least depth, the largest buckets, and the least error.
    """
    least = min(point.error for point in curve)
    counted = max(sum(point.weights) for point in curve)
    slack = np.sqrt(least * (1 - least) / counted) if counted else 0.0
    near = [point for point in curve if point.error <= least + slack]
    best = min(near, key=lambda point: (-point.complexity, point.depth, -point.min_bucket, point.error))
    return Goal(best.depth, best.min_bucket, best.complexity)


def _trained(task: TreeTask, training: Mask) -> TreeTask:
    weights = np.where(training, task.labels.weights, 0.0)
    if not (task.labels.weights * ~training).any():
        raise InvalidDataError("a validation set has no sample of positive weight; use fewer folds")
    present = np.unique(task.labels.classes[weights > 0])
    if present.size < 2:
        raise InvalidDataError(
            "a training set holds one class only; use fewer folds, or give depth, min_bucket and "
            "complexity one value each, which needs no validation"
        )
    return task.weighted(weights)
