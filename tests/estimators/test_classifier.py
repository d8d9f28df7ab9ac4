"""BackboneClassifier: scikit-learn's contract, two classes and more, weights, covariates, and every kind of input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from backbone_dask import BackboneClassifier
from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.launch.local import local_cluster
from backbone_dask.losses.logistic import Margin
from backbone_dask.store import MemoryStore, write_store
from backbone_dask.testing.literal import least_logistic

N, P, TRUTH = 400, 600, [3, 50, 100, 400]


@parametrize_with_checks([BackboneClassifier(), BackboneClassifier(1, gamma="grid", validation="ebic")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    odds = X[:, TRUTH] @ [3.0, -2.0, 2.0, 1.5]
    return X, np.where(odds + rng.logistic(size=N) > 0, "yes", "no"), odds


def test_the_truth_is_found_with_a_proof(table):
    X, y, _ = table
    model = BackboneClassifier(4).fit(X, y)
    assert model.support_.tolist() == TRUTH
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(X, y) > 0.85
    outcome = model.fits_[0].finding.outcome
    assert outcome.bound <= outcome.objective
    assert outcome.gap <= 1e-4


def test_coefficients_are_those_of_a_ridge_fit_on_the_support(table):
    """scikit-learn's C is gamma on standardised columns; the intercept has no penalty there either."""
    X, y, _ = table
    model = BackboneClassifier(4, gamma=0.05).fit(X, y)
    Z = StandardScaler().fit(X[:, TRUTH])
    reference = LogisticRegression(C=0.05, tol=1e-12, max_iter=10_000).fit(Z.transform(X[:, TRUTH]), y)
    np.testing.assert_allclose(model.coef_[0, TRUTH], reference.coef_[0] / Z.scale_, rtol=1e-4)
    np.testing.assert_allclose(
        model.predict_proba(X), reference.predict_proba(Z.transform(X[:, TRUTH])), rtol=1e-4, atol=1e-6
    )


def test_more_classes_are_fitted_one_against_the_rest(table):
    X, _, odds = table
    y = np.digitize(odds, [-2, 2]) * 10
    model = BackboneClassifier(6, time_limit=3).fit(X, y)
    assert len(model.models_) == 3
    assert model.coef_.shape == (3, P)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (model.classes_[model.decision_function(X).argmax(axis=1)] == model.predict(X)).all()
    binary = BackboneClassifier(6, time_limit=3).fit(X, y == 20)
    np.testing.assert_array_equal(model.models_[2].ids, binary.support_)
    assert model.score(X, y) > 0.6


def test_a_weight_of_two_is_two_samples(table):
    X, y, _ = table
    often = np.random.default_rng(1).integers(0, 3, N)
    twice = np.repeat(np.arange(N), often)
    weighted = BackboneClassifier(4).fit(X, y, sample_weight=often.astype(float))
    repeated = BackboneClassifier(4).fit(X[twice], y[twice])
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-3, atol=1e-4)


def test_class_weights_multiply_sample_weights(table):
    X, y, _ = table
    given = np.random.default_rng(2).random(N)
    by_class = np.where(y == "yes", 3.0, 1.0)
    one = BackboneClassifier(3, class_weight={"yes": 3, "no": 1}).fit(X, y, sample_weight=given)
    other = BackboneClassifier(3).fit(X, y, sample_weight=given * by_class)
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("as_columns", [False, True])
def test_covariates_are_in_the_model_and_hide_nothing(table, as_columns):
    """A strong covariate drowns the features until it is in the model."""
    X, _, odds = table
    rng = np.random.default_rng(3)
    age = rng.normal(50, 10, N)
    y = odds + 0.3 * (age - 50) + rng.logistic(size=N) > 0
    if as_columns:
        X = X.copy()
        X[:, 7] = age
        model = BackboneClassifier(4).fit(X, y, covariates=[7])
        assert model.models_[0].covariates.coefficients[0] == pytest.approx(0.2, abs=0.1)
        assert model.score(X, y) > 0.85
    else:
        model = BackboneClassifier(4).fit(X, y, covariates=age)
        assert model.predict(X, covariates=age).shape == (N,)
        with pytest.raises(InvalidDataError, match="fitted with 1 covariates beside its table"):
            model.predict(X)
    assert model.support_.tolist() == TRUTH


