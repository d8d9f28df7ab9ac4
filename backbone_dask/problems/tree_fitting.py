"""One fit from a store to a tree: what the estimator and the command line share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from backbone_dask.adjustment import adjustment
from backbone_dask.algorithm.sampling import weights as samplings
from backbone_dask.errors import InvalidDataError
from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.problems.chance import screen_phase
from backbone_dask.problems.classes import class_names, one_class_only
from backbone_dask.problems.linear import checked_target
from backbone_dask.problems.tree import FitTree, TreeTask, goals, tree_sampler, tree_values
from backbone_dask.problems.tree_choice import OneTree, best_goal, draw_trainings, validation_curve
from backbone_dask.problems.tree_extension import ExtendByPrice
from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.protocols import Executor, Problem
from backbone_dask.runtime.budget import Budget, plan, require_memory
from backbone_dask.runtime.checkpoint import Journal, NoJournal, digest
from backbone_dask.runtime.events import Listener, Part, silent
from backbone_dask.runtime.run import Finding, ReducePhase, Run
from backbone_dask.runtime.site import Site, settle
from backbone_dask.store import FeatureStore
from backbone_dask.tree_settings import ResolvedTreeSettings, TreeSettings
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import LEAF, Tree
from backbone_dask.values import MOST_CLASSES, Target, TreePoint

RANK_BYTES = 2


@dataclass(frozen=True, slots=True)
class TreePreparation:
    """Everything that is checked before work starts; `labels` are the names of the classes, where they have some."""

    store: FeatureStore
    task: TreeTask
    settings: ResolvedTreeSettings
    classes: tuple[float, ...]
    labels: tuple[str, ...]

    @property
    def problem(self) -> Problem[Tree]:
        return self.task.problem(self.settings)

    @property
    def extras_json(self) -> dict[str, Any]:
        """What was given besides table and target, in a few characters."""
        return {"weights": digest(self.task.labels.weights)}

    def budget(self, n_workers: int, available: int = 0) -> Budget:
        """The cut of this fit for that many workers, with so much memory each."""
        width = tree_sampler(self.settings).size(self.settings.screen_size, self.settings.n_subproblems)
        return plan(
            self.store,
            self.settings,
            n_workers=n_workers,
            subproblem_features=width,
            itemsize=RANK_BYTES,
            available=available,
        )


@dataclass(frozen=True, slots=True)
class FittedTree:
    """The tree in the units of the data, how it was found, and how well it explains its training samples."""

    model: TreeModel
    goal: Goal
    finding: Finding
    settings: ResolvedTreeSettings
    training: dict[str, float]
    traffic: dict[str, int]


def prepare_tree(
    store: FeatureStore, y: Target, settings: TreeSettings, *, sample_weight: Any = None, labels: Sequence[str] = ()
) -> TreePreparation:
    """Check target, weights and settings against the data; raises before anything is started or written.

    `labels` are the names of the classes 0, 1, ... in `y`, where they have some.
    """
    weights = adjustment(store.n_samples, sample_weight=sample_weight).weights
    mean_weight = float(weights[weights > 0].mean())
    resolved = settings.resolve(n_samples=store.n_samples, n_features=store.n_features, mean_weight=mean_weight)
    samplings[resolved.sampling]
    target = checked_target(y, store.n_samples)
    _require_classes(target[weights > 0], labels)
    classes, codes = np.unique(target, return_inverse=True)
    task = TreeTask(Labels(codes.astype(np.int64), weights, classes.size))
    task.problem(resolved)
    known = tuple(classes.tolist())
    return TreePreparation(store, task, resolved, known, class_names(known, labels))


def _require_classes(y: Target, names: Sequence[str]) -> None:
    classes = np.unique(y)
    if classes.size < 2:
        raise one_class_only(*(class_names(classes.tolist(), names) or [f"{classes[0]:g}"]))
    if classes.size > MOST_CLASSES:
        raise InvalidDataError(
            f"y holds {classes.size} different values, too many for classes; a tree takes up to {MOST_CLASSES}"
        )


def fit_tree(
    ready: TreePreparation, executor: Executor, *, journal: Journal | None = None, listen: Listener = silent
) -> FittedTree:
    """Choose depth, bucket and complexity where there is a choice, run the spine, and name what the tree uses."""
    budget = ready.budget(executor.n_workers, executor.worker_bytes)
    require_memory(budget, ready.store.n_samples, executor.worker_bytes)
    site = settle(ready.store, executor, needed_bytes=budget.worker_bytes)
    spine = _Spine(ready, site, budget, journal or NoJournal(), listen)
    settings = ready.settings
    curve: tuple[TreePoint, ...] = ()
    goal = goals(settings)[0]
    began = time.perf_counter()
    if settings.has_choice:
        trainings = draw_trainings(ready.task.labels, settings.validation, settings.seed)
        curve = validation_curve(ready.store, ready.task, settings, trainings, spine)
        goal = best_goal(curve)
    validated = {"validation": time.perf_counter() - began} if curve else {}
    finding = spine(ready.task, OneTree(ready.store, goal, settings.n_starts, settings.time_limit))
    finding = replace(finding, grid=curve, seconds={**validated, **finding.seconds})
    return _fitted(ready, goal, finding, executor.traffic())


@dataclass(frozen=True, slots=True)
class _Spine:
    """Runs the method on one table: for a task, with a way to reduce; every part keeps a journal of its own."""

    ready: TreePreparation
    site: Site
    budget: Budget
    journal: Journal
    listen: Listener

    def __call__(self, task: TreeTask, reduce: ReducePhase, part: Part | None = None) -> Finding:
        problem = task.problem(self.ready.settings)
        return Run(
            problem=problem,
            site=self.site,
            y=task.labels,
            settings=self.ready.settings,
            budget=self.budget,
            screen=screen_phase(problem.screen, self.ready.settings, task.labels.weights),
            reduce=reduce,
            extend=_extension(self.ready),
            journal=self.journal if part is None else self.journal.part(part.name),
            listen=self.listen,
            part=part,
        ).execute()


def _extension(ready: TreePreparation) -> ExtendByPrice:
    """Priced by a searched tree of the largest depth and buckets, whose splits are worth a few samples each."""
    settings = ready.settings
    middle = settings.complexities[(len(settings.complexities) - 1) // 2]
    goal = Goal(settings.depths[-1], settings.min_buckets[-1], middle)
    pilot = FitTree(TreeSearch((0,), settings.search_width, settings.seed), goal, settings.n_thresholds)
    return ExtendByPrice(ready.store, pilot, settings.pricing_rounds, settings.backbone_max, settings.time_limit)


def _fitted(ready: TreePreparation, goal: Goal, finding: Finding, traffic: dict[str, int]) -> FittedTree:
    tree: Tree = finding.outcome.model
    ids = finding.backbone[tree.used]
    columns = ready.store.gather(ids)
    place = np.full(finding.backbone.size + 1, LEAF)
    place[tree.used] = np.arange(ids.size)
    tree = replace(tree, features=place[tree.features])
    model = TreeModel(tree, ids, tuple(ready.store.names(ids)), columns.mean, ready.classes, ready.labels)
    quality = _quality(tree, tree_values(columns), ready.task.labels)
    return FittedTree(model, goal, finding, ready.settings, quality, traffic)


def _quality(tree: Tree, values: NDArray[Any], labels: Labels) -> dict[str, float]:
    there = labels.weights > 0
    sums = tree.sums[tree.leaves(values)][there]
    return tree_quality(sums / sums.sum(axis=1, keepdims=True), labels.take(there))


def tree_quality(shares: NDArray[np.float64], labels: Labels) -> dict[str, float]:
    """Accuracy, and the area under the curve: of the second of two classes, else one against the rest on average."""
    right = shares.argmax(axis=1) == labels.classes
    accuracy = float(np.average(right, weights=labels.weights))
    areas = [
        float(roc_auc_score(labels.classes == each, shares[:, each], sample_weight=labels.weights))
        for each in np.unique(labels.classes)
    ]
    return {"auc": sum(areas) / len(areas), "accuracy": accuracy}
