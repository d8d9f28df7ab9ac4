"""The methods of the paper's tables on regression data, each from expanded data to an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from backbone_dask import BackboneRegressor, register_subproblem_solver
from backbone_dask import screen as best_columns
from backbone_dask.subproblems.support_size import FitChosenSize, SizeGrid
from backbone_dask.values import SparseFit
from benchmarks.paper.answer import Answer
from benchmarks.paper.baselines.deco import deco_columns
from benchmarks.paper.baselines.oracle import SECONDS, SIZES, sparse_regression
from benchmarks.paper.baselines.rfe import eliminate_by_regression
from benchmarks.paper.baselines.sis_enet import TRAINING_SHARE, Net, fit_net
from benchmarks.paper.chosen_by_chance import by_correlation
from benchmarks.paper.permuted import Expanded
from benchmarks.paper.simulated import gammas

Method = Callable[[Expanded, int], Answer]
SCREEN, BACKBONE, BY_CHANCE = 10_000, 500, "chance"
PAPER: dict[str, Any] = {
    "n_nonzero": SIZES,
    "screen_size": SCREEN,
    "subproblem_fraction": 0.5,
    "n_subproblems": 10,
    "subproblem": "SR-REL of 10, 20 or 30",
    "patience": None,
    "backbone_max": BACKBONE,
    "time_limit": SECONDS,
}
SUBPROBLEM_SIZES = (10, 20, 30)
MIXES = (0.001, 0.25, 0.5, 0.75, 1.0)
"""From the ridge, for which glmnet wants a trace of the lasso, to the lasso."""
KEPT = (50, 100, 500, 1000, 5000)
"""Numbers of columns that SIS-ENET chooses from."""
_HOLDOUT = 16_180


def of_papers_sizes(X: Any, y: Any, *, n_nonzero: int, gamma: float, seed: int) -> SparseFit:
    """SR-REL with k_m of the paper by a hold-out, whatever the size of the model, and gamma_m = 1/sqrt(n_m)."""
    return FitChosenSize(SizeGrid(SUBPROBLEM_SIZES))(X, y, seed=seed)


register_subproblem_solver(PAPER["subproblem"], of_papers_sizes)


def backbone(data: Expanded, seed: int) -> Answer:
    """The exact fit on the columns that chance does not explain: so few that there is nothing left to sample."""
    model = sparse_regression(data.X, data.y, BACKBONE, seed=seed, screen_size=BY_CHANCE)
    return _answer(model, data)


def backbone_as_published(data: Expanded, seed: int) -> Answer:
    """The paper's settings but for the time limit: a gap is closed within seconds."""
    ridges = gammas(data.y.size, max(SIZES))
    model = BackboneRegressor(executor="serial", random_state=seed, gamma=ridges, **PAPER)
    return _answer(model.fit(data.X, data.y), data)


def oracle(data: Expanded, seed: int) -> Answer:
    """SR on the original columns."""
    real = data.original()
    return _answer(sparse_regression(real.X, real.y, real.n_original, seed=seed), real)


def rfe(data: Expanded, seed: int) -> Answer:
    """SR on what recursive elimination leaves."""
    left = eliminate_by_regression(data.X, data.y)
    few = data.take(left)
    return _answer(sparse_regression(few.X, few.y, left.size, seed=seed), few).among(left)


def net_on_survivors(data: Expanded, seed: int) -> Answer:
    """ENET on the columns that chance does not explain: what our screen does for another method."""
    left = by_correlation(data, BACKBONE, seed)
    few = data.take(left)
    return _net_answer(_net(few, seed), few).among(left)


def deco(data: Expanded, seed: int) -> Answer:
    """ENET on what the blocks choose."""
    chosen = deco_columns(data.X, data.y, seed=seed)
    few = data.take(chosen)
    return _net_answer(_net(few, seed), few).among(chosen)


def sis_enet(data: Expanded, seed: int) -> Answer:
    """ENET on the columns that correlate most with y; how many, by the error on a hold-out of 30 %."""
    order = np.random.default_rng([_HOLDOUT, seed]).permutation(data.y.size)
    split = round(TRAINING_SHARE * data.y.size)
    inner = data.samples(order[:split], order[split:])
    errors = {kept: _error(inner, kept, seed) for kept in KEPT if kept <= data.X.shape[1]}
    ids = _screened(data, min(errors, key=errors.__getitem__))
    few = data.take(ids)
    return _net_answer(_net(few, seed), few).among(ids)


def _error(data: Expanded, kept: int, seed: int) -> float:
    few = data.take(_screened(data, kept))
    predicted = _net_answer(_net(few, seed), few).predicted
    return float(((few.y_test - predicted) ** 2).mean())


def _screened(data: Expanded, kept: int) -> np.ndarray:
    (found,) = best_columns(data.X, data.y, keep=kept, executor="serial").values()
    return found.candidates


def _net(data: Expanded, seed: int) -> Net:
    X = np.asfortranarray(data.X, np.float64)
    return fit_net(X, data.y, "linear", seed=seed, mixes=MIXES)


def _net_answer(net: Net, data: Expanded) -> Answer:
    support = net.support
    return Answer(support, data.X_test[:, support].astype(np.float64) @ net.weights[support] + net.intercept)


def _answer(model: BackboneRegressor, data: Expanded) -> Answer:
    return Answer(model.support_, model.predict(data.X_test), model.gap_)


METHODS: dict[str, Method] = {
    "BB": backbone,
    "SR-ORACLE": oracle,
    "SIS-ENET": sis_enet,
    "DECO": deco,
    "BB as published": backbone_as_published,
    "RFE": rfe,
    "chance + ENET": net_on_survivors,
}
