"""Choosing k and gamma: by samples that nothing has seen, by folds, by a criterion; and the curve it leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import comb

from backbone_dask import BackboneRegressor
from backbone_dask.errors import InvalidSettingError
from backbone_dask.launch.local import local_cluster
from backbone_dask.problems import linear
from backbone_dask.problems.selection import best_point, draw_trainings, extended_bic
from backbone_dask.settings import Settings
from backbone_dask.values import GridPoint, Termination

N, P, TRUTH = 250, 500, [3, 50, 100, 400]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    return X, X[:, TRUTH] @ [2.0, -1.0, 1.5, 1.0] + rng.normal(size=N)


def trainings(validation, n_samples=N, seed=0):
    settings = Settings(n_nonzero=[1, 2], validation=validation, seed=seed)
    return draw_trainings(settings.resolve(n_samples=n_samples, n_features=P), n_samples)


@pytest.mark.parametrize("validation", [0.7, 4, "ebic"])
def test_the_size_of_the_truth_is_chosen(table, validation):
    model = BackboneRegressor([1, 2, 4, 40], validation=validation, time_limit=3).fit(*table)
    assert model.n_nonzero_ == 4
    assert model.support_.tolist() == TRUTH
    assert [point.n_nonzero for point in model.validation_curve_] == [1, 2, 4, 40]
    assert all(len(point.errors) == (4 if validation == 4 else 1) for point in model.validation_curve_)


def test_errors_are_those_of_a_fit_that_has_not_seen_the_samples(table):
    """The literal version: leave the samples out, fit, predict them."""
    X, y = table
    model = BackboneRegressor([2, 6], validation=0.6).fit(X, y)
    (training,) = trainings(0.6)
    alone = BackboneRegressor(6, gamma=model.gamma_ * N / training.sum()).fit(X[training], y[training])
    weighted = BackboneRegressor(6, gamma=model.gamma_).fit(X, y, sample_weight=training.astype(float))
    expected = np.mean((y - weighted.predict(X))[~training] ** 2)
    assert model.validation_curve_[1].errors == (pytest.approx(expected, rel=1e-6),)
    np.testing.assert_array_equal(alone.support_, weighted.support_)


def test_what_the_validation_samples_hold_changes_nothing_but_the_errors(table):
    X, y = table
    (training,) = trainings(0.7)
    model = BackboneRegressor([1, 4], gamma=[0.01, 0.1]).fit(X, y)
    other = BackboneRegressor([1, 4], gamma=[0.01, 0.1]).fit(X, np.where(training, y, y + 100))
    gaps, others = ([point.gap for point in each.validation_curve_] for each in (model, other))
    np.testing.assert_allclose(gaps, others, rtol=1e-6)
    assert min(point.error for point in other.validation_curve_) > 1000


def test_noise_is_not_taken_for_signal():
    """On the backbone of all samples the larger model would win: its features fit the validation samples too."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(120, 2000)), rng.normal(size=120)
    assert BackboneRegressor([1, 5, 30], validation=4, time_limit=3).fit(X, y).n_nonzero_ == 1
    assert BackboneRegressor([1, 5, 30], validation="ebic", time_limit=3).fit(X, y).n_nonzero_ == 1


def test_gamma_is_chosen_from_the_papers_grid_and_two_weaker_ridges(table):
    model = BackboneRegressor(4, gamma="grid").fit(*table)
    gammas = [point.gamma for point in model.validation_curve_]
    np.testing.assert_allclose(gammas, [16 * N**-0.5, 4 * N**-0.5, *np.geomspace(N**-0.5, 1 / (4 * N), 5)])
    assert model.gamma_ == best_point(model.validation_curve_).gamma


def test_auto_tries_sizes_up_to_fifty(table):
    model = BackboneRegressor("auto", validation="ebic", time_limit=3).fit(*table)
    sizes = [point.n_nonzero for point in model.validation_curve_]
    assert sizes[:5] == [1, 2, 3, 5, 8]
    assert sizes[-1] == 50
    assert model.n_nonzero_ in (3, 5)
    assert len(set(TRUTH) & set(model.support_)) >= 3


def test_dask_chooses_the_same(table):
    expected = BackboneRegressor([2, 4], gamma="grid", validation=2).fit(*table)
    with local_cluster(2):
        found = BackboneRegressor([2, 4], gamma="grid", validation=2).fit(*table)
    assert found.validation_curve_ == expected.validation_curve_
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_the_error_of_folds_is_that_of_all_samples_together(table):
    """The literal version: predict every sample by the model that has not seen it, then average by weight."""
    X, y = table
    weights = np.random.default_rng(3).exponential(size=N) ** 2
    model = BackboneRegressor([1, 3], gamma=0.1, validation=3).fit(X, y, sample_weight=weights)
    left_out = np.empty(N)
    for training in trainings(3):
        one = BackboneRegressor(3, gamma=0.1).fit(X, y, sample_weight=weights * training)
        left_out[~training] = one.predict(X)[~training]
    point = model.validation_curve_[1]
    assert point.error == pytest.approx(np.average((y - left_out) ** 2, weights=weights), rel=1e-6)
    assert point.error != pytest.approx(np.mean(point.errors), rel=1e-3)


