"""screen_size="chance": what survives, for every kind of model, and how often noise does."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from backbone_dask import Backbone, BackboneClassifier, BackboneRegressor, BackboneTreeClassifier
from backbone_dask.errors import InvalidSettingError
from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.settings import Settings
from backbone_dask.store import as_store
from backbone_dask.tree_settings import TreeSettings
from backbone_dask.values import Screening

N, P = 200, 3000
TRUTH = [7, 42, 100]


@pytest.fixture(scope="module")
def planted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)).astype(np.float32)
    return X, 2 * X[:, TRUTH].sum(axis=1) + rng.normal(size=N)


def screened(X, y, task="regression", **settings) -> Screening:
    ready = prepare(as_store(X), y, Settings(n_nonzero=3, screen_size="chance", **settings), task=task)
    return fit_sparse(ready, SerialExecutor()).finding.screening


def literal_chance(X, y, seed=0):
    """The best correlation of any column with any of the shuffled responses."""
    unit = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(np.random.SeedSequence([seed, 31_415]))
    shuffled = rng.permuted(np.tile(y - y.mean(), (10, 1)), axis=1)
    return np.abs(shuffled @ unit / N).max() / y.std()


def test_survivors_are_those_that_exceed_the_best_of_chance(planted):
    X, y = planted
    found, chance = screened(X, y), literal_chance(X, y)
    correlations = np.abs([np.corrcoef(x, y)[0, 1] for x in X.T])
    assert found.chance == pytest.approx(chance, rel=1e-5)
    np.testing.assert_array_equal(found.candidates, np.flatnonzero(correlations > chance))
    assert set(TRUTH) <= set(found.candidates.tolist())


def test_the_best_of_noise_survives_once_in_eleven_times():
    """In 110 draws ten are expected; a wrong rule (the mean of shuffles, one shuffle) passes 50 to 110 times."""
    rng = np.random.default_rng(3)
    passed = 0
    for seed in range(110):
        X, y = rng.normal(size=(40, 60)), rng.normal(size=40)
        found = screened(X, y, seed=seed, n_subproblems=1, time_limit=1.0)
        passed += bool((found.utilities > found.chance).any())
    assert 2 <= passed <= 22


@pytest.mark.parametrize("kind", ["weights", "balanced", "covariates"])
def test_noise_survives_as_seldom_with_weights_and_covariates(kind):
    """Only the best column is kept anyway; permuted weighted residuals let dozens pass in nearly every draw."""
    rng, passed = np.random.default_rng(8), 0
    for seed in range(22):
        X, z = rng.normal(size=(120, 300)), rng.normal(size=(120, 2))
        extra = {
            "weights": {"sample_weight": rng.lognormal(0, 1.5, 120)},
            "balanced": {"class_weight": "balanced"},
            "covariates": {"covariates": z},
        }[kind]
        y = rng.normal(size=120) if kind == "weights" else rng.permutation(120) < 12
        if kind == "covariates":
            y = z @ [3, 2] + rng.logistic(size=120) > 1
        passed += survivors_of_noise(X, y, extra, seed) > 1
    assert passed <= 5


def survivors_of_noise(X, y, extra, seed):
    estimator = BackboneRegressor if y.dtype == float else BackboneClassifier
    fit_extra = {name: value for name, value in extra.items() if name != "class_weight"}
    own = {name: value for name, value in extra.items() if name == "class_weight"}
    asked = {"screen_size": "chance", "n_subproblems": 0, "time_limit": 1.0, "random_state": seed, "executor": "serial"}
    return estimator(1, **asked, **own).fit(X, y, **fit_extra).backbone_.size


@pytest.mark.parametrize("balanced", [None, "balanced"])
def test_classes(planted, balanced):
    X, y = planted
    model = BackboneClassifier(3, screen_size="chance", class_weight=balanced).fit(X, y > 0)
    assert model.support_.tolist() == TRUTH
    assert np.isin(model.backbone_, TRUTH).mean() > 0.5


def test_covariates_are_taken_out_before_shuffling(planted):
    """What a covariate explains is not chance's: with it in y, no column would exceed the shuffled responses."""
    X, y = planted
    covariate = np.random.default_rng(1).normal(size=N)
    model = BackboneRegressor(3, screen_size="chance").fit(X, y + 100 * covariate, covariates=covariate[:, None])
    assert model.support_.tolist() == TRUTH


