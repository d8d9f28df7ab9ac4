"""Exact sparse regression (SR) and optimal trees (OCT) on every given column; on the original ones they are oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask import BackboneRegressor
from backbone_dask.problems.tree import goals
from backbone_dask.problems.tree_choice import best_goal, draw_trainings
from backbone_dask.problems.tree_fitting import TreePreparation, prepare_tree
from backbone_dask.store import FeatureStore
from backbone_dask.tree_settings import TreeSettings
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Tree
from backbone_dask.values import CandidateIds, Mask, Target, TreePoint

SIZES = (10, 20, 30, 40, 50)
RIDGES = (1 / 64, 1 / 16, 1 / 4, 1.0, 4.0)
"""Times 1/sqrt(n); beyond the last, proofs on correlated real columns do not come within seconds."""
SECONDS = 10.0
"""For the choice by the hold-out, and again for the chosen fit."""
NO_LIMIT = 1e6


def sparse_regression(
    X: NDArray[Any], y: Target, most: int, *, seed: int, screen_size: str | None = None
) -> BackboneRegressor:
    """SR without sampling on the best `most` columns, or what chance leaves of them; k and gamma by a hold-out."""
    return BackboneRegressor(
        n_nonzero=[size for size in SIZES if size <= most] or [most],
        gamma=[times / np.sqrt(y.size) for times in RIDGES],
        screen_size=screen_size,
        n_subproblems=0,
        backbone_max=most,
        time_limit=SECONDS,
        executor="serial",
        random_state=seed,
    ).fit(X, y)


def optimal_tree(store: FeatureStore, y: Target, settings: TreeSettings) -> tuple[Tree, CandidateIds]:
    """OCT on all columns of a store, and the ids that its features count in; the goal is chosen by validation."""
    ready = prepare_tree(store, y, settings)
    ids = np.arange(store.n_features)
    values = store.gather(ids).values
    return _searched(ready, values, ready.task.labels, _chosen(ready, values)), ids


def _chosen(ready: TreePreparation, values: NDArray[Any]) -> Goal:
    trainings = draw_trainings(ready.task.labels, ready.settings.validation, ready.settings.seed)
    return best_goal(tuple(_tried(ready, values, trainings, goal) for goal in goals(ready.settings)))


def _tried(ready: TreePreparation, values: NDArray[Any], trainings: list[Mask], goal: Goal) -> TreePoint:
    """A goal with its errors on what every training set leaves out."""
    labels, errors = ready.task.labels, []
    for training in trainings:
        tree = _searched(ready, values, labels.weighted(1.0 * training), goal)
        wrong = tree.choices[tree.leaves(values)] != labels.classes
        errors.append(float(wrong[~training].mean()))
    left_out = tuple(float((~training).sum()) for training in trainings)
    return TreePoint(goal.depth, goal.min_bucket, goal.complexity, tuple(errors), weights=left_out)


def _searched(ready: TreePreparation, values: NDArray[Any], labels: Labels, goal: Goal) -> Tree:
    nothing = np.empty(0, np.int64)
    found: Tree = ready.problem.fit.at(goal)(values, labels, warm_start=nothing, seconds=NO_LIMIT).model
    return found
