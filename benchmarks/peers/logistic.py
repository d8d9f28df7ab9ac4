"""Logistic regression by each library, with its defaults unless said; labels are 0 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.linear import ALPHAS, SCREENED
from benchmarks.peers.model import Asked, Model, holdout, linear_model


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
    largest = np.abs((y - y.mean()) @ X).max() / y.size
    errors = []
    for share in ALPHAS:
        fit.set_params(alpha=share * largest).fit(part, y[train])
        errors.append(log_loss(y[test], fit.predict_proba(X[test])[:, 1]))
    fit = SparseLogisticRegression(alpha=ALPHAS[np.argmin(errors)] * largest).fit(X, y)
    return linear_model(fit.coef_, fit.intercept_)


def select_and_l1(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    from sklearn.feature_selection import SelectKBest, f_classif
    from sklearn.linear_model import LogisticRegressionCV

    screen = SelectKBest(f_classif, k=min(SCREENED, X.shape[1])).fit(X, y)
    fit = LogisticRegressionCV(
        Cs=10, cv=5, l1_ratios=(1.0,), solver="liblinear", scoring="neg_log_loss", use_legacy_attributes=False
    ).fit(screen.transform(X), y)
    return linear_model(fit.coef_, fit.intercept_, screen.get_support(indices=True))


def rfe(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """A tenth of the columns goes at every step."""
    from sklearn.feature_selection import RFE
    from sklearn.linear_model import LogisticRegression

    fit = RFE(LogisticRegression(max_iter=1_000), n_features_to_select=asked.size, step=0.1).fit(X, y)
    return linear_model(fit.estimator_.coef_, fit.estimator_.intercept_, fit.get_support(indices=True))