@pytest.mark.parametrize("validation", [3, "ebic"])
def test_a_point_says_what_ended_its_fits(table, validation, monkeypatch):
    """A solver whose second fit of two features runs out of time, and whose fits of four out of rounds."""
    real, asked = linear.exact_solvers["branch-and-bound"], []

    def solver(X, y, *, n_nonzero, **given):
        asked.append(n_nonzero)
        done = real(X, y, n_nonzero=n_nonzero, **given)
        cut = n_nonzero == 2 and asked.count(2) == (1 if validation == "ebic" else 2)
        ended = {4: Termination.ROUND_LIMIT, 2: Termination.TIME_LIMIT if cut else Termination.PROVEN}
        return replace(done, termination=ended.get(n_nonzero, Termination.PROVEN))

    monkeypatch.setattr(linear, "exact_solvers", {"branch-and-bound": solver})
    curve = BackboneRegressor([1, 2, 4], validation=validation).fit(*table).validation_curve_
    assert [point.termination for point in curve] == ["proven", "time_limit", "round_limit"]


def test_the_extended_criterion_counts_all_features():
    expected = 7.0 + 3 * np.log(50) + 2 * np.log(comb(1000, 3))
    assert extended_bic(7.0, 50, 1000, 3) == pytest.approx(expected)
    assert extended_bic(7.0, 50, 10**8, 3) > extended_bic(7.0, 50, 1000, 3)


def test_of_equal_errors_the_smallest_and_most_ridged_model_is_taken():
    grid = (GridPoint(4, 0.1, (1.0,), 0), GridPoint(2, 0.1, (1.0,), 0), GridPoint(2, 0.01, (1.0,), 0))
    assert best_point(grid) == grid[2]


def folded(n_nonzero, gamma, *errors):
    return GridPoint(n_nonzero, gamma, errors, gap=0.0)


def test_folds_choose_the_strongest_ridge_that_they_cannot_tell_from_the_best():
    """Worse by .1 in three folds and better in one: half of a standard error. Worse by .1 in all: told apart."""
    weak = folded(8, 4.0, 0.8, 1.2, 0.9, 1.1)
    usual = folded(4, 1.0, 0.9, 1.3, 1.0, 0.9)
    larger = folded(8, 1.0, 0.95, 1.35, 1.05, 0.85)
    strong = folded(4, 0.1, 0.9, 1.3, 1.0, 1.201)
    assert best_point((weak, larger, usual, strong)) == usual
    assert best_point((weak, strong)) == weak
    assert best_point((folded(8, 4.0, 1.0), folded(4, 0.1, 1.0001))).gamma == 4.0


@pytest.mark.parametrize(
    ("best", "burst"),
    [
        ((0.30, 0.31, 0.29, 0.30, 0.30), (0.30, 0.31, 0.29, 0.30, 50.0)),
        ((0.30, 0.31, 0.29, 0.30, 0.30), (0.295, 0.305, 0.285, 0.295, 5.0)),
        ((0.30, 0.30), (0.29, 9.0)),
        ((0.2, 0.4), (0.19, 9.0)),
    ],
)
def test_a_fold_that_goes_wrong_is_not_forgiven(best, burst):
    assert best_point((folded(4, 4.0, *best), folded(4, 0.1, *burst))).gamma == 4.0


def test_folds_of_one_ridge_choose_the_least_error():
    assert best_point((folded(8, 1.0, 1.0, 1.2), folded(2, 1.0, 1.1, 1.11))) == folded(8, 1.0, 1.0, 1.2)


@pytest.mark.parametrize(("validation", "count"), [(0.7, 1), (5, 5)])
def test_every_sample_validates_at_most_once(validation, count):
    found = trainings(validation, 103)
    assert len(found) == count
    left_out = (~np.array(found)).sum(axis=0)
    assert left_out.max() == 1
    assert left_out.sum() == (31 if count == 1 else 103)
    assert not np.array_equal(found[0], trainings(validation, 103, seed=1)[0])


@pytest.mark.parametrize("validation", [0.0, 1.0, 1, 251, "aic", -0.5])
def test_nonsense_is_refused(table, validation):
    with pytest.raises(InvalidSettingError, match="validation is"):
        BackboneRegressor([1, 2], validation=validation).fit(*table)
    with pytest.raises(InvalidSettingError, match="n_nonzero is an empty list"):
        BackboneRegressor([]).fit(*table)
