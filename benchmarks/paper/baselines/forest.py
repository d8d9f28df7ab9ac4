"""RF: scikit-learn's random forest, tuned as the paper tunes it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks.paper.baselines.cart import HOLDOUT

TREES = 100
ROOTS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Columns that a split looks at, times the root of their number."""


def tuned_forest(X: NDArray[Any], y: NDArray[Any], seed: int) -> RandomForestClassifier:
    """100 trees of any depth; how many columns a split looks at has the best AUC on 30 % of the samples."""
    X_train, X_left, y_train, y_left = train_test_split(X, y, test_size=HOLDOUT, stratify=y, random_state=seed)

    def quality(looks: int) -> float:
        forest = _forest(looks, seed).fit(X_train, y_train)
        return float(roc_auc_score(y_left, forest.predict_proba(X_left)[:, 1]))

    return _forest(max(_looks(X.shape[1]), key=quality), seed).fit(X, y)


def _looks(n_features: int) -> list[int]:
    return sorted({min(max(round(times * np.sqrt(n_features)), 1), n_features) for times in ROOTS})


def _forest(looks: int, seed: int) -> RandomForestClassifier:
    return RandomForestClassifier(TREES, max_features=looks, random_state=seed, n_jobs=1)
