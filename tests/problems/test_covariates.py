"""Covariates by name and beside the table, from the fit to predictions; and what is said where they are wrong."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from backbone_dask import BackboneClassifier, BackboneRegressor
from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.problems.model import LinearModel
from backbone_dask.store import MemoryStore

N, P = 80, 12


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X, age, sex = rng.normal(size=(N, P)), rng.normal(50, 10, N), rng.integers(0, 2, N)
    return X, X[:, 3] + 0.2 * age - 2 * sex + rng.normal(size=N), age, sex


def test_covariates_beside_the_table_keep_their_names(table):
    X, y, age, sex = table
    plain = BackboneRegressor(1).fit(X, y, covariates=np.column_stack([age, sex]))
    for given in ({"age": age, "sex": sex}, pd.DataFrame({"age": age, "sex": sex})):
        model = BackboneRegressor(1).fit(X, y, covariates=given)
        assert model.model_.beside_names == ("age", "sex")
        np.testing.assert_array_equal(model.model_.beside, plain.model_.beside)
        expected = plain.predict(X, covariates=np.column_stack([age, sex]))
        np.testing.assert_array_equal(model.predict(X, covariates={"sex": sex, "age": age}), expected)
        np.testing.assert_array_equal(model.predict(X, covariates=np.column_stack([age, sex])), expected)
    again = LinearModel.from_json(json.loads(json.dumps(model.model_.to_json())))
    assert again.beside_names == ("age", "sex")
    assert plain.model_.beside_names == ()


@pytest.mark.parametrize("estimator", [BackboneRegressor, BackboneClassifier])
def test_predictions_need_the_covariates_of_the_fit(table, estimator):
    X, y, age, _ = table
    model = estimator(1).fit(X, y > y.mean(), covariates={"age": age})
    for given, complaint in (
        (None, r"1 covariates beside its table \(age\); give covariates \(--covariate\)"),
        (np.where(np.arange(N) == 7, np.nan, age), "covariates contain NaN or infinity at sample 7"),
        ({"sex": age}, "fitted with the covariates age; give these, not sex"),
        (["old"] * N, "covariates must be an array of numbers"),
    ):
        with pytest.raises(InvalidDataError, match=complaint):
            model.predict(X, covariates=given)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"covariates": "x0"}, r"covariates is the word 'x0'; give a list of names, \['x0'\]"),
        ({"covariates": ["x0", "x99"]}, "has no feature called 'x99'; its features are called x0, x1, x2"),
        ({"covariates": [["a"]] * N}, "covariates must be an array of numbers"),
        ({"covariates": {"age": ["a"] * N}}, "covariate age must be an array of numbers"),
        ({"covariates": {"age": np.ones(N), "sex": np.ones(3)}}, "age, sex differ in length"),
        ({"sample_weight": ["a"] * N}, "sample_weight must be an array of numbers"),
        ({"sample_weight": "w"}, "sample_weight must be an array of numbers"),
    ],
)
@pytest.mark.parametrize("estimator", [BackboneRegressor, BackboneClassifier])
def test_what_cannot_be_read_is_named(table, estimator, given, complaint):
    X, y, *_ = table
    with pytest.raises(InvalidDataError, match=complaint):
        estimator(1).fit(X, y > y.mean(), **given)


def test_a_group_of_a_name_that_nothing_has(table):
    store = MemoryStore(table[0], names=[f"g{j}" for j in range(P)], targets={"y": table[1]})
    with pytest.raises(InvalidDataError, match="has no feature called 'h'; its features are called g0, g1, g2"):
        BackboneRegressor(1, groups=[["g1", "h"]]).fit(store)


def test_a_frame_is_called_a_frame(table):
    X, y, *_ = table
    with pytest.raises(InvalidDataError, match="a DataFrame in memory has no feature called 'h'"):
        BackboneRegressor(1).fit(pd.DataFrame(X, columns=[f"g{j}" for j in range(P)]), y, covariates=["h"])


def test_truth_and_falsehood_are_not_as_they_are_spelt(table):
    X, y, *_ = table
    for wrong in ({"fit_intercept": "no"}, {"nonnegative": "no"}, {"fit_intercept": None}):
        with pytest.raises(InvalidSettingError, match="it must be True or False"):
            BackboneRegressor(1, **wrong).fit(X, y)
    assert BackboneRegressor(1, fit_intercept=np.bool_(False)).fit(X, y).intercept_ == 0
