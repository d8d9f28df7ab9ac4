"""How the fits that choose a penalty choose it: what judges was not seen before, and a path is gone down warm."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline

from benchmarks.peers import linear, logistic
from benchmarks.peers.linear import ALPHAS, LASSO_SHARES, largest_penalty
from benchmarks.peers.methods import METHODS, Fit, methods_for
from benchmarks.peers.model import Asked, holdout

ASKED = Asked(3, 60.0)
KEPT = 15


@pytest.fixture(autouse=True)
def _small_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "SCREENED", KEPT)


def table(signal: float, n: int = 80, p: int = 400, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    X = np.asfortranarray(draw.normal(size=(n, p)) + 2.0)
    return X, signal * (X[:, 7] - X[:, 9] + X[:, 11]) + draw.normal(size=n) + 5.0


def test_the_lasso_in_folds_is_a_grid_search_of_the_whole_pipeline() -> None:
    X, y = table(0.7)
    whole = make_pipeline(SelectKBest(f_regression, k=KEPT), Lasso())
    grid = {"lasso__alpha": LASSO_SHARES * largest_penalty(X, y)}
    known = GridSearchCV(whole, grid, cv=KFold(5), scoring="neg_mean_squared_error").fit(X, y)
    found = linear.select_in_folds_and_lasso(X, y, ASKED)
    np.testing.assert_allclose(found.predict(X), known.predict(X), atol=1e-3)
    assert {7, 9, 11} <= set(found.support)


def test_the_logistic_one_is_too() -> None:
    X, y = table(0.7)
    labels = (y > y.mean()).astype(float)
    whole = make_pipeline(
        SelectKBest(f_classif, k=KEPT), LogisticRegression(l1_ratio=1.0, solver="liblinear", random_state=0)
    )
    known = GridSearchCV(
        whole, {"logisticregression__C": logistic.CS}, cv=StratifiedKFold(5), scoring="neg_log_loss"
    ).fit(X, labels)
    found = logistic.select_in_folds_and_l1(X, labels, ASKED)
    margins = known.decision_function(X)
    assert np.ptp(margins) > 1.0
    np.testing.assert_allclose(found.predict(X), margins, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
def test_a_screen_in_every_fold_is_not_taken_in_by_noise() -> None:
    tables = [table(0.0, seed=seed) for seed in range(5)]
    seen, unseen = (sizes(fit, tables) for fit in (linear.select_and_lasso, linear.select_in_folds_and_lasso))
    assert (np.median(seen), np.median(unseen)) == (KEPT, 0)
    tables = [(X, (y > y.mean()).astype(float)) for X, y in tables]
    seen, unseen = (sizes(fit, tables) for fit in (logistic.select_and_l1, logistic.select_in_folds_and_l1))
    assert (np.median(seen), np.median(unseen)) == (KEPT, 0)


def sizes(fit: Fit, tables: list[tuple[np.ndarray, np.ndarray]]) -> list[int]:
    return [fit(X, y, ASKED).support.size for X, y in tables]


def test_both_screens_are_rows_of_both_kinds() -> None:
    for name in ("SelectKBest, then lasso by CV", "SelectKBest in every fold + lasso"):
        assert not METHODS[name].told_k
        assert all(name in methods_for(kind) for kind in ("linear", "logistic"))


class Recorded:
    """In the place of MCPRegression: the nearer its penalty to `best`, the better it predicts."""

    fits: list[tuple[int, float, int, bool]]

    def __init__(self, alpha: float = 1.0, warm_start: bool = False) -> None:
        self.alpha, self.warm_start, self.intercept_ = alpha, warm_start, 0.0

    def set_params(self, alpha: float) -> Recorded:
        self.alpha = alpha
        return self

    def fit(self, X: np.ndarray, y: np.ndarray) -> Recorded:
        self.fits.append((id(self), self.alpha, y.size, self.warm_start and hasattr(self, "coef_")))
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[7] = -abs(np.log(self.alpha / self.best))
        return self

    def predict(self, X: np.ndarray) -> Any:
        return X @ self.coef_

    best = 1.0


def test_mcp_goes_down_the_path_to_the_chosen_penalty_on_all_samples_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(0.0)
    path = ALPHAS * largest_penalty(X, y)
    monkeypatch.setattr(Recorded, "fits", [], raising=False)
    monkeypatch.setattr(Recorded, "best", path[6])
    monkeypatch.setitem(sys.modules, "skglm", SimpleNamespace(MCPRegression=Recorded))
    linear.skglm(X, y, ASKED)
    chosen, final = Recorded.fits[: ALPHAS.size], Recorded.fits[ALPHAS.size :]
    assert {size for _, _, size, _ in chosen} == {holdout(y.size)[0].size}
    assert [alpha for _, alpha, _, _ in final] == path[:7].tolist()
    assert {size for _, _, size, _ in final} == {y.size}
    assert [warm for *_, warm in final] == [False, *[True] * 6]
    assert len({model for model, *_ in final}) == 1
