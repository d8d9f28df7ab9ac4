"""Samples, sizes and ridge weights of subproblems reach every solver: against literal loops over it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from backbone_dask import BackboneClassifier, BackboneRegressor
from backbone_dask.losses.logistic import Margin
from backbone_dask.problems.fitting import prepare
from backbone_dask.settings import Settings
from backbone_dask.store import MemoryStore
from backbone_dask.subproblems.elastic_net import fit_elastic_net, fit_logistic_elastic_net
from backbone_dask.subproblems.gammas import GammaGrid
from backbone_dask.subproblems.holdout import LogisticLearner, SquaredLearner, draw_samples, draw_split, excerpt
from backbone_dask.subproblems.rounding import fit_rounding

N, P, K, GAMMA, SEED = 120, 40, 6, 0.3, 5
SOLVERS = [("regression", "rounding"), ("regression", "elastic-net"), ("classification", "elastic-net")]


def ready(task, subproblem, **given):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, P))
    signal = X[:, [3, 20]] @ [3.0, -2.0] + 2 * rng.normal(size=N)
    y = signal if task == "regression" else (signal > 0) * 1.0
    settings = Settings(n_nonzero=K, subproblem_gamma=GAMMA, subproblem=subproblem)
    settings = Settings(**{name: getattr(settings, name) for name in Settings.__slots__} | given)
    return prepare(MemoryStore(X), y, settings, task=task)


def columns(of):
    return of.task.adjusted.projected(of.store.gather(np.arange(P)))


def literal(task, subproblem, samples):
    """The solver itself on some samples."""
    if task == "classification":
        margin = partial(Margin, weights=np.ones(samples.size), basis=np.ones((1, samples.size)))
        return lambda X, y, **asked: fit_logistic_elastic_net(X, margin(y), **asked)
    return fit_rounding if subproblem == "rounding" else fit_elastic_net


@pytest.mark.parametrize(("task", "subproblem"), SOLVERS)
def test_some_of_the_samples(task, subproblem):
    of = ready(task, subproblem, sample_fraction=0.4)
    X, y, samples = columns(of), of.task.response, draw_samples(N, 0.4, SEED)
    found = of.problem.fit_subproblem(X, y, seed=SEED)
    solve = literal(task, subproblem, samples)
    expected = solve(excerpt(X, samples).X, y[samples], n_nonzero=K, gamma=GAMMA, seed=SEED)
    assert found.support.tolist() == expected.support.tolist()
    assert found.objective == pytest.approx(expected.objective)
    whole = ready(task, subproblem).problem.fit_subproblem(X, y, seed=SEED)
    assert found.objective < 0.7 * whole.objective


@pytest.mark.parametrize(("task", "subproblem"), SOLVERS)
@pytest.mark.parametrize("choice", ["size", "gamma"])
def test_what_is_chosen_has_the_least_error_on_the_hold_out(task, subproblem, choice):
    given = {"subproblem_size": "grid"} if choice == "size" else {"subproblem_gamma": "grid"}
    of = ready(task, subproblem, **given)
    X, y, split = columns(of), of.task.response, draw_split(N, SEED)
    part, solve = excerpt(X, split.training), literal(task, subproblem, split.training)
    judge = LogisticLearner(np.ones(N), np.ones((1, N))) if task == "classification" else SquaredLearner()
    grid = [N**-0.5, *GammaGrid().others(X, K)]
    tried = [(size, GAMMA) for size in (2, 4, 6)] if choice == "size" else [(K, gamma) for gamma in grid]

    def error(point):
        fit = solve(part.X, y[split.training], n_nonzero=point[0], gamma=point[1], seed=SEED)
        return judge.error(part.in_units_of_the_whole(fit), X, y, split)

    size, gamma = min(tried, key=error)
    expected = literal(task, subproblem, y)(X, y, n_nonzero=size, gamma=gamma, seed=SEED)
    found = of.problem.fit_subproblem(X, y, seed=SEED)
    assert found.support.tolist() == expected.support.tolist()
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)


@pytest.mark.parametrize(("task", "subproblem"), SOLVERS)
def test_from_end_to_end_they_find_the_truth(task, subproblem):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    y = X[:, [3, 20]] @ [3.0, -2.0] + rng.normal(size=N)
    asked = {"subproblem": subproblem, "subproblem_size": "grid", "sample_fraction": 0.6, "n_subproblems": 3}
    if task == "regression":
        assert BackboneRegressor(2, **asked).fit(X, y).support_.tolist() == [3, 20]
    else:
        assert BackboneClassifier(2, **asked).fit(X, y > 0).support_.tolist() == [3, 20]
