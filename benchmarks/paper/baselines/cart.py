"""CART, tuned as the paper tunes it: scikit-learn's on tables in memory, ours where columns are too many for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from backbone_dask.problems.tree import N_BINS, ranked
from backbone_dask.store import FeatureStore
from backbone_dask.subproblems.cart import FitCart
from backbone_dask.trees.bins import between
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Tree

HOLDOUT = 0.3
BUCKETS = (1, 5, 20)
MOST_PRUNINGS = 6
ROWS_AT_A_TIME = 4096


def tuned_cart(X: NDArray[Any], y: NDArray[Any], depths: tuple[int, ...], seed: int) -> DecisionTreeClassifier:
    """Depth, bucket and pruning with the least error on 30 % of the samples, of equals the simplest; fitted to all."""
    X_train, X_left, y_train, y_left = train_test_split(X, y, test_size=HOLDOUT, stratify=y, random_state=seed)
    best, best_score = {"max_depth": 1}, -1.0
    for depth, bucket in product(depths, BUCKETS[::-1]):
        shape = {"max_depth": depth, "min_samples_leaf": bucket, "random_state": seed}
        # The tree of the columns that a tree uses is that tree: prunings of it need no others.
        used = used_by(DecisionTreeClassifier(**shape).fit(X_train, y_train))
        for settings in _prunings(X_train[:, used], y_train, shape):
            score = DecisionTreeClassifier(**settings).fit(X_train[:, used], y_train).score(X_left[:, used], y_left)
            best, best_score = (settings, score) if score > best_score else (best, best_score)
    return DecisionTreeClassifier(**best).fit(X, y)


def used_by(tree: DecisionTreeClassifier) -> NDArray[np.int64]:
    """The columns that some split uses, sorted; the first one of a tree without splits."""
    features = tree.tree_.feature
    return np.unique(features[features >= 0]).astype(np.int64) if tree.get_depth() else np.zeros(1, np.int64)


def _prunings(X: NDArray[Any], y: NDArray[Any], shape: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The shape with a few of the prices at which its tree loses a branch, the dearest first."""
    prices = DecisionTreeClassifier(**shape).cost_complexity_pruning_path(X, y).ccp_alphas
    for price in _spread(np.maximum(prices, 0.0)):
        yield {**shape, "ccp_alpha": float(price)}


def _spread(prices: NDArray[np.float64]) -> NDArray[np.float64]:
    at = np.linspace(0, len(prices) - 1, min(len(prices), MOST_PRUNINGS)).round().astype(int)
    return np.unique(prices[at])[::-1]


def cart_on_store(train: FeatureStore, depths: tuple[int, ...], seed: int) -> tuple[Tree, NDArray[np.int64]]:
    """Our CART on all columns of a store, and the ids of what it uses, which its features count in."""
    ids = np.arange(train.n_features)
    parts = [ranked(train.gather(ids[at : at + ROWS_AT_A_TIME])) for at in range(0, ids.size, ROWS_AT_A_TIME)]
    y = train.target(None).astype(np.int64)
    buckets = tuple(float(bucket) for bucket in BUCKETS)
    found = FitCart(depths, buckets, N_BINS)(np.concatenate(parts), Labels(y, np.ones(y.size), 2), seed=seed)
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
