"""The elastic net against scikit-learn and the conditions of optimality; its choices against literal loops."""

from __future__ import annotations

import math
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet
from threadpoolctl import threadpool_limits

from backbone_dask.errors import InvalidDataError, InvalidSettingError, MissingExtraError
from backbone_dask.losses import logistic
from backbone_dask.losses.logistic import Margin
from backbone_dask.subproblems.elastic_net import (
    MIXES,
    _best_by_holdout,
    _LogisticNet,
    _SquaredNet,
    fit_elastic_net,
    fit_logistic_elastic_net,
)
from backbone_dask.subproblems.holdout import draw_split, excerpt
from backbone_dask.subproblems.net_path import Path
from backbone_dask.testing.planted import Planted, planted, with_constants

pytest.importorskip("glmnet")


def unit_target(table: Planted) -> np.ndarray:
    y = table.y - table.y.mean()
    return y / math.sqrt(y @ y / y.size)


def dense(path: Path, model: int, n_features: int) -> np.ndarray:
    weights = np.zeros(n_features)
    weights[path.features] = path.weights[:, model]
    return weights


@pytest.mark.parametrize("mix", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("n_features", [15, 90])
def test_every_model_of_a_path_is_scikit_learns(mix: float, n_features: int) -> None:
    table = planted(n_samples=60, n_features=n_features, n_relevant=4, rho=0.5, snr=2, seed=1)
    y = unit_target(table)
    net = _SquaredNet(table.X, y)
    path = net.path(mix, 12, None, net.room())
    assert path.penalties.size > 5
    for model in range(1, path.penalties.size, 7):
        other = ElasticNet(alpha=path.penalties[model], l1_ratio=mix, fit_intercept=False, tol=1e-8, max_iter=100_000)
        other.fit(table.X.T.astype(float), y)
        np.testing.assert_allclose(dense(path, model, n_features), other.coef_, atol=1e-3)


def test_the_scale_of_the_target_is_that_of_the_weights() -> None:
    table = planted(n_samples=60, n_features=30, n_relevant=4, seed=1)
    y = unit_target(table)
    plain, scaled = (_SquaredNet(table.X, y * by) for by in (1.0, 1e3))
    first, second = (net.path(0.5, 5, None, net.room()) for net in (plain, scaled))
    np.testing.assert_allclose(second.penalties, first.penalties)
    np.testing.assert_allclose(second.weights, 1e3 * first.weights, rtol=1e-9)


@pytest.mark.parametrize("most", [1, 5, 20])
@pytest.mark.parametrize("mix", [0.2, 1.0])
def test_a_path_goes_from_the_empty_model_to_the_first_with_enough_features(most: int, mix: float) -> None:
    table = planted(n_samples=100, n_features=200, n_relevant=10, rho=0.5, snr=2, seed=2)
    for net in (_SquaredNet(table.X, unit_target(table)), _LogisticNet.of(table.X, Margin.of(np.sign(table.y)))):
        path = net.path(mix, most, None, net.room()).until(most)
        sizes = np.count_nonzero(path.weights, axis=0)
        assert sizes[0] == 0
        assert (sizes[:-1] < most).all()
        assert sizes[-1] >= most
        assert (np.diff(path.penalties) < 0).all()


def logistic_gradient(margin: Margin, u: np.ndarray) -> np.ndarray:
    """Derivative of the mean loss in every predictor."""
    return -margin.weights * margin.y / (1 + np.exp(margin.y * u)) / margin.weights.sum()


@pytest.mark.parametrize("mix", [0.3, 1.0])
@pytest.mark.parametrize("basis", ["intercept", "covariates", "nothing"])
def test_every_logistic_model_of_a_path_is_optimal(mix: float, basis: str) -> None:
    table = planted(n_samples=120, n_features=40, n_relevant=4, snr=3, seed=3)
    rng = np.random.default_rng(0)
    free = {"intercept": np.ones((1, 120)), "nothing": np.ones((0, 120))}
    free["covariates"] = np.vstack([rng.standard_normal((2, 120)), np.full((1, 120), 3.0)])
    margin = Margin.of(np.where(table.y > 1, 1.0, -1.0), rng.uniform(0.2, 3, 120), free[basis])
    net = _LogisticNet.of(table.X, margin)
    path = net.path(mix, 8, None, net.room())
    others = net._rows
    assert path.offsets.shape[0] == 1 + len(others)
    for model in range(1, path.penalties.size):
        weights = dense(path, model, 40)
        u = weights @ table.X + path.offsets[0, model] + path.offsets[1:, model] @ others
        gradient, penalty = logistic_gradient(margin, u), path.penalties[model]
        slope = table.X.astype(float) @ gradient + penalty * (1 - mix) * weights
        assert (np.abs(slope) <= penalty * mix + 1e-4).all()
        inside = weights != 0
        np.testing.assert_allclose(slope[inside], -penalty * mix * np.sign(weights[inside]), atol=1e-4)
        np.testing.assert_allclose(margin.basis @ gradient, 0, atol=1e-4)


def test_errors_are_mean_losses() -> None:
    table = planted(n_samples=60, n_features=10, n_relevant=2, seed=4)
    samples = np.array([3, 10, 40])
    path = Path(np.array([2.0, 1.0]), np.array([7, 2]), np.array([[0.0, 0.5], [0.0, -1.0]]), np.array([[0.1, 0.2]]))
    u = 0.5 * table.X[7, samples] - table.X[2, samples]
    squared = _SquaredNet(table.X, table.y).errors(path, samples)
    np.testing.assert_allclose(
        squared, [np.mean(table.y[samples] ** 2), np.mean((table.y[samples] - u) ** 2)], rtol=1e-6
    )
    margin = Margin.of(np.sign(table.y), np.linspace(1, 2, 60))
    losses = [np.log1p(np.exp(-margin.y[samples] * v)) for v in (0.1, u + 0.2)]
    expected = [np.average(loss, weights=margin.weights[samples]) for loss in losses]
    np.testing.assert_allclose(_LogisticNet.of(table.X, margin).errors(path, samples), expected, rtol=1e-6)


def test_the_choice_is_the_least_error_of_all_mixes_and_penalties() -> None:
    table = planted(n_samples=90, n_features=120, n_relevant=6, rho=0.6, snr=2, seed=5)
    y = unit_target(table)
    split = draw_split(90, 7)
    part = excerpt(table.X, split.training)
    least = (np.inf, 0.0, 0.0)
    for mix in MIXES:
        net = _SquaredNet(part.X, y[split.training])
        path = net.path(mix, 10, None, net.room()).until(10)
        for model, penalty in enumerate(path.penalties):
            weights = dense(path, model, 120)
            weights[part.scale > 0] /= part.scale[part.scale > 0]
            error = np.mean((y - weights @ table.X)[split.validation] ** 2)
            least = min(least, (error, mix, penalty))
    mix, penalties = _best_by_holdout(_SquaredNet(table.X, y), 10, MIXES, 7)
    assert mix == least[1]
    assert penalties[-1] == pytest.approx(least[2])


def test_what_enters_are_the_largest_weights_above_the_threshold() -> None:
    table = planted(n_samples=200, n_features=100, n_relevant=6, rho=0.6, snr=5, seed=6)
    y = unit_target(table)
    net = _SquaredNet(table.X, y)
    mix, penalties = _best_by_holdout(net, 8, (0.5, 1.0), 0)
    other = ElasticNet(alpha=penalties[-1], l1_ratio=mix, fit_intercept=False, tol=1e-8, max_iter=100_000)
    sizes = np.abs(other.fit(table.X.T.astype(float), y).coef_)
    for threshold in (1e-6, float(np.sort(sizes)[-3] - 1e-3)):
        found = fit_elastic_net(table.X, y, n_nonzero=8, mixes=(0.5, 1.0), threshold=threshold, seed=0)
        order = np.argsort(-sizes)[:8]
        assert found.support.tolist() == sorted(order[sizes[order] > threshold].tolist())


def test_the_objective_is_that_of_the_ridge_fit_on_the_support() -> None:
    table = planted(n_samples=100, n_features=80, n_relevant=4, snr=5, seed=7)
    y = 50 * unit_target(table)
    found = fit_elastic_net(table.X, y, n_nonzero=6, gamma=0.3, seed=0)
    rows = table.X[found.support].astype(float)
    weights = np.linalg.solve(rows @ rows.T + np.eye(len(rows)) / 0.3, rows @ y)
    residual = y - weights @ rows
    np.testing.assert_allclose(found.weights, weights, rtol=1e-8)
    assert found.objective == pytest.approx(0.5 * residual @ residual + weights @ weights / 0.6)
    assert fit_elastic_net(table.X, y, n_nonzero=6, seed=0).objective == pytest.approx(
        fit_elastic_net(table.X, y, n_nonzero=6, gamma=0.1, seed=0).objective
    )


def test_the_logistic_objective_is_that_of_the_ridge_fit_on_the_support() -> None:
    table = planted(n_samples=150, n_features=80, n_relevant=4, snr=5, seed=7)
    margin = Margin.of(np.sign(table.y), np.linspace(0, 2, 150))
    found = fit_logistic_elastic_net(table.X, margin, n_nonzero=6, gamma=0.3, seed=0)
    fit = logistic.fit(margin, table.X[found.support].astype(float), 0.3)
    np.testing.assert_allclose(found.weights, fit.weights)
    assert found.objective == fit.objective


def test_samples_without_weight_do_not_count() -> None:
    table = planted(n_samples=150, n_features=60, n_relevant=3, snr=5, seed=8)
    y, weights = np.sign(table.y), np.ones(150)
    weights[100:] = 0
    turned = np.where(weights > 0, y, -y)
    both = [
        fit_logistic_elastic_net(table.X, Margin.of(labels, weights), n_nonzero=5, seed=0) for labels in (y, turned)
    ]
    assert both[0].weights.tobytes() == both[1].weights.tobytes()


@pytest.mark.parametrize("rare", [0, 1])
@pytest.mark.parametrize("seed", range(6))
def test_a_covariate_that_is_constant_on_the_training_part_is_no_error(seed: int, rare: int) -> None:
    """Two samples have it, or have it not: for some seeds both are held out."""
    table = planted(n_samples=120, n_features=20, n_relevant=2, snr=8, seed=8)
    covariate = np.where(np.arange(120) < 2, rare, 1 - rare)
    margin = Margin.of(np.sign(table.y), None, np.vstack([np.ones(120), covariate]))
    assert np.isin(table.truth, fit_logistic_elastic_net(table.X, margin, n_nonzero=4, seed=seed).support).all()


def test_a_covariate_may_be_constant_on_the_training_samples() -> None:
    """So may all but the rounding of an intercept that comes from an orthonormal basis."""
    table = planted(n_samples=200, n_features=12, n_relevant=2, snr=5, seed=3)
    rare = np.isin(np.arange(200), draw_split(200, 0).validation[:2]).astype(float)
    noisy = 1 + 1e-15 * np.isin(np.arange(200), draw_split(200, 0).validation)
    for basis in (np.stack([np.ones(200), rare]), noisy[None]):
        margin = Margin.of(np.sign(table.y - table.y.mean()), np.ones(200), basis)
        found = fit_logistic_elastic_net(table.X, margin, n_nonzero=2, gamma=1.0, seed=0)
        assert found.support.tolist() == table.truth.tolist()


@pytest.mark.parametrize("seed", range(2))
def test_relevant_features_are_found_among_many(seed: int) -> None:
    table = planted(n_samples=300, n_features=800, n_relevant=5, rho=0.3, snr=5, seed=seed)
    found = fit_elastic_net(table.X, unit_target(table), n_nonzero=15, seed=seed)
    assert np.isin(table.truth, found.support).all()
    labels = Margin.of(np.sign(table.y))
    assert np.isin(table.truth, fit_logistic_elastic_net(table.X, labels, n_nonzero=15, seed=seed).support).all()


def test_pure_ridge_takes_the_largest_weights() -> None:
    table = planted(n_samples=100, n_features=40, n_relevant=3, snr=20, seed=9)
    found = fit_elastic_net(table.X, unit_target(table), n_nonzero=3, mixes=(0.0,), seed=0)
    assert found.support.tolist() == table.truth.tolist()


def test_the_same_bits_whatever_the_threads() -> None:
    table = planted(n_samples=200, n_features=400, n_relevant=5, rho=0.8, snr=1, seed=10)
    runs = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found = fit_elastic_net(table.X, unit_target(table), n_nonzero=10, seed=5)
        runs.append((found.support.tobytes(), found.weights.tobytes(), found.objective))
    assert runs[0] == runs[1]


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(1, 9), st.integers(1, 12))
@settings(max_examples=12, deadline=None)
def test_any_data_give_a_model(seed: int, n: int, p: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    X = planted(n_samples=n, n_features=p, n_relevant=1, dtype="int8", seed=seed).X
    y = rng.integers(-3, 4, n) * 10.0 ** rng.integers(-5, 6)
    labels = Margin.of(rng.choice([-1.0, 1.0], n), rng.choice([0.5, 1.0], n))
    for found in (
        fit_elastic_net(X, y - y.mean(), n_nonzero=k, seed=seed),
        fit_logistic_elastic_net(X, labels, n_nonzero=k, seed=seed),
    ):
        assert found.support.size <= k
        assert X[found.support].any(axis=1).all()
        assert np.isfinite(found.weights).all()
        assert math.isfinite(found.objective)


def test_nothing_to_choose_from() -> None:
    y = np.arange(20.0) - 9.5
    for X in (np.zeros((4, 20), np.float32), np.zeros((0, 20), np.float32)):
        assert fit_elastic_net(X, y, n_nonzero=3, seed=0).support.size == 0
        assert fit_logistic_elastic_net(X, Margin.of(np.sign(y)), n_nonzero=3, seed=0).support.size == 0
    table = with_constants(planted(n_samples=20, n_features=10, n_relevant=2))
    assert fit_elastic_net(table.X, np.zeros(20), n_nonzero=3, seed=0).objective == 0
    one_class = fit_logistic_elastic_net(table.X, Margin.of(np.ones(20)), n_nonzero=3, seed=0)
    assert one_class.support.size == 0


def test_equal_columns_are_no_error() -> None:
    table = planted(n_samples=60, n_features=1, n_relevant=1, snr=20, seed=9)
    X = np.repeat(table.X, 20, axis=0)
    for mix in (0.0, 0.5, 1.0):
        assert 1 <= fit_elastic_net(X, unit_target(table), n_nonzero=3, mixes=(mix,), seed=0).support.size <= 3


def test_bad_input_is_refused() -> None:
    table = planted(n_samples=20, n_features=10, n_relevant=2)
    fits = (
        partial(fit_elastic_net, table.X, table.y, seed=0),
        partial(fit_logistic_elastic_net, table.X, Margin.of(np.sign(table.y)), seed=0),
    )
    for fit in fits:
        for wrong in ({"mixes": ()}, {"mixes": (1.1,)}, {"mixes": (math.nan,)}, {"threshold": -1.0}, {"gamma": 0.0}):
            with pytest.raises(InvalidSettingError):
                fit(n_nonzero=3, **wrong)
        with pytest.raises(InvalidSettingError):
            fit(n_nonzero=0)
    with pytest.raises(InvalidDataError):
        fit_elastic_net(table.X, table.y[:-1], n_nonzero=3, seed=0)
    with pytest.raises(InvalidDataError):
        fit_logistic_elastic_net(table.X, Margin.of(np.sign(table.y[:-1])), n_nonzero=3, seed=0)
    with pytest.raises(InvalidDataError, match="at least 2 samples"):
        fit_elastic_net(np.ones((2, 1), np.float32), np.ones(1), n_nonzero=1, seed=0)


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    table = planted(n_samples=20, n_features=10, n_relevant=2)
    monkeypatch.setitem(sys.modules, "glmnet", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'backbone-dask\[glmnet\]'"):
        fit_elastic_net(table.X, table.y, n_nonzero=3, seed=0)
    assert issubclass(MissingExtraError, ImportError)
