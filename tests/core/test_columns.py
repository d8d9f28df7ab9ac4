"""Means, scales and standardised values against numpy in float64."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backbone_dask.columns import Columns, measured, on_samples
from backbone_dask.testing.planted import MISSING, Dtype, planted
from backbone_dask.testing.strategies import columns as any_columns


def filled(columns: Columns) -> np.ndarray:
    """The values in float64, with the mean of the others in place of those that are missing."""
    values = columns.values.astype(np.float64)
    if columns.missing is not None:
        for row, raw in zip(values, columns.values, strict=True):
            absent = raw == columns.missing
            row[absent] = row[~absent].mean() if not absent.all() else 0.0
    return values


def normal(dtype: str, mean: float = 0.0, size: float = 1.0, n: int = 500) -> np.ndarray:
    return (mean + size * np.random.default_rng(3).standard_normal((6, n))).astype(dtype)


@given(any_columns())
def test_mean_and_scale_are_those_of_numpy(columns: Columns) -> None:
    values = filled(columns)
    peak = np.abs(values).max(initial=1.0)
    np.testing.assert_allclose(columns.mean, values.mean(axis=1), rtol=1e-12, atol=1e-14 * peak)
    np.testing.assert_allclose(columns.scale, values.std(axis=1), rtol=1e-9, atol=1e-14 * peak)


@given(any_columns())
def test_standardised_has_mean_zero_and_squares_of_n_or_is_all_zero(columns: Columns) -> None:
    samples = columns.values.shape[1]
    X = columns.standardised()
    assert X.dtype == np.float32
    assert X.shape == columns.values.shape
    wide, varies = X.astype(np.float64), columns.scale > 0
    np.testing.assert_allclose(wide.mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose((wide**2).sum(axis=1), np.where(varies, samples, 0), rtol=1e-5)


@given(any_columns())
def test_a_feature_is_constant_exactly_if_its_present_values_are_equal(columns: Columns) -> None:
    present = [row if columns.missing is None else row[row != columns.missing] for row in columns.values]
    assert (columns.scale > 0).tolist() == [np.unique(row).size > 1 for row in present]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8"])
def test_standardised_against_numpy(dtype: Dtype) -> None:
    columns = planted(n_samples=300, n_features=8, n_relevant=1, dtype=dtype).columns
    values = columns.values.astype(np.float64)
    expected = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    np.testing.assert_allclose(columns.standardised(), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("value", [0.0, 0.1, -0.1, 1 / 3, 1e6 + 0.1, 1e-30])
@pytest.mark.parametrize("n", [1, 7, 10, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_constants_have_scale_zero_and_become_zeros(dtype: str, n: int, value: float) -> None:
    """The mean of 0.1, ten times, is not 0.1 in floats."""
    columns, _ = measured(np.full((2, n), value, dtype))
    assert columns.scale.tolist() == [0, 0]
    assert not columns.standardised().any()


def test_one_value_apart_is_not_constant() -> None:
    values = np.full((1, 1000), 0.1)
    values[0, 500] = np.nextafter(0.1, 1)
    assert measured(values)[0].scale[0] > 0


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_missing_codes_are_counted_and_become_zero(dtype: str) -> None:
    code = MISSING[dtype]
    values = np.array([[1, code, 2, 0, code], [code] * 5, [3, 3, code, 3, 3], [0, 1, 2, 1, 0]], dtype)
    columns, absent = measured(values, code)
    assert absent.tolist() == [2, 5, 1, 0]
    np.testing.assert_allclose(columns.mean, [1, 0, 3, 0.8])
    np.testing.assert_allclose(columns.scale, [np.sqrt(2 / 5), 0, 0, np.std([0, 1, 2, 1, 0])])
    X = columns.standardised()
    np.testing.assert_array_equal(X[values == code], 0)
    np.testing.assert_allclose(X[0], np.array([0, 0, 1, -1, 0]) / np.sqrt(2 / 5), rtol=1e-6)
    assert not X[1:3].any()


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_without_a_code_every_value_counts(dtype: str) -> None:
    values = np.array([[MISSING[dtype], 0, 1, 2]], dtype)
    columns, absent = measured(values)
    assert absent.tolist() == [0]
    assert columns.mean[0] == values.astype(float).mean()
    assert np.all(columns.standardised() != 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mean", [1e6, -1e6])
def test_columns_far_from_zero_keep_their_scale(dtype: str, mean: float) -> None:
    columns, _ = measured(normal(dtype, mean))
    np.testing.assert_allclose(columns.scale, columns.values.astype(np.float64).std(axis=1), rtol=1e-10)


@pytest.mark.parametrize("exponent", [-200, -160, -30, 30, 154, 200, 300])
def test_float64_columns_of_any_size(exponent: int) -> None:
    """Squares of such values overflow or vanish."""
    values = normal("float64")
    columns, _ = measured(values * 10.0**exponent)
    np.testing.assert_allclose(columns.scale / 10.0**exponent, values.std(axis=1), rtol=1e-10)
    np.testing.assert_allclose(columns.standardised(), measured(values)[0].standardised(), rtol=1e-5, atol=1e-6)


def test_scales_too_small_for_a_coefficient_count_as_constant() -> None:
    assert not measured(normal("float64") * 1e-300)[0].scale.any()


@pytest.mark.parametrize("exponent", [-37, -20, 20, 37])
def test_float32_columns_of_any_size(exponent: int) -> None:
    values = normal("float64")
    columns, _ = measured((values * 10.0**exponent).astype(np.float32))
    np.testing.assert_allclose(columns.standardised(), measured(values)[0].standardised(), rtol=1e-5, atol=1e-6)


def test_a_scale_without_a_reciprocal_counts_as_constant() -> None:
    columns, _ = measured(normal("float64") * 1e-310)
    assert not columns.scale.any()
    assert not columns.standardised().any()


def test_rows_are_taken_by_slice_and_by_position() -> None:
    columns = planted(n_samples=30, n_features=8, n_relevant=1, dtype="int8", missing=0.2).columns
    for rows in (slice(2, 5), np.array([6, 0, 3])):
        taken = columns[rows]
        assert taken.n_features == 3
        assert taken.missing == columns.missing
        np.testing.assert_array_equal(taken.mean, columns.mean[rows])
        np.testing.assert_array_equal(taken.standardised(), columns.standardised()[rows])


@pytest.mark.parametrize("missing", [None, 255])
def test_blocks_change_no_bit(missing: int | None) -> None:
    values = np.random.default_rng(4).integers(0, 256, (20, 101)).astype(np.uint8)
    whole, absent = measured(values, missing)
    for start, stop in ((0, 1), (1, 8), (8, 20)):
        part, some = measured(values[start:stop], missing)
        np.testing.assert_array_equal(part.mean, whole.mean[start:stop])
        np.testing.assert_array_equal(part.scale, whole.scale[start:stop])
        np.testing.assert_array_equal(some, absent[start:stop])


@given(any_columns(), st.data())
def test_samples_that_do_not_count_are_as_if_they_were_not_there(columns: Columns, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(0, columns.values.shape[1] - 1), min_size=1))
    counted = np.isin(np.arange(columns.values.shape[1]), list(chosen))
    found, values = on_samples(columns, counted), columns.values.astype(np.float64)
    if columns.missing is not None:
        values = np.where(columns.values == columns.missing, columns.mean[:, None], values)
    assert (found.scale > 0).tolist() == [np.unique(row[counted]).size > 1 for row in values]
    if columns.values.dtype.kind != "f":
        np.testing.assert_array_equal(found.mean, columns.mean)
        return
    spread = np.ptp(values[:, counted], axis=1)
    for j in np.flatnonzero(spread >= 1e-2 * columns.scale):
        assert (found.mean[j], found.scale[j]) == (columns.mean[j], columns.scale[j])
    alone = measured(np.ascontiguousarray(columns.values[:, counted]))[0]
    for j in np.flatnonzero((spread > 0) & (spread < 1e-4 * columns.scale)):
        assert (found.mean[j], found.scale[j]) == (alone.mean[j], alone.scale[j])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_does_not_count_may_be_of_any_size(dtype: str) -> None:
    values = normal(dtype)
    values[:, 7] = 1e30
    counted = np.arange(values.shape[1]) != 7
    found, alone = on_samples(measured(values)[0], counted), measured(np.ascontiguousarray(values[:, counted]))[0]
    np.testing.assert_allclose(found.mean, alone.mean, rtol=1e-12)
    np.testing.assert_allclose(found.scale, alone.scale, rtol=1e-12)


@pytest.mark.parametrize("mean", [1e10, 1e12, 1e13, 1e14])
def test_the_scale_survives_the_rounding_of_a_large_mean(mean: float) -> None:
    """The sum of the values is off by many units of its last place, each of which is a part of the scale."""
    columns = measured(normal("float64", mean))[0]
    exact = [[Fraction(value) for value in row] for row in columns.values.tolist()]
    centres = [sum(row) / len(row) for row in exact]
    spread = [
        sum((value - centre) ** 2 for value in row) / len(row) for row, centre in zip(exact, centres, strict=True)
    ]
    np.testing.assert_allclose(columns.scale, [float(each) ** 0.5 for each in spread], rtol=1e-13)
    assert columns.mean.tolist() == [float(centre) for centre in centres]