def test_without_an_intercept(table):
    X, y, _ = table
    model = BackboneClassifier(4, fit_intercept=False).fit(X, y)
    assert model.intercept_.tolist() == [0.0]
    assert model.support_.tolist() == TRUTH


def test_stores_paths_and_workers_give_the_same_model(table, tmp_path):
    X, y, _ = table
    labels = (y == "yes").astype(float)
    expected = BackboneClassifier(4).fit(X, labels)
    write_store(MemoryStore(X, targets={"case": labels}), tmp_path / "s.zarr")
    with local_cluster(2):
        for data, target in ((X, labels), (tmp_path / "s.zarr", "case"), (tmp_path / "s.zarr", None)):
            found = BackboneClassifier(4).fit(data, target)
            np.testing.assert_array_equal(found.coef_, expected.coef_)
            np.testing.assert_array_equal(found.intercept_, expected.intercept_)
    np.testing.assert_array_equal(found.predict(tmp_path / "s.zarr"), expected.predict(X))


def test_it_clones_pickles_and_is_searched(table):
    X, y, _ = table
    search = GridSearchCV(BackboneClassifier(), {"n_nonzero": [1, 4]}, cv=2).fit(X[:, :150], y)
    assert search.best_params_ == {"n_nonzero": 4}
    model = make_pipeline(StandardScaler(), clone(search.best_estimator_)).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize("validation", [0.7, 3, "ebic"])
def test_the_size_is_chosen(table, validation):
    X, y, _ = table
    model = BackboneClassifier([1, 2, 4, 20], validation=validation, time_limit=3).fit(X, y)
    (fitted,) = model.fits_
    assert [point.n_nonzero for point in fitted.finding.grid] == [1, 2, 4, 20]
    assert fitted.n_nonzero == 4
    assert model.support_.tolist() == TRUTH


def test_what_was_chosen_is_kept_for_every_model(table):
    X, y, odds = table
    model = BackboneClassifier([1, 4], gamma=0.1, validation="ebic").fit(X, y)
    assert model.n_nonzero_ == (4,)
    assert model.gamma_ == (0.1,)
    assert model.gap_ == (model.fits_[0].finding.outcome.gap,)
    assert [point.n_nonzero for point in model.validation_curve_[0]] == [1, 4]
    several = BackboneClassifier(1).fit(X[:, :60], np.digitize(odds, [-2, 2]))
    assert several.n_nonzero_ == (1, 1, 1)
    assert several.gamma_ == (N**-0.5,) * 3
    assert max(several.gap_) <= 1e-4
    assert several.validation_curve_ == ((), (), ())


PAIRS = [[3, 50], [100, 101], [200, 201], [400, 7]]


def test_features_that_enter_together(table):
    """With the strongest pair in, brute force on all other groups finds none better."""
    X, y, _ = table
    model = BackboneClassifier(2, groups=PAIRS, gamma=0.1).fit(X, y)
    Z, margin = StandardScaler().fit_transform(X).T, Margin.of(np.where(y == "yes", 1.0, -1.0))
    others = [*PAIRS[1:], *([j] for j in range(P) if not np.isin(j, PAIRS))]
    values = [least_logistic(margin, Z[[3, 50, *group]], 0.1) for group in others]
    assert model.support_.tolist() == sorted([3, 50, *others[np.argmin(values)]])
    outcome = model.fits_[0].finding.outcome
    assert outcome.gap <= 1e-4
    assert outcome.objective == pytest.approx(min(values), rel=1e-5)


def test_coefficients_that_are_not_negative(table):
    """The negative one of the truth is missing, and brute force on all swaps of one feature finds none better."""
    X, y, _ = table
    model = BackboneClassifier(3, nonnegative=True, gamma=0.1).fit(X, y)
    assert model.support_.tolist() == [3, 100, 400]
    assert (model.coef_ >= 0).all()
    Z, margin = StandardScaler().fit_transform(X).T, Margin.of(np.where(y == "yes", 1.0, -1.0))
    others = [j for j in range(P) if j not in (3, 100)]
    best = min(least_logistic(margin, Z[[3, 100, j]], 0.1, nonnegative=True) for j in others)
    assert model.fits_[0].finding.outcome.objective == pytest.approx(best, rel=1e-6)


