"""The two classes of a logistic model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.problems.classes import weigh_classes
from backbone_dask.problems.extras import Extras
from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.settings import Settings
from backbone_dask.store import MemoryStore

N, P = 80, 15


def ready(y, **extras):
    X = np.random.default_rng(0).normal(size=(N, P))
    return prepare(MemoryStore(X), y, Settings(n_nonzero=2), task="classification", extras=Extras(**extras))


@pytest.mark.parametrize(
    ("y", "weights", "complaint"),
    [
        (np.arange(N) % 2, np.arange(N) % 2, "only class 1 has samples of positive weight"),
        (np.ones(N), None, "y holds one class only"),
    ],
)
def test_one_class_is_refused_before_anything_starts(y, weights, complaint):
    with pytest.raises(InvalidDataError, match=complaint):
        ready(y, sample_weight=weights)


def test_balanced_classes_have_the_same_total_weight():
    """Sample weights count: a weight of two is two samples, as in scikit-learn."""
    rng = np.random.default_rng(0)
    labels, often = rng.choice(["a", "b", "c"], N, p=[0.6, 0.3, 0.1]), rng.integers(0, 4, N)
    weights = weigh_classes("balanced", labels, often)
    np.testing.assert_allclose([weights[labels == each].sum() for each in "abc"], often.sum() / 3)
    repeated = np.repeat(np.arange(N), often)
    by_class = compute_sample_weight("balanced", labels[repeated])
    np.testing.assert_allclose(weights[repeated] / often[repeated], by_class)
    np.testing.assert_allclose(weigh_classes("balanced", np.array(["a", "a", "b"]), [1, 0, 0]), [1, 0, 0])


def test_weights_of_some_classes():
    assert weigh_classes({"a": 3, "z": 1, "b": 1}, np.array(["a", "b"]), None).tolist() == [3, 1]
    assert weigh_classes({True: 2}, np.array([True, False]), [1, 5]).tolist() == [2, 5]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({True: -2}, "class_weight of True is -2; it must be a number, 0 or more"),
        ({True: "much"}, "class_weight of True is 'much'"),
        ({"yes": 2}, "class_weight names 'yes', which is no class of y"),
        ("balance", "class_weight is 'balance'; use 'balanced'"),
        (2.0, "class_weight is 2.0; use 'balanced'"),
    ],
)
def test_bad_class_weights_are_named(given, complaint):
    with pytest.raises(InvalidSettingError, match=complaint):
        weigh_classes(given, np.array([True, False]), None)


def test_a_class_without_weight_is_as_if_it_were_not_there():
    X = np.random.default_rng(0).normal(size=(N, P))
    y = np.where(X[:, 4] > 0, 7.0, 5.0)
    y[:10] = 6.0
    counted = y != 6
    whole = fit_sparse(ready(y, sample_weight=counted * 1.0), SerialExecutor()).model
    store, settings = MemoryStore(X[counted]), Settings(n_nonzero=2, gamma=N**-0.5)
    alone = fit_sparse(prepare(store, y[counted], settings, task="classification"), SerialExecutor()).model
    assert whole.classes == alone.classes == (5.0, 7.0)
    assert 4 in whole.ids
    np.testing.assert_array_equal(whole.ids, alone.ids)
