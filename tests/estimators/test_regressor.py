"""The scikit-learn contract, and what the estimator adds to it."""

from __future__ import annotations

import copy
import pickle

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from backbone_dask import BackboneRegressor, open_store, write_store
from backbone_dask.errors import InvalidDataError, InvalidSettingError, UnknownNameError
from backbone_dask.launch.local import local_cluster
from backbone_dask.store import MemoryStore, Recipe, VirtualStore


@parametrize_with_checks([BackboneRegressor(), BackboneRegressor(n_nonzero=1, sampling="covering")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


RELEVANT = np.array([3, 40, 77])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(2.0, 3.0, (150, 200))
    y = 7.0 + X[:, RELEVANT] @ [2.0, -1.5, 1.0] + rng.normal(0, 0.1, 150)
    return X, y


def test_coefficients_are_in_the_units_of_the_data(data):
    X, y = data
    model = BackboneRegressor(3, gamma=1e3).fit(X, y)
    np.testing.assert_array_equal(model.support_, RELEVANT)
    np.testing.assert_allclose(model.coefficients_, [2.0, -1.5, 1.0], atol=0.02)
    assert model.intercept_ == pytest.approx(7.0, abs=0.1)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_)


def test_weights_equal_a_ridge_fit_on_the_support(data):
    X, y = data
    gamma = 0.01
    model = BackboneRegressor(3, gamma=gamma).fit(X, y)
    Z = (X[:, model.support_] - X[:, model.support_].mean(0)) / X[:, model.support_].std(0)
    ridge = Ridge(alpha=1 / gamma, fit_intercept=False).fit(Z, y - y.mean())
    np.testing.assert_allclose(model.coefficients_ * X[:, model.support_].std(0), ridge.coef_, rtol=1e-5)


def test_every_kind_of_table_gives_the_same_model(data, tmp_path):
    X, y = data
    names = [f"feature {j}" for j in range(X.shape[1])]
    write_store(MemoryStore(X, targets={"y": y}, names=names), tmp_path / "s.zarr")
    expected = BackboneRegressor(3).fit(X, y)
    tables = [
        np.asfortranarray(X),
        pd.DataFrame(X, columns=names),
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        da.from_array(X, chunks=(40, 33)),
        MemoryStore(X),
        tmp_path / "s.zarr",
        str(tmp_path / "s.zarr"),
        open_store(tmp_path / "s.zarr"),
    ]
    for table in tables:
        model = BackboneRegressor(3).fit(table, y)
        np.testing.assert_array_equal(model.support_, expected.support_)
        np.testing.assert_array_equal(model.coefficients_, expected.coefficients_)
        np.testing.assert_allclose(model.predict(table), expected.predict(X), rtol=1e-12)


def test_a_store_brings_its_own_target():
    store = VirtualStore(Recipe(kind="linear", n_samples=300, n_features=2000, n_relevant=4, rho=0.5, snr=5.0))
    model = BackboneRegressor(4).fit(store)
    np.testing.assert_array_equal(model.support_, store.truth.ids)
    with pytest.raises(InvalidDataError, match="no target 'z'; it has: y"):
        BackboneRegressor(4).fit(store, "z")


def test_names_of_a_frame_are_kept_and_checked(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(200)])
    model = BackboneRegressor(3).fit(frame, y)
    assert model.model_.names == ("gene 3", "gene 40", "gene 77")
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])


def test_constant_columns_are_counted_and_never_chosen(data):
    X, y = data
    X = X.copy()
    X[:, [0, 50, 199]] = [0.0, 0.1, 1e6]
    model = BackboneRegressor(150, backbone_max=200, time_limit=2).fit(X, y)
    assert model.n_constant_ == 3
    assert not {0, 50, 199} & {*model.support_, *model.backbone_}


def test_all_columns_constant_is_an_error(data):
    with pytest.raises(InvalidDataError, match="all 5 features are constant"):
        BackboneRegressor().fit(np.ones((150, 5)), data[1])


def test_missing_values_follow_the_policy(data):
    X, y = data
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.02] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        BackboneRegressor(3).fit(holes, y)
    with pytest.raises(InvalidDataError, match=r"feature .* contains NaN"):
        BackboneRegressor(3).fit(MemoryStore(holes), y)
    model = BackboneRegressor(3, missing="mean").fit(holes, y)
    np.testing.assert_array_equal(model.support_, RELEVANT)
    assert np.isfinite(model.predict(holes)).all()


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"n_nonzero": 151}, "only 150 samples"),
        ({"n_nonzero": 201}, "only 200 features"),
        ({"n_nonzero": 0}, "at least 1"),
        ({"gamma": -1.0}, "gamma"),
        ({"screen_size": 2, "n_nonzero": 3}, "screen_size"),
        ({"subproblem_fraction": 1.5}, "subproblem_fraction"),
        ({"n_subproblems": -1}, "n_subproblems"),
        ({"backbone_max": 2, "n_nonzero": 3}, "backbone_max"),
        ({"executor": "cloud"}, "executor"),
        ({"executor": "dask"}, "active dask.distributed Client"),
    ],
)
def test_bad_settings_are_refused_with_a_sentence(data, setting, words):
    with pytest.raises(InvalidSettingError, match=words):
        BackboneRegressor(**setting).fit(*data)