def test_structure_is_kept_by_the_model_of_every_class(table):
    X, _, odds = table
    y = np.digitize(odds, [-2, 2]) * 10
    model = BackboneClassifier(2, groups=PAIRS, nonnegative=True, time_limit=3).fit(X, y)
    assert len(model.models_) == 3
    assert (model.coef_ >= 0).all()
    assert {3, 100} <= set(model.models_[2].ids) <= {3, 50, 100, 101}
    assert model.models_[0].ids.tolist() != model.models_[2].ids.tolist()


@pytest.mark.parametrize("validation", [3, "ebic"])
def test_the_number_of_groups_is_chosen(table, validation):
    X, y, _ = table
    given = {"groups": PAIRS, "validation": validation, "time_limit": 3}
    model = BackboneClassifier([1, 3], gamma=[0.01, 0.1], **given).fit(X, y)
    (fitted,) = model.fits_
    assert len(fitted.finding.grid) == 4
    assert fitted.n_nonzero == 3
    assert model.support_.tolist() == sorted([*PAIRS[0], *PAIRS[1], *PAIRS[3]])


def test_structure_with_weights_covariates_and_workers(table):
    X, _, odds = table
    rng = np.random.default_rng(4)
    age = rng.normal(50, 10, N)
    y = odds + 0.3 * (age - 50) + rng.logistic(size=N) > 0
    extra = {"sample_weight": rng.integers(0, 3, N).astype(float), "covariates": age}
    expected = BackboneClassifier(2, groups=PAIRS, nonnegative=True).fit(X, y, **extra)
    assert {3, 100} <= set(expected.support_) <= {3, 50, 100, 101}
    with local_cluster(2):
        found = BackboneClassifier(2, groups=PAIRS, nonnegative=True).fit(X, y, **extra)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_groups_of_one_are_no_groups(table):
    X, y, _ = table
    plain, grouped = BackboneClassifier(3).fit(X, y), BackboneClassifier(3, groups=np.arange(P)).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, grouped.coef_)


def test_separable_classes_have_a_finite_model(table):
    X, _, odds = table
    model = BackboneClassifier(4, gamma=1e6).fit(X, odds > 0)
    assert np.isfinite(model.coef_).all()
    assert model.score(X, odds > 0) == 1.0


def test_bad_input_is_named(table):
    X, y, _ = table
    with pytest.raises(InvalidDataError, match=r"one class only \(no\)"):
        BackboneClassifier(2).fit(X, np.full(N, "no"))
    with pytest.raises(InvalidDataError, match="only class yes has samples of positive weight"):
        BackboneClassifier(2).fit(X, y, sample_weight=y == "yes")
    with pytest.raises(InvalidDataError, match="class 2 has no sample of positive weight; leave its samples out"):
        BackboneClassifier(2).fit(X, np.arange(N) % 3, sample_weight=np.arange(N) % 3 < 2)
    with pytest.raises(ValueError, match="Unknown label type"):
        BackboneClassifier(2).fit(X, np.random.default_rng(0).normal(size=N))
    with pytest.raises(InvalidSettingError, match="regression"):
        BackboneClassifier(2, subproblem="rounding").fit(X, y)
    with pytest.raises(InvalidSettingError, match="groups and nonnegative need"):
        BackboneClassifier(2, nonnegative=True, subproblem="elastic-net").fit(X, y)


def test_columns_that_are_rare_do_not_crowd_out_those_that_explain_more() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    common = rng.random((400, 5)) < np.where(y, 0.45, 0.15)[:, None]
    rare = np.zeros((400, 1500))
    # Each occurs in two samples of one class: separated, so that its slope is as large as the fit allows.
    rare[200 + rng.integers(0, 200, (2, 1500)), np.arange(1500)] = 1
    model = BackboneClassifier(n_nonzero=5, screen_size=50, executor="serial").fit(np.hstack([rare, common]), y)
    assert model.support_.tolist() == list(range(1500, 1505))
