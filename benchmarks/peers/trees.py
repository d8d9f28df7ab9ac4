"""Classification trees by each library, of the depth that is asked; labels are 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.model import Asked, Model

FEW, THRESHOLDS = 20, 10
"""Columns that pystreed is left with, and the quantiles at which each is cut."""


def ours(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    from backbone_dask import BackboneTreeClassifier

    fit = BackboneTreeClassifier(depth=asked.size, executor="serial", random_state=0).fit(X, y)
    return Model(fit.support_, lambda table: fit.predict_proba(table)[:, 1])


def cart(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    from sklearn.tree import DecisionTreeClassifier

    return _of_sklearn(DecisionTreeClassifier(max_depth=asked.size, random_state=0).fit(X, y))


def tuned_cart(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier

    grid = {"max_depth": [2, 3, 4, 5, 6], "min_samples_leaf": [1, 20]}
    found = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=3, scoring="roc_auc").fit(X, y)
    return _of_sklearn(found.best_estimator_)


def _of_sklearn(fit: Any) -> Model:
    split_on = fit.tree_.feature
    return Model(np.unique(split_on[split_on >= 0]), lambda table: fit.predict_proba(table)[:, 1])


def pystreed_on_all(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """The optimal tree on all columns, each cut at THRESHOLDS quantiles."""
    return _pystreed(X, y, asked, np.arange(X.shape[1]))


def pystreed_on_few(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """The optimal tree on the FEW columns that scikit-learn's F test ranks highest, cut at THRESHOLDS quantiles."""
    from sklearn.feature_selection import SelectKBest, f_classif

    return _pystreed(X, y, asked, SelectKBest(f_classif, k=FEW).fit(X, y).get_support(indices=True))


def _pystreed(X: np.ndarray, y: np.ndarray, asked: Asked, ids: np.ndarray) -> Model:
    from pystreed import STreeDClassifier

    cuts = np.quantile(X[:, ids], np.arange(1, THRESHOLDS + 1) / (THRESHOLDS + 1), axis=0)
    fit = STreeDClassifier(max_depth=asked.size, time_limit=asked.seconds).fit(_binarised(X[:, ids], cuts), y)
    used = ids[np.unique(np.array(_features(fit.tree_), np.int64) // THRESHOLDS)]
    shares = _leaf_shares(fit, _binarised(X[:, ids], cuts), y)
    return Model(used, lambda table: shares(_binarised(table[:, ids], cuts)))


def _binarised(table: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Column j above its cut c, at place j * THRESHOLDS + c."""
    return (table[:, :, None] > cuts.T[None]).reshape(len(table), -1).astype(np.int32)


def _features(node: Any) -> list[int]:
    if not node.is_branching_node():
        return []
    return [node.feature, *_features(node.left_child), *_features(node.right_child)]


def _leaf_shares(fit: Any, train: np.ndarray, y: np.ndarray) -> Any:
    """Scores by the share of class 1 among the training samples of a leaf, as every other tree gives them."""

    def leaves(table: np.ndarray) -> np.ndarray:
        places = np.ones(len(table), np.int64)
        _descend(fit.tree_, table, np.arange(len(table)), places)
        return places

    reached = leaves(train)
    shares = {leaf: float(y[reached == leaf].mean()) for leaf in np.unique(reached)}
    return lambda table: np.array([shares.get(leaf, 0.5) for leaf in leaves(table)])


def _descend(node: Any, table: np.ndarray, here: np.ndarray, places: np.ndarray) -> None:
    if not node.is_branching_node():
        return
    right = table[here, node.feature] > 0
    for child, inside, bit in ((node.left_child, ~right, 0), (node.right_child, right, 1)):
        places[here[inside]] = 2 * places[here[inside]] + bit
        _descend(child, table, here[inside], places)