def test_unknown_sampling_lists_what_there_is(data):
    with pytest.raises(UnknownNameError, match=r"did you mean 'uniform'.*covering, exponential"):
        BackboneRegressor(sampling="unifrom").fit(*data)


@pytest.mark.parametrize(
    ("y", "words"),
    [(np.zeros(150), "constant"), (np.ones(149), "inconsistent|149"), (np.full(150, np.nan), "NaN")],
)
def test_bad_targets_are_refused(data, y, words):
    with pytest.raises(ValueError, match=words):
        BackboneRegressor(3).fit(data[0], y)


def test_target_of_the_wrong_length_for_a_store(data):
    with pytest.raises(InvalidDataError, match=r"y has shape \(7,\), the table has 150 samples"):
        BackboneRegressor(3).fit(MemoryStore(data[0]), np.arange(7.0))


def test_second_fit_forgets_the_first(data):
    X, y = data
    model = BackboneRegressor(3).fit(X, y)
    again = BackboneRegressor(3).fit(X[:, :60], y)
    model.fit(X[:, :60], y)
    np.testing.assert_array_equal(model.support_, again.support_)
    assert model.coef_.shape == (60,)


def test_clone_pickle_and_copy(data):
    model = BackboneRegressor(3).fit(*data)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(twin.predict(data[0]), model.predict(data[0]))
    assert not hasattr(clone(model), "support_")


def test_grid_search_and_pipeline(data):
    X, y = data
    search = GridSearchCV(BackboneRegressor(time_limit=2), {"n_nonzero": [1, 3]}, cv=3).fit(X, y)
    assert search.best_params_ == {"n_nonzero": 3}
    score = make_pipeline(StandardScaler(), BackboneRegressor(3)).fit(X, y).score(X, y)
    assert score > 0.99


def test_a_feature_that_a_store_lacks_is_named(data):
    X, y = data
    model = BackboneRegressor(3).fit(MemoryStore(X, names=[f"g{j}" for j in range(200)]), y)
    with pytest.raises(InvalidDataError, match="lacks 3 of the model's features: g3, g40, g77"):
        model.predict(MemoryStore(X[:, :2], names=["a", "b"]))


def test_whole_numbers_in_memory_mean_themselves():
    """255 and -128 are codes of a store, not of a table that somebody has in memory."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (200, 30)).astype(np.uint8)
    X[:60, 4] = 255
    y = 2.0 * X[:, 4] + rng.normal(size=200)
    refuse, mean = (BackboneRegressor(1, missing=policy, gamma=100.0).fit(X, y) for policy in ("refuse", "mean"))
    np.testing.assert_array_equal(refuse.coefficients_, mean.coefficients_)
    assert mean.score(X, y) > 0.999


def _support(X, y):
    return BackboneRegressor(2).fit(X, y).support_


def test_inside_a_dask_task_the_fit_is_serial(data):
    """Otherwise the task waits for ever for the worker that it keeps busy."""
    X, y = data
    with local_cluster(1) as client:
        futures = [client.submit(_support, X, y, pure=False) for _ in range(3)]
        for found in client.gather(futures):
            np.testing.assert_array_equal(found, _support(X, y))
        with pytest.raises(InvalidSettingError, match="inside a Dask task"):
            client.submit(BackboneRegressor(2, executor="dask").fit, X, y).result()


@pytest.mark.parametrize("factor", [1e-170, 1e160])
def test_targets_whose_squares_are_no_numbers_are_refused(data, factor):
    with pytest.raises(InvalidDataError, match="rescale"):
        BackboneRegressor(2).fit(data[0], data[1] * factor)


def test_columns_too_small_for_a_coefficient_count_as_constant(data):
    X = data[0].copy()
    X[:, 3] *= 1e-300
    model = BackboneRegressor(3).fit(X, data[1] * 1e90)
    assert model.n_constant_ == 1
    assert np.isfinite(model.coefficients_).all()


@pytest.mark.parametrize("random_state", [None, 7, np.random.RandomState(0)])
def test_every_kind_of_random_state(data, random_state):
    np.testing.assert_array_equal(BackboneRegressor(3, random_state=random_state).fit(*data).support_, RELEVANT)


@pytest.mark.parametrize("name", ["time_limit", "n_subproblems", "subproblem_fraction", "backbone_max"])
def test_none_is_refused_where_it_means_nothing(data, name):
    with pytest.raises(InvalidSettingError, match=name):
        BackboneRegressor(3, **{name: None}).fit(*data)
