"""Exact sparse regression (SR) and optimal trees (OCT) on every given column; on the original ones they are oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask import BackboneRegressor, register_subproblem_solver
from backbone_dask.problems.tree import goals
from backbone_dask.problems.tree_choice import best_goal, draw_trainings
from backbone_dask.problems.tree_fitting import TreePreparation, prepare_tree
from backbone_dask.store import FeatureStore
from backbone_dask.tree_settings import TreeSettings
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Tree
from backbone_dask.values import CandidateIds, Mask, SparseFit, Standardised, Target, TreePoint

SIZES = (10, 20, 30, 40, 50)
RIDGES = (1 / 64, 1 / 16, 1 / 4, 1.0, 4.0)
"""Times 1/sqrt(n); beyond the last, proofs on correlated real columns do not come within seconds."""
SECONDS = 10.0
"""For the choice by the hold-out, and again for the chosen fit."""
NO_LIMIT = 1e6


def every_column(X: Standardised, y: Target, *, n_nonzero: int, gamma: float, seed: int) -> SparseFit:
    """All columns that vary are relevant: the exact fit then has no fewer to choose from."""
    varying = np.flatnonzero(X.any(axis=1))
    return SparseFit(len(X), varying, np.ones(varying.size), np.nan)


register_subproblem_solver("every-column", every_column)
# One subproblem that keeps what it sees: the backbone is what the screen leaves.
NO_SAMPLING = {"subproblem": "every-column", "n_subproblems": 1, "subproblem_fraction": 1.0}


def sparse_regression(X: NDArray[Any], y: Target, n_columns: int) -> BackboneRegressor:
    """SR on the `n_columns` columns that correlate most with y; size and ridge weight by a hold-out of 30 %."""
    usual = 1 / np.sqrt(y.size)
    return BackboneRegressor(
        n_nonzero=[size for size in SIZES if size <= n_columns] or [n_columns],
        gamma=[times * usual for times in RIDGES],
        screen_size=n_columns,
        backbone_max=n_columns,
        time_limit=SECONDS,
        executor="serial",
        **NO_SAMPLING,
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
