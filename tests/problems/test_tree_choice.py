"""Depth, bucket and complexity are chosen on samples that nothing has seen; and what bad input gives."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask import BackboneTreeClassifier
from backbone_dask.errors import InvalidDataError
from backbone_dask.problems.tree_choice import best_goal, draw_trainings
from backbone_dask.testing.tree_cases import labels_of
from backbone_dask.trees.goal import Goal
from backbone_dask.values import TreePoint

CHEAP = {"n_starts": 1, "search_width": 4, "n_subproblems": 2}
ONE_GOAL = {"min_bucket": 1, "complexity": 0.01}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(180, 60))
    y = (X[:, 4] > 0) * 1 + (X[:, 40] > 0.5)
    return X, np.where(rng.random(180) < 0.15, rng.integers(0, 3, 180), y)


@pytest.mark.parametrize("validation", [0.7, 3])
def test_errors_are_those_of_a_fit_that_has_not_seen_the_samples(table, validation):
    """The literal version: leave the samples out, fit, predict them."""
    X, y = table
    settings = {**CHEAP, **ONE_GOAL, "screen_size": 30}
    model = BackboneTreeClassifier([1, 3], validation=validation, **settings).fit(X, y)
    trainings = draw_trainings(labels_of(y), validation, 0)
    expected = []
    for training in trainings:
        alone = BackboneTreeClassifier(3, **settings).fit(X[training], y[training])
        expected.append(float(np.mean(alone.predict(X[~training]) != y[~training])))
    point = next(point for point in model.validation_curve_ if point.depth == 3)
    assert point.errors == pytest.approx(tuple(expected))


def test_errors_are_weighted(table):
    X, y = table
    weights = np.random.default_rng(12).integers(0, 3, 180).astype(float)
    settings = {**CHEAP, **ONE_GOAL, "screen_size": 30}
    model = BackboneTreeClassifier([1, 3], **settings).fit(X, y, sample_weight=weights)
    (training,) = draw_trainings(labels_of(y), 0.7, 0)
    alone = BackboneTreeClassifier(3, **settings).fit(X, y, sample_weight=np.where(training, weights, 0.0))
    wrong = (alone.predict(X) != y)[~training]
    expected = weights[~training] @ wrong / weights[~training].sum()
    assert model.validation_curve_[1].errors == (pytest.approx(expected),)


def test_the_curve_has_every_goal_and_the_best_is_taken(table):
    model = BackboneTreeClassifier([1, 2], min_bucket=[1, 9], complexity=[0.001, 0.1], **CHEAP).fit(*table)
    goals = [(point.depth, point.min_bucket, point.complexity) for point in model.validation_curve_]
    assert goals == [(d, b, c) for d in (1, 2) for b in (1.0, 9.0) for c in (0.001, 0.1)]
    best = best_goal(model.validation_curve_)
    assert (model.depth_, model.min_bucket_, model.complexity_) == (best.depth, best.min_bucket, best.complexity)
    assert model.depth_ == 2
    assert model.tree_.tree.depth <= 2


def test_noise_is_not_taken_for_signal():
    rng = np.random.default_rng(13)
    X, y = rng.normal(size=(150, 300)), (rng.random(150) < 0.3).astype(int)
    model = BackboneTreeClassifier(4, complexity=[0.0, 0.2], min_bucket=1, validation=3, **CHEAP).fit(X, y)
    assert model.complexity_ == 0.2
    assert model.support_.size == 0


def test_of_equal_errors_the_dearest_splits_the_least_depth_the_largest_buckets():
    curve = [
        TreePoint(depth, bucket, complexity, (0.25, 0.25))
        for depth in (2, 3)
        for bucket in (1.0, 5.0)
        for complexity in (0.01, 0.02)
    ]
    assert best_goal(tuple(curve)) == Goal(2, 5.0, 0.02)
    assert best_goal((*curve, TreePoint(9, 1.0, 0.0, (0.2, 0.2)))) == Goal(9, 1.0, 0.0)
    assert best_goal((*curve, TreePoint(9, 1.0, 0.0, (0.0, 0.4)))) == Goal(9, 1.0, 0.0)


@pytest.mark.parametrize(("validation", "count"), [(0.7, 1), (0.25, 1), (5, 5)])
def test_every_sample_validates_at_most_once_and_classes_keep_their_shares(validation, count):
    classes = np.repeat([0, 1, 2], [60, 35, 8])
    found = draw_trainings(labels_of(classes), validation, 3)
    assert len(found) == count
    left_out = ~np.array(found)
    assert left_out.sum(axis=0).max() == 1
    share = 1 / 5 if count == 5 else 1 - validation
    for each in left_out:
        for label, size in enumerate((60, 35, 8)):
            assert abs(each[classes == label].sum() - share * size) <= 1
    if count == 5:
        assert left_out.any(axis=0).all()
    assert not np.array_equal(found[0], draw_trainings(labels_of(classes), validation, 4)[0])
    np.testing.assert_array_equal(found, draw_trainings(labels_of(classes), validation, 3))


def refused(words, X, y, *, sample_weight=None, **settings):
    with pytest.raises(InvalidDataError, match=words):
        BackboneTreeClassifier(**{"depth": 2, **CHEAP, **settings}).fit(X, y, sample_weight=sample_weight)


def test_what_cannot_be_fitted_is_refused_with_one_sentence(table):
    X, y = table
    refused(r"y holds one class only \(0\)", X, np.zeros(180, int))
    refused("y holds one class only", X, y, sample_weight=(y == 0).astype(float))
    refused("y holds one class only", X, y, sample_weight=(y == 0).astype(float), screen="none", **ONE_GOAL)
    refused("all 4 features are constant; there is nothing to fit", np.ones((180, 4)), y)
    refused("all 4 features are constant", np.ones((180, 4)), y, screen="none")
    refused("a logistic screen takes two classes", X, y, screen="logistic")
    refused("every sample_weight is zero", X, y, sample_weight=np.zeros(180))
    refused("sample_weight is -1 at sample 0; it must be 0 or more", X, y, sample_weight=-np.ones(180))
    refused("a training set holds one class only; use fewer folds, or give depth", X[:2], [0, 1])
    weights = np.zeros(180)
    weights[[int(np.flatnonzero(y == 0)[0]), int(np.flatnonzero(y == 1)[0])]] = 1
    refused(
        "no sample of positive weight; use fewer folds|holds one class only", X, y, sample_weight=weights, validation=5
    )


def test_classes_of_one_sample(table):
    X, y = table
    model = BackboneTreeClassifier(2, **CHEAP).fit(X, np.where(np.arange(180) == 17, 9, y))
    assert model.classes_.tolist() == [0, 1, 2, 9]
    assert model.predict_proba(X).shape == (180, 4)
    few = BackboneTreeClassifier(2, **CHEAP, **ONE_GOAL).fit(X[:5], np.arange(5))
    assert few.score(X[:5], np.arange(5)) >= 0.6


def test_two_samples_and_one_goal(table):
    X, _ = table
    model = BackboneTreeClassifier(2, **CHEAP, **ONE_GOAL).fit(X[:2], ["a", "b"])
    assert model.predict(X[:2]).tolist() == ["a", "b"]
    assert model.termination_ == "proven"


def test_more_classes_than_leaves(table):
    X, _ = table
    y = np.digitize(X[:, 4], [-1, -0.3, 0.3, 1])
    model = BackboneTreeClassifier(1, **CHEAP, **ONE_GOAL).fit(X, y)
    assert len(set(model.predict(X))) == 2
    heaviest = np.sort(np.bincount(y))[-2:].sum() / 180
    assert 0.3 < model.score(X, y) <= heaviest
    assert model.bound_ == pytest.approx(1 - heaviest + 0.01)


@pytest.mark.parametrize("settings", [{}, ONE_GOAL], ids=["chosen", "given"])
def test_depth_zero_is_the_heaviest_class(table, settings):
    X, y = table
    model = BackboneTreeClassifier(0, **CHEAP, **settings).fit(X, y)
    assert model.get_n_leaves() == 1
    assert set(model.predict(X)) == {np.bincount(y).argmax()}
    np.testing.assert_allclose(model.predict_proba(X)[0], np.bincount(y) / 180)
    assert model.termination_ == "proven"


def test_columns_that_are_equal(table):
    X, _ = table
    same = np.repeat(X[:, 4:5], 6, axis=1)
    model = BackboneTreeClassifier(1, **CHEAP, **ONE_GOAL).fit(same, X[:, 4] > 0)
    assert model.support_.size == 1
    assert model.score(same, X[:, 4] > 0) == 1.0


def test_strings_and_truth_values_are_labels(table):
    X, _ = table
    for labels in (np.array(["no", "yes"]), np.array([False, True]), np.array([-3, 8]), np.array(["b", "a"], object)):
        y = labels[(X[:, 4] > 0).astype(int)]
        model = BackboneTreeClassifier(1, **CHEAP, **ONE_GOAL).fit(X, y)
        assert model.predict(X).dtype == y.dtype
        np.testing.assert_array_equal(model.predict(X), y)