def test_trees_and_estimators_of_others(planted):
    X, y = planted
    tree = BackboneTreeClassifier(depth=2, screen_size="chance").fit(X, y > 0)
    assert tree.levels_[0].n_candidates < 20
    assert np.isin(tree.support_, TRUTH).all()
    other = Backbone(Lasso(0.1), n_nonzero=3, screen_size="chance").fit(X, y)
    assert other.levels_[0].n_candidates < 20
    assert other.support_.tolist() == TRUTH


def test_held_out_samples_have_no_say(planted):
    """Where sizes are chosen, the screen of the training part does not see the others: one wild sample changes none."""
    X, y = planted
    model = BackboneRegressor([1, 3], screen_size="chance", validation=3).fit(X, y)
    assert model.n_nonzero_ == 3
    assert model.support_.tolist() == TRUTH


def test_workers_do_not_change_the_bits(planted):
    expected = BackboneRegressor(3, screen_size="chance").fit(*planted)
    with local_cluster(2):
        found = BackboneRegressor(3, screen_size="chance").fit(*planted)
    np.testing.assert_array_equal(found.backbone_, expected.backbone_)
    np.testing.assert_array_equal(found.coefficients_, expected.coefficients_)


def test_without_subproblems_all_survivors_are_the_backbone(planted):
    X, y = planted
    model = BackboneRegressor(3, screen_size=60, n_subproblems=0).fit(X, y)
    assert model.backbone_.size == 60
    assert model.levels_[0].answers == ()
    assert model.support_.tolist() == TRUTH
    assert BackboneRegressor(3, n_subproblems=0, backbone_max=80).fit(X, y).backbone_.size == 80
    assert BackboneTreeClassifier(depth=2, n_subproblems=0, backbone_max=50).fit(X, y > 0).backbone_.size == 50
    said = r"n_subproblems is 0, so all 300 features that survive.*backbone_max=250"
    with pytest.raises(InvalidSettingError, match=said):
        Settings(3, screen_size=300, n_subproblems=0).resolve(n_samples=N, n_features=P)
    with pytest.raises(InvalidSettingError, match=r"so all 3000 features.*choose a screen"):
        TreeSettings(screen="none", n_subproblems=0).resolve(n_samples=N, n_features=P)


@pytest.mark.parametrize("screen_size", [None, "chance"])
def test_without_subproblems_the_best_groups_that_fit_are_the_backbone(planted, screen_size):
    X, y = planted
    labels = np.arange(P) // 5
    asked = {"groups": labels, "screen_size": screen_size, "n_subproblems": 0}
    model = BackboneRegressor(3, backbone_max=52, **asked).fit(X, y)
    assert set(np.array(TRUTH) // 5) <= set(labels[model.backbone_])
    assert model.backbone_.size == 50 if screen_size is None else 15 <= model.backbone_.size <= 50
    assert (np.bincount(labels[model.backbone_])[np.unique(labels[model.backbone_])] == 5).all()
    with pytest.raises(InvalidSettingError, match="the best group has 5 features, more than backbone_max=4"):
        BackboneRegressor(3, backbone_max=4, **asked).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"screen_size": "chanse"}, "screen_size is 'chanse'; it must be a number or 'chance'"),
        ({"screen_size": "chance", "screen_rounds": 2}, "screen_size='chance' is for one round"),
        ({"n_subproblems": -1}, "n_subproblems is -1; it must not be negative"),
    ],
)
def test_what_does_not_go_together_is_refused(planted, settings, said):
    with pytest.raises(InvalidSettingError, match=said):
        BackboneRegressor(3, **settings).fit(*planted)


def test_no_screen_has_no_size(planted):
    with pytest.raises(InvalidSettingError, match="screen='none' keeps every column"):
        Backbone(Lasso(0.1), n_nonzero=3, screen="none", screen_size="chance").fit(*planted)
