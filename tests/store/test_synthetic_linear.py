"""Regression and logistic targets: exact ratios, and a truth that every draw shares."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from backbone_dask.errors import FormatVersionError, StoreError
from backbone_dask.store.synthetic import Recipe, columns, target, truth, truth_from_json

LINEAR = Recipe(kind="linear", n_samples=500, n_features=2_000, n_relevant=30, rho=0.6, snr=3.0, seed=11)


def clean(recipe):
    found = truth(recipe)
    return found.coefficients @ columns(recipe, 0, recipe.n_features)[found.ids].astype(float)


@pytest.mark.parametrize("snr", [0.1, 3.0, 400.0])
@pytest.mark.parametrize("k", [1, 30, 130])
def test_the_signal_to_noise_ratio_is_exact(snr, k):
    recipe = replace(LINEAR, snr=snr, n_relevant=k)
    signal = clean(recipe)
    noise = target(recipe) - signal
    assert np.linalg.norm(signal) / np.linalg.norm(noise) == pytest.approx(np.sqrt(snr), rel=1e-9)
    assert np.abs(np.corrcoef(signal, noise)[0, 1]) < 5 / np.sqrt(500)


def test_the_regressor_has_k_sorted_ids_and_signs():
    found = truth(LINEAR)
    assert found.ids.dtype == np.int64
    assert np.all(np.diff(found.ids) > 0)
    assert found.ids.size == 30
    assert set(found.coefficients) == {-1.0, 1.0}


def test_every_feature_is_equally_likely_and_so_is_every_sign():
    truths = [truth(replace(LINEAR, n_features=10, n_relevant=3, seed=seed)) for seed in range(2_000)]
    counts = np.bincount(np.concatenate([found.ids for found in truths]), minlength=10)
    np.testing.assert_allclose(counts, 600, atol=5 * np.sqrt(600 * 0.7))
    assert abs(np.mean([found.coefficients.mean() for found in truths])) < 5 / np.sqrt(6_000)


def test_a_logistic_target_is_the_sign_of_the_linear_one():
    y = target(replace(LINEAR, kind="logistic"))
    assert y.dtype == np.float64
    np.testing.assert_array_equal(y, np.sign(target(LINEAR)))


def test_draws_share_the_truth_and_nothing_else():
    other = replace(LINEAR, draw=1)
    assert truth(other).to_json() == truth(LINEAR).to_json()
    assert np.abs(np.corrcoef(target(other), target(LINEAR))[0, 1]) < 5 / np.sqrt(500)


@pytest.mark.parametrize("change", [{"n_samples": 77}, {"rho": 0.0}, {"snr": 9.0}, {"kind": "logistic"}])
def test_the_truth_does_not_depend_on_the_samples(change):
    assert truth(replace(LINEAR, **change)).to_json() == truth(LINEAR).to_json()


def test_another_seed_is_another_truth():
    assert truth(replace(LINEAR, seed=12)).to_json() != truth(LINEAR).to_json()


def test_truth_json_round_trip():
    found = truth(LINEAR)
    back = truth_from_json(found.to_json())
    np.testing.assert_array_equal(back.ids, found.ids)
    np.testing.assert_array_equal(back.coefficients, found.coefficients)
    assert back.ids.dtype == found.ids.dtype


def test_a_truth_of_an_unknown_version_or_without_its_parts_is_refused():
    with pytest.raises(FormatVersionError):
        truth_from_json(truth(LINEAR).to_json().replace('"version": 1', '"version": 9'))
    with pytest.raises(StoreError, match="ids"):
        truth_from_json('{"format": "backbone-dask-truth", "version": 1, "coefficients": [1.0]}')


def test_a_hundred_million_features_are_quick():
    recipe = replace(LINEAR, n_features=10**8, n_relevant=100, rho=0.9)
    target(LINEAR)
    begin = time.perf_counter()
    assert target(recipe).shape == (500,)
    assert truth(recipe).ids.max() > 10**7
    assert time.perf_counter() - begin < 1


def test_the_values_of_format_version_1_never_change():
    # Also fails if numpy changes what a generator draws: the recipe's version has to move then.
    recipe = replace(LINEAR, n_features=10**8, n_relevant=4)
    assert truth(recipe).ids.tolist() == [5532342, 62508086, 73213580, 97596413]
    assert truth(recipe).coefficients.tolist() == [-1.0, -1.0, -1.0, -1.0]
    expected = [6.72408520001223, -6.02182673661745, 0.04873133344714131]
    np.testing.assert_allclose(target(recipe)[:3], expected, rtol=1e-12)
