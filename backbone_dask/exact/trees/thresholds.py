"""Thresholds in the middle of where they may be: as few mistakes as the rest of the tree allows, far from samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.trees.bins import between
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.pruning import pruned_at
from backbone_dask.trees.tree import Tree

MOST_PASSES = 10


def centred(tree: Tree, values: NDArray[Any], labels: Labels, goal: Goal) -> Tree:
    """The tree with every threshold at the best place between two values, given the others; never a worse one.

    Of places that are equally good the middle one is taken. Splits that no longer pay, since samples go other ways, are
    left out.
    """
    for _ in range(MOST_PASSES):
        before = goal.objective(tree)
        for node in np.flatnonzero(tree.is_split):
            tree = _moved(tree, int(node), values, labels, goal)
        tree = tree.pruned(pruned_at(tree, tree.is_split, goal.complexity))
        if goal.objective(tree) >= before:
            break
    return tree


def _moved(tree: Tree, node: int, values: NDArray[Any], labels: Labels, goal: Goal) -> Tree:
    place = _best_place(tree, node, values, labels)
    if place is None:
        return tree
    thresholds = tree.thresholds.copy()
    thresholds[node] = place
    moved = replace(tree, thresholds=thresholds).filled(values, labels)
    return moved if goal.allows(moved) and goal.objective(moved) <= goal.objective(tree) else tree


def _best_place(tree: Tree, node: int, values: NDArray[Any], labels: Labels) -> float | None:
    here = passing(tree, node, values, labels)
    column = tree.projected(values, node, here)
    order = np.argsort(column, kind="stable")
    column, here = column[order], here[order]
    rises = rise(tree, node, values[:, here], labels.take(here))
    costs = np.cumsum(rises)[:-1]
    places = np.flatnonzero(column[1:] > column[:-1])
    if not places.size:
        return None
    best = places[costs[places] <= costs[places].min() + 1e-9 * labels.total]
    middle = int(best[best.size // 2])
    return float(between(column[middle], column[middle + 1]))


def rise(tree: Tree, node: int, values: NDArray[Any], labels: Labels) -> NDArray[np.float64]:
    """What every sample adds to the mistakes if it goes left instead of right."""
    wrong = [
        tree.choices[tree.leaves(values, int(child))] != labels.classes for child in (tree.left[node], tree.right[node])
    ]
    return np.asarray(labels.weights * (wrong[0].astype(np.float64) - wrong[1]))


def passing(tree: Tree, node: int, values: NDArray[Any], labels: Labels) -> NDArray[np.int64]:
    """The samples of weight above 0 that come through a node."""
    below = {node}
    for split in np.flatnonzero(tree.is_split):
        if int(split) in below:
            below |= {int(tree.left[split]), int(tree.right[split])}
    return np.flatnonzero(np.isin(tree.leaves(values), list(below)) & (labels.weights > 0))
