"""The lasso, with its penalty chosen by cross-validation or by the number of features.

For numbers it is that of glmnet (python-glmnet, GPL-2), faster here than LassoCV; for classes that of scikit-learn.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from glmnet import ElasticNet
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeCV
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from benchmarks.real.answers import Answer
from benchmarks.real.data import NUMBERS, Data
from benchmarks.real.finished import NotFinishedError, kept
from benchmarks.real.folds import Fold, Split
from benchmarks.real.ours import Method

FOLDS, N_PENALTIES = 5, 50
STRENGTHS = np.logspace(-2.5, 2, 16)
TEXT_STRENGTHS = np.logspace(-1.5, 0.5, 5)
POPULATION_STRENGTHS = np.logspace(-2, 1, 4)
PATH_END = 0.01


class Residuals:
    """Covariates without a penalty: projected out of the answers and of every column, by the samples to learn from.

    The lasso on residuals is the lasso with free coefficients for the covariates, which follow from its own.
    """

    def __init__(self, split: Split) -> None:
        ones = np.ones((split.y.size, 1))
        self._free = ones if split.covariates is None else np.hstack([ones, split.covariates])
        self._split = split
        X = np.asarray(split.X, np.float64)
        scale = X.std(axis=0)
        self._scale = np.where(scale > 0, scale, 1.0)
        self.X, self.y = self._without_free(X / self._scale), self._without_free(split.y)

    def _without_free(self, values: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(values - self._free @ np.linalg.lstsq(self._free, values, rcond=None)[0])

    def predict(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of the new samples, from weights on the residuals."""
        used = np.flatnonzero(weights)
        own = weights[used] / self._scale[used]
        left = self._split.y - np.asarray(self._split.X[:, used], np.float64) @ own
        free = np.linalg.lstsq(self._free, left, rcond=None)[0]
        ones = np.ones((self._split.X_new.shape[0], 1))
        rows = ones if self._split.covariates_new is None else np.hstack([ones, self._split.covariates_new])
        return np.asarray(np.asarray(self._split.X_new[:, used], np.float64) @ own + rows @ free)


def covariates_alone(split: Split) -> Answer:
    """Least squares without any feature: what there is to beat."""
    return Answer(Residuals(split).predict(np.zeros(split.X.shape[1])), 0)


def ridge(split: Split) -> Answer:
    """All features at once: what sparsity costs."""
    ready = Residuals(split)
    penalties = np.logspace(0, 6, 13) * split.X.shape[1] / 1000
    model = RidgeCV(penalties, fit_intercept=False).fit(ready.X, ready.y)
    return Answer(ready.predict(model.coef_), split.X.shape[1], chosen={"penalty": float(model.alpha_)})


def lasso(split: Split) -> Answer:
    return (_regression if split.task == NUMBERS else _classification)(split)


def _regression(split: Split) -> Answer:
    ready = Residuals(split)
    model = _path(FOLDS).fit(ready.X, ready.y)
    used = np.count_nonzero(model.coef_)
    return Answer(ready.predict(model.coef_), used, chosen={"penalty": float(model.lambda_max_)})


def _path(folds: int) -> Any:
    """The penalty of the least error in folds (cut_point=0), down to glmnet's usual end where columns are many."""
    how = {"standardize": False, "fit_intercept": False, "cut_point": 0, "random_state": 0}
    return ElasticNet(alpha=1, n_lambda=N_PENALTIES, min_lambda_ratio=PATH_END, n_splits=folds, **how)


def as_many(n_features: int, split: Split) -> Answer:
    """The last model of the path with at most so many features."""
    if split.task != NUMBERS:
        return _strongest(n_features, split)
    ready = Residuals(split)
    path = _path(0).fit(ready.X, ready.y).coef_path_
    few = np.flatnonzero((path != 0).sum(axis=0) <= n_features)[-1]
    return Answer(ready.predict(path[:, few]), np.count_nonzero(path[:, few]))


def as_many_as(out: Path, data: Data, fold: Fold, name: str, ours: Method, split: Split) -> Answer:
    """A lasso with as many features as ours, by its name, had in the same fold with the same settings."""
    found = kept(out, data, name, ours, fold)
    if found is None:
        here = f"{data.name}, {fold.label}"
        raise NotFinishedError(f"{out} has no result of {name!r} for {here}; run the method of ours, {name!r}, first")
    return as_many(int(found["n_features"]), split)


def _strongest(n_features: int, split: Split) -> Answer:
    """By bisection of the penalty of the logistic lasso."""
    X, X_new = scaled(split)
    low, high, best = STRENGTHS[0] / 100, STRENGTHS[-1], None
    for _ in range(12):
        middle = float(np.sqrt(low * high))
        model = LogisticRegression(C=middle, l1_ratio=1.0, **_how()).fit(X, split.y)
        few = np.count_nonzero(model.coef_.any(axis=0)) <= n_features
        low, high, best = (middle, high, model) if few else (low, middle, best)
    if best is None:
        raise ValueError(f"no penalty leaves at most {n_features} features")
    return logistic_answer(best, X_new, {"C": low})


def _classification(split: Split) -> Answer:
    X, X_new = scaled(split)
    model = _chosen(X, split.y, STRENGTHS, FOLDS)
    return logistic_answer(model, X_new, {"C": float(model.C_)})


def _chosen(X: Any, y: NDArray[Any], strengths: NDArray[np.float64], folds: int = 3) -> Any:
    """The penalty with the least log loss in folds."""
    how = {"l1_ratios": (1.0,), "scoring": "neg_log_loss", "use_legacy_attributes": False, **_how()}
    return LogisticRegressionCV(Cs=strengths, cv=folds, **how).fit(X, y)


def lasso_of_text(split: Split) -> Answer:
    """Fewer penalties and folds, for a table that is large."""
    X, X_new = scaled(split)
    model = _chosen(X, split.y, TEXT_STRENGTHS)
    return logistic_answer(model, X_new, {"C": float(model.C_)})


def one_against_rest(split: Split) -> Answer:
    """A penalty for each class, chosen by itself."""
    X, X_new = scaled(split)
    classes = np.unique(split.y)
    models = [_chosen(X, split.y == each, POPULATION_STRENGTHS) for each in classes]
    odds = np.stack([model.decision_function(X_new) for model in models], axis=1)
    used = np.count_nonzero(np.any([model.coef_[0] for model in models], axis=0))
    return Answer(classes[odds.argmax(axis=1)], used, chosen={"C": [float(model.C_) for model in models]})


def _how() -> dict[str, Any]:
    return {"solver": "liblinear", "max_iter": 1000, "random_state": 0}


def scaled(split: Split) -> tuple[Any, Any]:
    """Columns of variance 1; sparse ones keep their zeros."""
    scaler = MaxAbsScaler() if sparse.issparse(split.X) else StandardScaler()
    return scaler.fit_transform(split.X), scaler.transform(split.X_new)


def logistic_answer(model: Any, X_new: Any, chosen: dict[str, Any]) -> Answer:
    odds = model.decision_function(X_new)
    used = np.count_nonzero(model.coef_.any(axis=0))
    return Answer(model.predict(X_new), used, odds if odds.ndim == 1 else None, chosen=chosen)
