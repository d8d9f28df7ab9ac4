"""Shuffled responses: what is shuffled, and the two questions beside scores taken one shuffle at a time."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask.adjustment import adjustment
from backbone_dask.algorithm.ranking import beyond
from backbone_dask.columns import measured
from backbone_dask.screens.catalogue import screens
from backbone_dask.screens.chance import SHUFFLES, ChancePanel, Shuffles
from backbone_dask.screens.correlation import CorrelationPanel
from backbone_dask.screens.panels import OneQuestion, ScorePanel, SubsetsPanel
from backbone_dask.values import Screening

N, P = 90, 40


@pytest.fixture
def drawn():
    rng = np.random.default_rng(5)
    return measured(rng.normal(size=(P, N)))[0], rng.normal(size=N)


def test_samples_that_do_not_count_stay_where_they_are():
    there = np.arange(N) % 3 > 0
    y = np.arange(N, dtype=float)
    responses = Shuffles(there, 0)(y)
    assert responses.shape == (SHUFFLES, N)
    np.testing.assert_array_equal(responses[:, ~there], np.tile(y[~there], (SHUFFLES, 1)))
    np.testing.assert_array_equal(np.sort(responses[:, there], axis=1), np.tile(y[there], (SHUFFLES, 1)))
    assert len({row.tobytes() for row in responses}) == SHUFFLES
    assert (responses[:, there] != y[there]).any(axis=1).all()


def test_the_draw_has_an_address():
    y, everybody = np.arange(N, dtype=float), np.ones(N, bool)
    np.testing.assert_array_equal(Shuffles(everybody, 3)(y), Shuffles(everybody, 3)(y))
    assert not np.array_equal(Shuffles(everybody, 3)(y), Shuffles(everybody, 4)(y))


def test_correlations_with_each_shuffled_response(drawn):
    columns, y = drawn
    shuffles = Shuffles(np.ones(N, bool), 1)
    own, chance = ChancePanel(CorrelationPanel(y), CorrelationPanel(y).shuffled(shuffles))(columns)
    np.testing.assert_array_equal(own, CorrelationPanel(y)(columns)[0])
    literal = [[abs(np.corrcoef(x, shuffled)[0, 1]) for x in columns.values] for shuffled in shuffles(y)]
    np.testing.assert_allclose(chance, np.max(literal, axis=0), atol=1e-6)


def test_signs_are_the_only_change():
    residual = np.arange(1.0, N + 1)
    responses = Shuffles(np.ones(N, bool), 0).flipped(residual)
    np.testing.assert_array_equal(np.abs(responses), np.tile(residual, (SHUFFLES, 1)))
    assert 0.4 < (responses > 0).mean() < 0.6
    assert len({row.tobytes() for row in responses}) == SHUFFLES


def test_a_score_test_for_each_residual_with_signs_by_chance(drawn):
    """Residuals get signs by chance, and what covariates explain of them is taken out again."""
    columns, y = drawn
    rng = np.random.default_rng(1)
    weights = np.where(np.arange(N) < 70, rng.uniform(0.5, 2, N), 0.0)
    adjusted = adjustment(N, sample_weight=weights, covariates=rng.normal(size=(N, 2)))
    panel = ScorePanel(adjusted.root, adjusted.basis, adjusted.target(y))
    shuffles = Shuffles(weights > 0, 1)
    asked = panel.shuffled(shuffles)
    assert asked.n_questions == SHUFFLES
    for found, residual in zip(asked(columns), shuffles.flipped(adjusted.target(y)), strict=True):
        alone = ScorePanel(adjusted.root, adjusted.basis, adjusted.outside(residual))
        np.testing.assert_allclose(found, alone(columns)[0], atol=1e-12)


@pytest.mark.parametrize("name", ["logistic-loss", "entropy"])
@pytest.mark.parametrize("part", [False, True])
def test_any_screen_for_each_shuffled_label(drawn, name, part):
    columns, y = drawn
    there = np.arange(N) < (60 if part else N)
    labels = screens[name].check((y > 0).astype(float))
    panel = (
        SubsetsPanel(screens[name].score, labels[None], (there,)) if part else OneQuestion(screens[name].score, labels)
    )
    shuffles = Shuffles(there, 2)
    found = panel.shuffled(shuffles)(columns)
    cut = measured(np.ascontiguousarray(columns.values[:, there]))[0]
    literal = [screens[name].score(cut, shuffled[there]) for shuffled in shuffles(labels)]
    np.testing.assert_array_equal(found, np.stack(literal))


def test_survivors_exceed_chance_and_the_best_one_is_always_kept():
    screening = Screening(np.array([2, 5, 9]), np.array([0.3, 0.7, 0.5]), 100, 4)
    assert beyond(screening, 0.5).candidates.tolist() == [5]
    assert beyond(screening, 0.1).candidates.tolist() == [2, 5, 9]
    none = beyond(screening, 0.9)
    assert (none.candidates.tolist(), none.utilities.tolist()) == ([5], [0.7])
    assert (none.chance, none.n_features, none.n_constant) == (0.9, 100, 4)
