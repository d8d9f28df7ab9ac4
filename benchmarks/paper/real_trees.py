"""The methods of the paper's tables on two classes, each from expanded data to an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from backbone_dask import BackboneTreeClassifier
from backbone_dask.store.memory import MemoryStore
from backbone_dask.tree_settings import TreeSettings
from benchmarks.paper.answer import Answer
from benchmarks.paper.baselines.cart import tuned_cart, used_by
from benchmarks.paper.baselines.forest import tuned_forest
from benchmarks.paper.baselines.oracle import optimal_tree
from benchmarks.paper.baselines.rfe import eliminate_by_trees
from benchmarks.paper.null_screen import survivors
from benchmarks.paper.permuted import Expanded
from benchmarks.paper.real_regression import Method

SCREEN = 1000
DEPTHS = (3, 4, 5, 6, 7, 8)
PAPER: dict[str, Any] = {
    "depth": DEPTHS,
    "subproblem_fraction": 0.5,
    "n_subproblems": 15,
    "subproblem_depth": (2, 3, 4, 5),
    "backbone_max": 100,
}
FOLDS = 5
"""A hold-out of 30 % of a few hundred samples is too small to tell a stump from a tree."""


def backbone(data: Expanded, seed: int) -> Answer:
    """The paper's settings, on as many columns as chance would not explain, and with folds in place of a hold-out."""
    kept = survivors(data.X, data.y, kind="entropy", most=SCREEN, seed=seed)
    return _tree(data, seed, kept, FOLDS)


def backbone_as_published(data: Expanded, seed: int) -> Answer:
    """The paper's settings: 1,000 columns stay, and 30 % of the samples are held out."""
    return _tree(data, seed, min(SCREEN, data.X.shape[1]), 0.7)


def oracle(data: Expanded, seed: int) -> Answer:
    """OCT on the original columns."""
    real, settings = data.original(), TreeSettings(depth=DEPTHS, screen="none", validation=FOLDS, seed=seed)
    tree, ids = optimal_tree(MemoryStore(real.X), real.y, settings)
    sums = tree.sums[tree.leaves(np.ascontiguousarray(real.X_test.T))]
    return Answer(ids[tree.used], sums[:, 1] / sums.sum(axis=1))


def cart(data: Expanded, seed: int) -> Answer:
    return _greedy(tuned_cart(data.X, data.y, DEPTHS, seed), data)


def rfe(data: Expanded, seed: int) -> Answer:
    """CART on what recursive elimination by CART leaves."""
    left = eliminate_by_trees(data.X, data.y, seed)
    few = data.take(left)
    return _greedy(tuned_cart(few.X, few.y, DEPTHS, seed), few).among(left)


def forest(data: Expanded, seed: int) -> Answer:
    return Answer(None, tuned_forest(data.X, data.y, seed).predict_proba(data.X_test)[:, 1])


def _tree(data: Expanded, seed: int, kept: int, validation: float) -> Answer:
    settings = PAPER | {"screen_size": kept, "validation": validation}
    model = BackboneTreeClassifier(executor="serial", random_state=seed, **settings)
    model.fit(data.X, data.y)
    return Answer(model.support_, model.predict_proba(data.X_test)[:, 1])


def _greedy(tree: DecisionTreeClassifier, data: Expanded) -> Answer:
    used = used_by(tree) if tree.get_depth() else np.empty(0, np.int64)
    return Answer(used, tree.predict_proba(data.X_test)[:, 1])


METHODS: dict[str, Method] = {
    "BB": backbone,
    "OCT-ORACLE": oracle,
    "CART": cart,
    "RF": forest,
    "BB as published": backbone_as_published,
    "RFE": rfe,
}
