"""CART of scikit-learn: depth, least leaf and pruning are chosen by three folds, those of our tree by a hold-out."""

from __future__ import annotations

from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from benchmarks.real.answers import Answer
from benchmarks.real.folds import Split

GRID = {"max_depth": [6, 10], "min_samples_leaf": [1, 5], "ccp_alpha": [0.0, 0.001, 0.003, 0.01]}


def cart(split: Split) -> Answer:
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), GRID, cv=3).fit(split.X, split.y)
    tree = search.best_estimator_
    complexity = search.best_params_["ccp_alpha"]
    chosen = {"depth": int(tree.get_depth()), "leaves": int(tree.get_n_leaves()), "complexity": complexity}
    return Answer(tree.predict(split.X_new), int((tree.feature_importances_ > 0).sum()), chosen=chosen)
