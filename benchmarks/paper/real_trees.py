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
from benchmarks.paper.chosen_by_chance import ALL_SURVIVORS, by_entropy
from benchmarks.paper.permuted import Expanded
from benchmarks.paper.real_regression import Method

SCREEN, BACKBONE = 1000, 100
DEPTHS = (3, 4, 5, 6, 7, 8)
PAPER: dict[str, Any] = {
    "depth": DEPTHS,
    "subproblem_fraction": 0.5,
    "n_subproblems": 15,
    "subproblem_depth": (2, 3, 4, 5),
    "backbone_max": BACKBONE,
    "pricing_rounds": 0,
}
SURVIVORS: dict[str, Any] = {"depth": DEPTHS, "backbone_max": BACKBONE, **ALL_SURVIVORS}
HOLDOUT = 0.7
"""Share to train on: depth, bucket and complexity of all methods are chosen on the other 30 %, as in the paper."""
FOLDS = 5


def backbone(data: Expanded, seed: int) -> Answer:
    """The tree search on the columns that chance does not explain: so few that there is nothing left to sample."""
    return _tree(data, seed, SURVIVORS | {"validation": HOLDOUT})


def backbone_by_folds(data: Expanded, seed: int) -> Answer:
    """The same, chosen on five folds."""
    return _tree(data, seed, SURVIVORS | {"validation": FOLDS})


def backbone_as_published(data: Expanded, seed: int) -> Answer:
    """The paper's settings: 1,000 columns stay, and nothing joins the backbone but what subproblems found."""
    return _tree(data, seed, PAPER | {"screen_size": min(SCREEN, data.X.shape[1]), "validation": HOLDOUT})


def oracle(data: Expanded, seed: int) -> Answer:
    """OCT on the original columns."""
    return _optimal(data, seed, HOLDOUT)


def oracle_by_folds(data: Expanded, seed: int) -> Answer:
    return _optimal(data, seed, FOLDS)


def _optimal(data: Expanded, seed: int, validation: float) -> Answer:
    real, settings = data.original(), TreeSettings(depth=DEPTHS, screen="none", validation=validation, seed=seed)
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


def cart_on_survivors(data: Expanded, seed: int) -> Answer:
    """CART on the columns that chance does not explain: what our screen does for another method."""
    left = by_entropy(data, BACKBONE, seed)
    few = data.take(left)
    return _greedy(tuned_cart(few.X, few.y, DEPTHS, seed), few).among(left)


def forest(data: Expanded, seed: int) -> Answer:
    return Answer(None, tuned_forest(data.X, data.y, seed).predict_proba(data.X_test)[:, 1])


def _tree(data: Expanded, seed: int, settings: dict[str, Any]) -> Answer:
    model = BackboneTreeClassifier(executor="serial", random_state=seed, **settings)
    model.fit(data.X, data.y)
    return Answer(model.support_, model.predict_proba(data.X_test)[:, 1])


def _greedy(tree: DecisionTreeClassifier, data: Expanded) -> Answer:
    used = used_by(tree) if tree.get_depth() else np.empty(0, np.int64)
    return Answer(used, tree.predict_proba(data.X_test)[:, 1])


METHODS: dict[str, Method] = {
    "BB": backbone,
    "OCT-ORACLE": oracle,
    "BB, five folds": backbone_by_folds,
    "OCT-ORACLE, five folds": oracle_by_folds,
    "CART": cart,
    "RF": forest,
    "BB as published": backbone_as_published,
    "RFE": rfe,
    "chance + CART": cart_on_survivors,
}
