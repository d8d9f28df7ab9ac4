"""The backbone method as a user would call it, with sizes and ridge weights chosen inside the training folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from backbone_dask import BackboneClassifier, BackboneRegressor, BackboneTreeClassifier, screen
from benchmarks.real.answers import Answer
from benchmarks.real.data import NUMBERS
from benchmarks.real.folds import Split

Method = Callable[[Split], Answer]
"""A function, or a `partial` of one that is told its settings."""


def sparse(split: Split, **settings: Any) -> Answer:
    """A linear or logistic model."""
    return (_regression if split.task == NUMBERS else _classification)(split, settings)


def _regression(split: Split, settings: dict[str, Any]) -> Answer:
    model = BackboneRegressor(**settings, random_state=split.seed).fit(split.X, split.y, covariates=split.covariates)
    chosen = {"n_nonzero": model.n_nonzero_, "gamma": model.gamma_, "ended": str(model.termination_)}
    predicted = model.predict(split.X_new, covariates=split.covariates_new)
    return Answer(predicted, model.support_.size, gap=model.gap_, chosen=chosen)


def _classification(split: Split, settings: dict[str, Any]) -> Answer:
    model = BackboneClassifier(**settings, random_state=split.seed).fit(split.X, split.y)
    odds = model.decision_function(split.X_new)
    chosen = {"n_nonzero": list(model.n_nonzero_), "gamma": list(model.gamma_)}
    two = odds.ndim == 1
    labels = model.classes_[(odds > 0).astype(int) if two else odds.argmax(axis=1)]
    return Answer(labels, model.support_.size, odds if two else None, max(model.gap_), chosen)


def screened(split: Split, *, by: str, keep: int, **settings: Any) -> Answer:
    """A logistic model of two classes on the survivors of another screen than its own."""
    codes = np.unique(split.y, return_inverse=True)[1]
    (found,) = screen(split.X, codes.astype(np.float64), screen=by, keep=keep).values()
    ids = found.candidates
    part = replace(split, X=split.X[:, ids], X_new=split.X_new[:, ids])
    return _classification(part, settings | {"screen_size": ids.size})


def tree(split: Split, **settings: Any) -> Answer:
    model = BackboneTreeClassifier(**settings, random_state=split.seed).fit(split.X, split.y)
    chosen = {"depth": model.get_depth(), "leaves": model.get_n_leaves(), "complexity": model.complexity_}
    gap = float(model.gap_) if np.isfinite(model.gap_) else None
    return Answer(model.predict(split.X_new), model.support_.size, gap=gap, chosen=chosen)
