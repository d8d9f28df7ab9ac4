"""Features that enter together, and coefficients that are not negative, from the table to the model."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import nnls

from backbone_dask import BackboneClassifier, BackboneRegressor
from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.groups import find_groups
from backbone_dask.store import MemoryStore

N, P = 200, 60
LISTS = [[3, 50], [10, 11, 12], [20, 40]]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    return X, X[:, [3, 50, 20, 40]] @ [2.0, -1.0, 1.5, 0.4] + rng.normal(size=N)


def groups(given, nonnegative=False):
    return find_groups(given, MemoryStore(np.random.default_rng(0).normal(size=(5, P))), nonnegative=nonnegative)


def test_a_set_of_features_is_completed_by_groups():
    found = groups(LISTS)
    assert found.closed(np.array([0, 11, 50])).tolist() == [0, 3, 10, 11, 12, 50]
    assert found.closed(np.array([], np.int64)).tolist() == []
    structure = found.structure(np.array([0, 3, 10, 11, 12, 50]))
    assert structure.n_groups == 3
    assert structure.groups[1] == structure.groups[5]
    assert np.unique(structure.groups[[2, 3, 4]]).size == 1


def test_labels_and_lists_say_the_same():
    labels = np.arange(P) + 100
    for number, members in enumerate(LISTS):
        labels[members] = number
    one, other = groups(labels), groups(LISTS)
    np.testing.assert_array_equal(one.members, other.members)
    ids = np.array([3, 10, 20, 30, 40, 50])
    for structure in (one.structure(ids), other.structure(ids)):
        same = [(a, b) for a, b in combinations(range(6), 2) if structure.groups[a] == structure.groups[b]]
        assert same == [(0, 5), (2, 4)]


def test_whole_groups_are_found(table):
    """The weak member of a group would not be chosen alone."""
    X, y = table
    model = BackboneRegressor(2, groups=LISTS).fit(X, y)
    assert model.support_.tolist() == [3, 20, 40, 50]
    assert model.gap_ <= 1e-4
    assert BackboneRegressor(3).fit(X, y).support_.tolist() == [3, 20, 50]


def test_groups_of_one_are_no_groups(table):
    plain, grouped = BackboneRegressor(4).fit(*table), BackboneRegressor(4, groups=np.arange(P)).fit(*table)
    np.testing.assert_array_equal(plain.coef_, grouped.coef_)


def test_no_coefficient_is_negative_and_the_best_support_is_found(table):
    """Brute force: non-negative ridge on every pair of features."""
    X, y = table
    model = BackboneRegressor(2, nonnegative=True, gamma=0.1).fit(X, y)
    Z = (X - X.mean(0)) / X.std(0)
    t = y - y.mean()

    def objective(pair):
        rows = np.vstack([Z[:, pair], np.eye(2) / np.sqrt(0.1)])
        return nnls(rows, np.concatenate([t, [0, 0]]))[1] ** 2 / 2

    best = min(combinations(range(P), 2), key=lambda pair: objective(list(pair)))
    assert model.support_.tolist() == list(best)
    assert (model.coefficients_ > 0).all()
    assert model.objective_ == pytest.approx(objective(list(best)), rel=1e-5)


def test_groups_with_covariates_weights_and_workers(table):
    X, y = table
    rng = np.random.default_rng(1)
    extra = {"sample_weight": rng.random(N), "covariates": rng.normal(size=(N, 2))}
    expected = BackboneRegressor(2, groups=LISTS, nonnegative=True).fit(X, y, **extra)
    assert (expected.coefficients_ > 0).all()
    with local_cluster(2):
        found = BackboneRegressor(2, groups=LISTS, nonnegative=True).fit(X, y, **extra)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_names_work_as_well_as_ids(table):
    X, y = table
    names = [f"gene {j}" for j in range(P)]
    store = MemoryStore(X, names=names, targets={"y": y})
    by_name = BackboneRegressor(2, groups=[[names[j] for j in group] for group in LISTS]).fit(store)
    np.testing.assert_array_equal(by_name.support_, BackboneRegressor(2, groups=LISTS).fit(X, y).support_)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ([[1, 2], [2, 3]], "feature 2 is in two groups"),
        (np.arange(3), "one for each of the 60 features"),
        ([[1, 99]], "no feature 99"),
        ([["x1", 2]], "mixes names and ids"),
        ([[0.5, 1]], "a group holds 0.5; an id is a whole number"),
        ([[True, 9]], "a group holds True"),
        ([np.array([1.0, 2.0])], "a group holds .*1.0"),
        ([np.array([True, False])], "a group holds .*True"),
        ([[None, 1]], "a group holds None"),
        ([None] * P, "a group is called None; give every feature a number or a word"),
        ([np.nan] * P, "a group is called nan"),
    ],
)
def test_bad_groups_are_named(given, complaint):
    with pytest.raises(InvalidDataError, match=complaint):
        groups(given)


def test_labels_may_be_words_or_both():
    words = np.array(["a", "b"] + ["c"] * (P - 2), object)
    assert groups(words).members.tolist() == groups(words.astype(str)).members.tolist() == list(range(2, P))
    assert groups([1, "b"] + ["c"] * (P - 2)).members.tolist() == list(range(2, P))
    assert groups([np.array([3, 4], np.int8)]).members.tolist() == [3, 4]


@pytest.mark.parametrize("estimator", [BackboneRegressor, BackboneClassifier])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_ridge_of_subproblems_is_not_that_of_the_model(table, estimator, nonnegative):
    X, y = table
    given = {"nonnegative": nonnegative, "gamma": 0.001}
    one = estimator(2, **given).fit(X, y > 0)
    other = estimator(2, **given, subproblem_gamma=10).fit(X, y > 0)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6)


def test_what_does_not_go_together_is_refused(table):
    wrong = {"subproblem": "elastic-net", "subproblem_size": "grid", "subproblem_gamma": "grid", "sample_fraction": 0.5}
    for name, value in wrong.items():
        with pytest.raises(InvalidSettingError, match=f"groups and nonnegative need .*{name}"):
            BackboneRegressor(2, nonnegative=True, **{name: value}).fit(*table)
