"""Logistic regression by each library, with its defaults unless said; labels are 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.linear import ALPHAS, largest_penalty, screened
from benchmarks.peers.model import Asked, Model, holdout, linear_model

CS = np.logspace(-4, 4, 10)
"""Those of LogisticRegressionCV: the weight of the loss beside the l1 norm."""


def ours(X: np.ndarray, y: np.ndarray, asked: Asked, **settings: Any) -> Model:
    from backbone_dask import BackboneClassifier

    fit = BackboneClassifier(n_nonzero=asked.size, executor="serial", random_state=0, **settings).fit(X, y)
    return linear_model(fit.models_[0].coefficients, fit.intercept_, fit.support_)


def ours_with_grid(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """With the ridge weight that does best on a hold-out."""
    return ours(X, y, asked, gamma="grid")


def abess(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    from abess import LogisticRegression

    fit = LogisticRegression(support_size=[asked.size], thread=1).fit(X, y)
    return linear_model(fit.coef_, fit.intercept_)


def skglm(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """An l1 penalty, the least hold-out loss on a path of 20, then fitted to all samples."""
    from skglm import SparseLogisticRegression
    from sklearn.metrics import log_loss

    train, test = holdout(y.size)
    part, fit = np.asfortranarray(X[train]), SparseLogisticRegression(warm_start=True)
    largest, errors = largest_penalty(X, y), []
    for share in ALPHAS:
        fit.set_params(alpha=share * largest).fit(part, y[train])
        errors.append(log_loss(y[test], fit.predict_proba(X[test])[:, 1]))
    fit = SparseLogisticRegression(alpha=ALPHAS[np.argmin(errors)] * largest).fit(X, y)
    return linear_model(fit.coef_, fit.intercept_)


def select_and_l1(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """As many do it: the screen has seen the samples by which the folds judge."""
    from sklearn.feature_selection import f_classif
    from sklearn.linear_model import LogisticRegressionCV

    ids = screened(X, y, f_classif)
    fit = LogisticRegressionCV(
        Cs=CS,
        cv=5,
        l1_ratios=(1.0,),
        solver="liblinear",
        scoring="neg_log_loss",
        use_legacy_attributes=False,
        random_state=0,
    ).fit(X[:, ids], y)
    return linear_model(fit.coef_, fit.intercept_, ids)


def select_in_folds_and_l1(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """The folds and the weights of LogisticRegressionCV; what a fold judges by is kept from its screen too."""
    from sklearn.feature_selection import f_classif
    from sklearn.model_selection import StratifiedKFold

    losses = [_fold_losses(X, y, train, test) for train, test in StratifiedKFold(5).split(X, y)]
    ids = screened(X, y, f_classif)
    fit = _l1(CS[np.argmin(np.mean(losses, axis=0))]).fit(X[:, ids], y)
    return linear_model(fit.coef_, fit.intercept_, ids)


def _fold_losses(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> list[float]:
    """For every C the loss on the test samples of a screen and a fit of the others."""
    from sklearn.feature_selection import f_classif
    from sklearn.metrics import log_loss

    ids = screened(X[train], y[train], f_classif)
    table, unseen = X[np.ix_(train, ids)], X[np.ix_(test, ids)]
    return [log_loss(y[test], _l1(C).fit(table, y[train]).predict_proba(unseen)[:, 1]) for C in CS]


def _l1(C: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=C, l1_ratio=1.0, solver="liblinear", random_state=0)


def rfe(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """A tenth of the columns goes at every step."""
    from sklearn.feature_selection import RFE
    from sklearn.linear_model import LogisticRegression

    fit = RFE(LogisticRegression(max_iter=1_000), n_features_to_select=asked.size, step=0.1).fit(X, y)
    return linear_model(fit.estimator_.coef_, fit.estimator_.intercept_, fit.get_support(indices=True))
