"""CART, tuned as the paper tunes it: scikit-learn's on tables in memory, ours where columns are too many for it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from backbone_dask.problems.tree import N_BINS, ranked
from backbone_dask.problems.tree_choice import best_goal
from backbone_dask.store import FeatureStore
from backbone_dask.subproblems.cart import FitCart, draw_training
from backbone_dask.trees.bins import between
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Tree
from backbone_dask.values import TreePoint

HOLDOUT = 0.3
BUCKETS = (1, 5, 20)
MOST_PRUNINGS = 6
ROWS_AT_A_TIME = 4096


def tuned_cart(X: NDArray[Any], y: NDArray[Any], depths: tuple[int, ...], seed: int) -> DecisionTreeClassifier:
    """Depth, bucket and pruning by 30 % of the samples, chosen as ours are, by one standard error; fitted to all."""
    X_train, X_left, y_train, y_left = train_test_split(X, y, test_size=HOLDOUT, stratify=y, random_state=seed)
    tried: list[TreePoint] = []
    for depth, bucket in product(depths, BUCKETS):
        shape = {"max_depth": depth, "min_samples_leaf": bucket, "random_state": seed}
        # The tree of the columns that a tree uses is that tree: prunings of it need no others.
        used = used_by(DecisionTreeClassifier(**shape).fit(X_train, y_train))
        for price in _prices(X_train[:, used], y_train, shape):
            pruned = DecisionTreeClassifier(**shape, ccp_alpha=price).fit(X_train[:, used], y_train)
            tried.append(_point(depth, bucket, price, 1 - pruned.score(X_left[:, used], y_left), len(y_left)))
    best = best_goal(tuple(tried))
    chosen = {"max_depth": best.depth, "min_samples_leaf": int(best.min_bucket), "ccp_alpha": best.complexity}
    return DecisionTreeClassifier(**chosen, random_state=seed).fit(X, y)


def _point(depth: int, bucket: float, complexity: float, error: float, judges: float) -> TreePoint:
    return TreePoint(depth, float(bucket), complexity, (error,), weights=(float(judges),))


def used_by(tree: DecisionTreeClassifier) -> NDArray[np.int64]:
    """The columns that some split uses, sorted; the first one of a tree without splits."""
    features = tree.tree_.feature
    return np.unique(features[features >= 0]).astype(np.int64) if tree.get_depth() else np.zeros(1, np.int64)


def _prices(X: NDArray[Any], y: NDArray[Any], shape: dict[str, Any]) -> list[float]:
    """A few of the prices at which the tree of a shape loses a branch."""
    prices = DecisionTreeClassifier(**shape).cost_complexity_pruning_path(X, y).ccp_alphas
    at = np.linspace(0, len(prices) - 1, min(len(prices), MOST_PRUNINGS)).round().astype(int)
    return [float(price) for price in np.unique(np.maximum(prices, 0.0)[at])]


def cart_on_store(train: FeatureStore, depths: tuple[int, ...], seed: int) -> tuple[Tree, NDArray[np.int64]]:
    """Our CART on all columns of a store, tuned likewise, and the ids of what it uses, which its features count in."""
    ids = np.arange(train.n_features)
    parts = [ranked(train.gather(ids[at : at + ROWS_AT_A_TIME])) for at in range(0, ids.size, ROWS_AT_A_TIME)]
    y = train.target(None).astype(np.int64)
    table, labels = np.concatenate(parts), Labels(y, np.ones(y.size), 2)
    fit = FitCart(depths, tuple(float(bucket) for bucket in BUCKETS), N_BINS)
    judges = y.size - draw_training(labels, seed).sum()
    tried = (
        _point(each.depth, each.min_bucket, each.complexity, each.error, judges)
        for each in fit.choices(table, labels, seed)
    )
    best = best_goal(tuple(tried))
    found = fit.at(best.depth, best.min_bucket, best.complexity, table, labels)
    return _in_units(found.tree, train), found.tree.used


def _in_units(tree: Tree, train: FeatureStore) -> Tree:
    """Thresholds that are ranks become values, and features positions among those that are used."""
    split, thresholds, features = np.flatnonzero(tree.is_split), np.zeros(tree.n_nodes), tree.features.copy()
    for node in split:
        columns = train.gather(tree.features[node, :1])
        below = ranked(columns)[0] <= tree.thresholds[node]
        thresholds[node] = between(columns.values[0][below].max(), columns.values[0][~below].min())
    features[split] = np.searchsorted(tree.used, tree.features[split])
    return replace(tree, thresholds=thresholds, features=features)
