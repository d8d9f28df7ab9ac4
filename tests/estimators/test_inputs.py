"""Tables and targets of every library give the bits that numpy gives; what is no table is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression
from tables import EAGER, LAZY, NAMED, SPARSE, TARGETS, data_array, named, stored

from backbone_dask import (
    Backbone,
    BackboneClassifier,
    BackboneRegressor,
    BackboneSelector,
    BackboneTreeClassifier,
    open_store,
    screen,
)
from backbone_dask.errors import InvalidDataError

N, P = 90, 40
CHEAP = {"n_subproblems": 2, "backbone_max": 20}
MODELS = {
    "regressor": BackboneRegressor(2, **CHEAP),
    "classifier": BackboneClassifier(2, **CHEAP),
    "tree": BackboneTreeClassifier(2, min_bucket=1, complexity=0.01, n_starts=1, search_width=4, **CHEAP),
    "backbone": Backbone(Lasso(alpha=0.3), LinearRegression(), **CHEAP),
}
OF_CLASSES = ("classifier", "tree")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    # Many zeros, for the sparse kinds.
    X = np.where(rng.random((N, P)) < 0.6, 0.0, rng.normal(1.0, 3.0, (N, P)))
    return X, 2 * X[:, 3] - 1.5 * X[:, 20] + rng.normal(0, 0.5, N)


@pytest.fixture(scope="module")
def path(data, tmp_path_factory):
    X, y = data
    return stored(X, y, tmp_path_factory.mktemp("inputs") / "s.zarr")


def target_of(name, y):
    return (y > 1).astype(int) if name in OF_CLASSES else y


@pytest.fixture(scope="module")
def expected(data):
    X, y = data
    return {name: fitted(name, X, target_of(name, y)) for name in MODELS}


def fitted(name, X, y):
    return clone(MODELS[name]).fit(X, y)


def agrees(model, expected, table, X, y):
    np.testing.assert_array_equal(model.support_, expected.support_)
    np.testing.assert_array_equal(model.predict(table), expected.predict(X))
    assert model.score(table, y) == expected.score(X, y)
    assert model.n_features_in_ == P


@pytest.mark.parametrize("kind", [*EAGER, *LAZY])
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_table_gives_the_same_bits(data, expected, name, kind):
    X, y = data[0], target_of(name, data[1])
    table = {**EAGER, **LAZY}[kind](X)
    model = fitted(name, table, y)
    agrees(model, expected[name], table, X, y)
    assert hasattr(model, "feature_names_in_") == (kind in NAMED)
    if kind in NAMED:
        assert model.feature_names_in_.tolist() == named(X)


@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
@pytest.mark.parametrize("kind", SPARSE)
def test_every_sparse_format_gives_the_same_bits(data, expected, kind):
    X, y = data
    table = SPARSE[kind](X)
    for name in ("regressor", "backbone"):
        agrees(fitted(name, table, y), expected[name], table, X, y)


@pytest.mark.parametrize("name", MODELS)
def test_a_store_and_its_path_give_the_same_bits_and_keep_no_list_of_names(data, expected, path, name):
    X, y = data[0], target_of(name, data[1])
    for table in (path, str(path), open_store(path)):
        model = fitted(name, table, y)
        agrees(model, expected[name], table, X, y)
        assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("words", [False, True])
def test_every_kind_of_target_gives_the_same_bits(data, kind, words):
    X, y = data
    if words:
        labels = np.where(y > 1, "yes", "no")
        expected, model = (BackboneClassifier(2, **CHEAP).fit(X, each) for each in (labels, TARGETS[kind](labels)))
        assert model.score(X, TARGETS[kind](labels)) == expected.score(X, labels)
    else:
        expected, model = (BackboneRegressor(2, **CHEAP).fit(X, each) for each in (y, TARGETS[kind](y)))
        assert model.score(X, TARGETS[kind](y)) == expected.score(X, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)


@pytest.mark.parametrize("kind", [*EAGER, *LAZY, "csr array"])
def test_the_screen_takes_them_too(data, kind):
    X, y = data
    table = {**EAGER, **LAZY, **SPARSE}[kind](X)
    (expected,), (found,) = (screen(each, y, keep=7).values() for each in (X, table))
    np.testing.assert_array_equal(found.candidates, expected.candidates)
    np.testing.assert_array_equal(found.utilities, expected.utilities)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pl.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}).lazy(), r"LazyFrame .*collect\(\)"),
        (xr.Dataset({"dose": ("person", [1.0, 2.0])}), r"Dataset holds several arrays; give one of them: 'dose'"),
        (xr.DataArray(np.zeros((2, 2, 2)), dims=["x", "y", "z"]), "has the dimensions x, y, z"),
        (xr.DataArray(np.zeros(4), dims=["x"]), "has the dimensions x"),
        (pl.DataFrame({"a": [1.0, 2.0], "town": ["Rome", "Oslo"]}), "column 'town' is String, not numeric"),
    ],
)
def test_what_is_no_table_is_refused_with_what_to_do(table, words):
    for use in (BackboneRegressor().fit, BackboneSelector().fit, screen):
        with pytest.raises(InvalidDataError, match=words):
            use(table, [1.0, 2.0])


@pytest.mark.parametrize("kind", NAMED)
def test_other_names_are_refused_as_scikit_learn_does(data, expected, kind):
    X, y = data
    model = BackboneRegressor(2, **CHEAP).fit(data_array(X), y)
    np.testing.assert_array_equal(model.predict({**EAGER, **LAZY}[kind](X)), expected["regressor"].predict(X))
    reordered = {**EAGER, **LAZY}[kind](X[:, ::-1])
    renamed = reordered[:, ::-1] if "xarray" in kind else reordered[reordered.columns[::-1]]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(renamed)


@pytest.mark.parametrize("kind", ["fortran", "dask", "polars"])
def test_another_number_of_columns_is_refused(data, kind):
    X, y = data
    table = {**EAGER, **LAZY}[kind]
    model = BackboneRegressor(2, **CHEAP).fit(table(X), y)
    with pytest.raises(ValueError, match=r"39 features|feature names"):
        model.predict(table(X[:, :39]))


def test_a_column_called_dask_makes_no_lazy_table(data, expected):
    X, y = data
    frame = pd.DataFrame(X, columns=["dask", *named(X)[1:]])
    agrees(BackboneRegressor(2, **CHEAP).fit(frame, y), expected["regressor"], frame, X, y)


def test_a_column_of_a_dask_frame_is_no_table(data):
    X, y = data
    with pytest.raises(InvalidDataError, match=r"samples x features is needed, not an array of shape \(90,\)"):
        BackboneRegressor(2).fit(LAZY["dask frame"](X)["gene 3"], y)


def test_names_of_a_store_are_looked_up_in_a_frame(data, expected, path):
    """A frame may have the columns in another order, and more of them."""
    X, y = data
    model = BackboneRegressor(2, **CHEAP).fit(path, y)
    frame = pd.DataFrame(X, columns=named(X)).assign(more=1.0)
    np.testing.assert_array_equal(model.predict(frame[frame.columns[::-1]]), expected["regressor"].predict(X))


def test_a_second_fit_forgets_the_names_of_the_first(data, path):
    X, y = data
    model = BackboneRegressor(2, **CHEAP).fit(data_array(X), y)
    for unnamed in (X, path, LAZY["dask"](X)):
        assert not hasattr(model.fit(unnamed, y), "feature_names_in_")
        assert hasattr(model.fit(data_array(X), y), "feature_names_in_")


@pytest.mark.parametrize("kind", ["fortran", "dask"])
def test_a_table_without_a_target_is_refused(data, kind):
    table = {**EAGER, **LAZY}[kind](data[0])
    for y, words in ((None, "requires y"), ("dose", "y is the word 'dose'")):
        with pytest.raises(InvalidDataError, match=words):
            BackboneRegressor().fit(table, y)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["fortran", "dask"])
def test_a_model_of_a_store_refuses_an_array_of_another_width(data, path, name, kind):
    """Columns without names are found by their places, which mean nothing in another table."""
    X, y = data
    model = fitted(name, path, target_of(name, y))
    table = {**EAGER, **LAZY}[kind]
    np.testing.assert_array_equal(model.predict(table(X)), model.predict(path))
    for width in (P - 1, P + 1):
        wrong = np.resize(X, (N, width))
        with pytest.raises(
            InvalidDataError, match=f"X has {width} features, but {type(model).__name__} is expecting 40"
        ):
            model.predict(table(wrong))


def test_a_selector_of_a_store_refuses_an_array_of_another_width(data, path):
    X, y = data
    selector = BackboneSelector(MODELS["regressor"]).fit(path, y)
    with pytest.raises(InvalidDataError, match="X has 30 features, but BackboneSelector is expecting 40"):
        selector.transform(X[:, :30])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_a_store_looks_only_at_the_columns_that_it_needs(data, path, name, make):
    X, y = data
    model = fitted(name, path, target_of(name, y))
    columns = dict(zip(named(X), X.T, strict=True))
    np.testing.assert_array_equal(model.predict(make({"town": ["Rome"] * N, **columns})), model.predict(path))
    needed = named(X)[model.support_[0]]
    with pytest.raises(InvalidDataError, match=f"column '{needed}' is .*, not numeric"):
        model.predict(make({**columns, needed: ["Rome"] * N}))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(
    ("kind", "called"),
    [("fortran", "feature 7"), ("lists", "feature 7"), ("csc array", "feature 7"), ("csr matrix", "feature 7")]
    + [(kind, r"feature 7 \('gene 7'\)") for kind in ("pandas", "polars", "xarray", "dask frame")],
)
def test_what_is_no_number_is_refused_by_its_column(data, kind, called, value):
    X, y = data[0].copy(), data[1]
    make = {**EAGER, **LAZY, **SPARSE}[kind]
    model, words = BackboneRegressor(2, **CHEAP).fit(make(X), y), "contains infinity; replace it"
    X[[4, 9], 7] = value
    if np.isnan(value):
        words = r"contains NaN in 2 of 90 samples; declare missing='mean' \(--missing mean\)"
    uses = [BackboneRegressor(2).fit, BackboneSelector().fit]
    selector = BackboneSelector(clone(model)).fit(make(data[0]), y)
    later = [] if kind == "dask frame" else [lambda X, y: model.predict(X), lambda X, y: selector.transform(X)]
    for use in [*uses, *later]:
        with pytest.raises(InvalidDataError, match=f"{called} {words}"):
            use(make(X), y)


@pytest.mark.parametrize("make", [np.asarray, SPARSE["csc array"], pd.DataFrame])
def test_infinity_is_refused_among_missing_values(data, make):
    X, y = data[0].copy(), data[1]
    X[4, 7] = np.nan
    BackboneRegressor(2, missing="mean", **CHEAP).fit(make(X), y)
    X[3, 8] = -np.inf
    with pytest.raises(InvalidDataError, match=r"feature 8 .*contains infinity|feature 8 contains infinity"):
        BackboneRegressor(2, missing="mean", **CHEAP).fit(make(X), y)


def dask_of(frame):
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=2)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda columns: dask_of(pd.DataFrame(columns))])
def test_a_column_of_words_is_named_whatever_holds_it(data, make):
    X, y = data
    columns = {**dict(zip(named(X), X.T, strict=True)), "town": ["Rome"] * N}
    for use in (BackboneRegressor(2).fit, BackboneSelector().fit, screen):
        with pytest.raises(InvalidDataError, match=r"column 'town' is \w+, not numeric; convert it to numbers"):
            use(make(columns), y)


def test_objects_that_are_numbers_are_numbers(data, expected):
    X, y = data
    frame = pd.DataFrame(X, columns=named(X)).astype({"gene 3": object})
    agrees(BackboneRegressor(2, **CHEAP).fit(frame, y), expected["regressor"], frame, X, y)
    (found,), (right,) = (screen(each, y, keep=5).values() for each in (frame, X))
    np.testing.assert_array_equal(found.utilities, right.utilities)


def test_two_columns_of_one_name_are_refused(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "a", *named(X)[3:]])
    for use in (BackboneRegressor(2).fit, BackboneSelector().fit, screen):
        with pytest.raises(InvalidDataError, match="columns 0 and 2 are both called 'a'; rename one"):
            use(frame, y)


@pytest.mark.parametrize(
    ("absent", "called"), [(None, "None"), (np.nan, "NaN"), (np.float32("nan"), "NaN"), (pd.NA, "<NA>")]
)
@pytest.mark.parametrize("kind", ["fortran", "dask", "pandas"])
def test_a_sample_without_a_target_is_refused(data, kind, absent, called):
    table = {**EAGER, **LAZY}[kind](data[0])
    for model, value in ((BackboneRegressor(2), 1.5), (BackboneClassifier(2), "ill"), (BackboneSelector(), 1)):
        y = [*([value, value] * N)[: N - 1], absent]
        with pytest.raises(InvalidDataError, match=f"y contains {called} at sample 89; give it a value, or leave"):
            model.fit(table, y if value == 1.5 else np.array(y, object))
