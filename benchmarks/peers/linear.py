"""Linear regression by each library, with its defaults unless said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.model import Asked, Model, holdout, linear_model

SCREENED = 1_000
"""Columns that SelectKBest leaves."""
ALPHAS = np.geomspace(1.0, 0.02, 20)
"""Penalties to choose from, as shares of the one that leaves nothing."""
LASSO_SHARES = np.geomspace(1.0, 1e-3, 100)
"""Those of LassoCV."""


def ours(X: np.ndarray, y: np.ndarray, asked: Asked, **settings: Any) -> Model:
    from backbone_dask import BackboneRegressor

    fit = BackboneRegressor(n_nonzero=asked.size, executor="serial", random_state=0, **settings).fit(X, y)
    return linear_model(fit.coefficients_, fit.intercept_, fit.support_)


def ours_with_grid(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """With the ridge weight that does best on a hold-out."""
    return ours(X, y, asked, gamma="grid")


def ours_certified(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """With pricing passes over all columns, which also bring back what was lost."""
    return ours(X, y, asked, certify=True)


def backbone_learn(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """With the arguments of its README."""
    from backbone_learn.backbone.backbone_sparse_regression import BackboneSparseRegression

    np.random.seed(0)  # noqa: NPY002 (it draws from the legacy generator)
    fit = BackboneSparseRegression(
        alpha=0.5, beta=0.5, num_subproblems=5, num_iterations=1, lambda_2=0.001, max_nonzeros=asked.size
    )
    fit.fit(X, y)
    kept = np.asarray(fit.screen_selector.indices_keep)[fit.variables_exact_idx]
    found = fit.exact_solver._model
    return linear_model(found.coefficients, found.intercept, kept)


def abess(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    from abess import LinearRegression

    fit = LinearRegression(support_size=[asked.size], thread=1).fit(X, y)
    return linear_model(fit.coef_, fit.intercept_)


def l0bnb(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """The last model of its path with no more features than asked; the ridge is ours at gamma = 1/sqrt(n).

    Its time limit is for each model of the path.
    """
    # l0bnb 1.0.0 uses a name that numpy 2 dropped.
    vars(np).setdefault("Inf", np.inf)
    from l0bnb import fit_path

    path = fit_path(X, y, lambda_2=0.5 / np.sqrt(y.size), max_nonzeros=asked.size, time_limit=asked.seconds / 4)
    fitting = [each for each in path if np.count_nonzero(each["B"]) <= asked.size]
    return linear_model(fitting[-1]["B"], fitting[-1]["B0"])


def celer(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    from celer import LassoCV

    fit = LassoCV(cv=5, n_jobs=1).fit(X, y)
    return linear_model(fit.coef_, fit.intercept_)


def skglm(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """Its MCP penalty, the least hold-out error on a path of 20, then down the same path on all samples."""
    from skglm import MCPRegression

    train, test = holdout(y.size)
    part, penalties = np.asfortranarray(X[train]), ALPHAS * largest_penalty(X, y)
    fit, errors = MCPRegression(warm_start=True), []
    for penalty in penalties:
        fit.set_params(alpha=penalty).fit(part, y[train])
        errors.append(np.mean((fit.predict(X[test]) - y[test]) ** 2))
    # MCP is not convex: from zero the same penalty ends in another, worse model.
    fit = MCPRegression(warm_start=True)
    for penalty in penalties[: np.argmin(errors) + 1]:
        fit.set_params(alpha=penalty).fit(X, y)
    return linear_model(fit.coef_, fit.intercept_)


def largest_penalty(X: np.ndarray, y: np.ndarray) -> float:
    """The least penalty of the l1 norm that leaves nothing."""
    return float(np.abs((y - y.mean()) @ X).max() / y.size)


def screened(X: np.ndarray, y: np.ndarray, score: Callable[..., Any]) -> np.ndarray:
    """Ids of the columns that SelectKBest leaves."""
    from sklearn.feature_selection import SelectKBest

    return np.asarray(SelectKBest(score, k=min(SCREENED, X.shape[1])).fit(X, y).get_support(indices=True))


def select_and_lasso(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """As many do it: the screen has seen the samples by which the folds judge."""
    from sklearn.feature_selection import f_regression
    from sklearn.linear_model import LassoCV

    ids = screened(X, y, f_regression)
    fit = LassoCV(cv=5).fit(X[:, ids], y)
    return linear_model(fit.coef_, fit.intercept_, ids)


def select_in_folds_and_lasso(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """The folds and the penalties of LassoCV; the samples by which a fold judges are kept from its screen too."""
    from sklearn.feature_selection import f_regression
    from sklearn.linear_model import Lasso
    from sklearn.model_selection import KFold

    penalties = largest_penalty(X, y) * LASSO_SHARES
    errors = [_path_errors(X, y, train, test, penalties) for train, test in KFold(5).split(X)]
    ids = screened(X, y, f_regression)
    fit = Lasso(alpha=penalties[np.argmin(np.mean(errors, axis=0))]).fit(X[:, ids], y)
    return linear_model(fit.coef_, fit.intercept_, ids)


def _path_errors(
    X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, penalties: np.ndarray
) -> np.ndarray:
    """For every penalty the error on the test samples of a screen and a lasso of the others."""
    from sklearn.feature_selection import f_regression
    from sklearn.linear_model import lasso_path

    ids = screened(X[train], y[train], f_regression)
    table, means = X[np.ix_(train, ids)], X[np.ix_(train, ids)].mean(axis=0)
    coefficients = lasso_path(table - means, y[train] - y[train].mean(), alphas=penalties)[1]
    predictions = (X[np.ix_(test, ids)] - means) @ coefficients + y[train].mean()
    return np.asarray(np.mean((predictions - y[test][:, None]) ** 2, axis=0))


def rfe(X: np.ndarray, y: np.ndarray, asked: Asked) -> Model:
    """A tenth of the columns goes at every step."""
    from sklearn.feature_selection import RFE
    from sklearn.linear_model import Ridge

    fit = RFE(Ridge(), n_features_to_select=asked.size, step=0.1).fit(X, y)
    return linear_model(fit.estimator_.coef_, fit.estimator_.intercept_, fit.get_support(indices=True))
