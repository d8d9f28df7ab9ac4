"""The marginal logistic fit against a literal Newton method in float64, scikit-learn, and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize
from screen_cases import DTYPES, standard_rows, two_classes
from sklearn.linear_model import LogisticRegression

from backbone_dask.columns import Columns, measured
from backbone_dask.screens.logistic import RIDGE, logistic, logistic_loss
from backbone_dask.testing.planted import Dtype, planted, with_constants
from backbone_dask.testing.strategies import columns as any_columns

WEIGHT = {np.float32: 1e-5}
LOSS = {np.float32: 1e-6}


def objective(parameters: np.ndarray, z: np.ndarray, y: np.ndarray) -> float:
    v = (y > 0).mean() * (y < 0).mean()
    b, w = parameters
    return float(np.logaddexp(0, -y * (b + w * z)).mean() + RIDGE * v / 2 * w**2)


def fit(z: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """(|w|, null loss - least loss), by Newton steps that are halved until the loss falls."""
    share = (y > 0).mean()
    ridge = np.diag([0, RIDGE * share * (1 - share)])
    design, place = np.column_stack([np.ones_like(z), z]), np.zeros(2)
    for _ in range(200):
        wrong = np.exp(-np.logaddexp(0, y * (design @ place)))
        slope = -design.T @ (y * wrong) / y.size + ridge @ place
        step = -np.linalg.solve((design.T * (wrong * (1 - wrong))) @ design / y.size + ridge, slope)
        while objective(place + step, z, y) > objective(place, z, y) + 1e-15:
            step /= 2
        place = place + step
        if np.abs(step).max() < 1e-12:
            break
    null = -share * np.log(share) - (1 - share) * np.log(1 - share)
    return abs(place[1]), null - objective(place, z, y)


def check(columns: Columns, y: np.ndarray) -> None:
    kind, rows = columns.values.dtype.type, standard_rows(columns)
    expected = np.array([fit(z, y) if z.any() else (0.0, 0.0) for z in rows]).reshape(-1, 2)
    allowed = WEIGHT.get(kind, 1e-9) * (1 + expected[:, 0])
    assert (np.abs(logistic(columns, y) - expected[:, 0]) <= allowed).all()
    np.testing.assert_allclose(logistic_loss(columns, y), expected[:, 1], rtol=0, atol=LOSS.get(kind, 1e-12))


@pytest.mark.parametrize("snr", [0.2, 10.0, np.inf])
@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize("n_samples", [10, 300, 5000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_agrees_with_a_literal_fit(dtype: Dtype, n_samples: int, share: float, snr: float) -> None:
    table = with_constants(planted(n_samples=n_samples, n_features=8, n_relevant=1, snr=snr, dtype=dtype, seed=3))
    check(table.columns, two_classes(table.y, share))


@pytest.mark.parametrize("dtype", DTYPES)
def test_agrees_with_scikit_learn_without_penalty(dtype: Dtype) -> None:
    table = planted(n_samples=1000, n_features=6, n_relevant=2, dtype=dtype)
    y = two_classes(table.y, 0.3)
    for z, found in zip(standard_rows(table.columns), logistic(table.columns, y), strict=True):
        model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(z[:, None], y)
        assert found == pytest.approx(abs(model.coef_[0, 0]), rel=1e-4)


def test_agrees_with_scipy() -> None:
    table = planted(n_samples=400, n_features=5, n_relevant=1, dtype="float64")
    y = two_classes(table.y)
    found = logistic_loss(table.columns, y)
    for z, gain in zip(standard_rows(table.columns), found, strict=True):
        assert np.log(2) - minimize(objective, [0.0, 0.0], (z, y), tol=1e-12).fun == pytest.approx(gain, abs=1e-9)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_missing_values_stand_for_the_mean(dtype: Dtype, share: float) -> None:
    table = planted(n_samples=400, n_features=10, n_relevant=2, dtype=dtype, missing=share)
    check(table.columns, two_classes(table.y))


@given(any_columns(min_samples=3))
@settings(max_examples=300)
def test_any_columns(columns: Columns) -> None:
    samples = columns.values.shape[1]
    check(columns, two_classes(np.random.default_rng(samples).standard_normal(samples)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_column_that_separates_the_classes_is_finite_and_first(dtype: str) -> None:
    rng = np.random.default_rng(0)
    y = two_classes(rng.standard_normal(200))
    values = np.stack([y > 0, (y > 0) ^ (rng.random(200) < 0.02), (y > 0) ^ (rng.random(200) < 0.2)]).astype(dtype)
    columns = measured(values)[0]
    for screen in (logistic, logistic_loss):
        scores = screen(columns, y)
        assert np.isfinite(scores).all()
        assert scores[0] > 1.1 * scores[1] > 1.1 * scores[2]
    assert logistic_loss(columns, y)[0] == pytest.approx(np.log(2), abs=1e-3)
    check(columns, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_sample_far_from_all_others(dtype: str) -> None:
    rng = np.random.default_rng(4)
    values = rng.standard_normal((6, 2000)).astype(dtype)
    values[:, 7] = 10.0 ** np.arange(6)
    check(measured(values)[0], two_classes(rng.standard_normal(2000) + values[1], 0.02))


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_the_labels_may_change_sides(dtype: Dtype) -> None:
    table = planted(n_samples=200, n_features=10, n_relevant=2, dtype=dtype)
    y = two_classes(table.y, 0.3)
    np.testing.assert_allclose(logistic(table.columns, -y), logistic(table.columns, y), rtol=1e-5, atol=1e-12)


def test_one_class_only_scores_nothing() -> None:
    table = planted(n_samples=50, n_features=4, n_relevant=1)
    assert logistic(table.columns, np.ones(50)).tolist() == [0, 0, 0, 0]
