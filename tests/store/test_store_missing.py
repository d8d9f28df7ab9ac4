"""Values that are not there or cannot be used: refused by name, or replaced by the mean, on every way in."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from store_cases import fill, in_memory, schema, table, written

from backbone_dask.errors import CorruptBlockError, InvalidDataError
from backbone_dask.store import init_store, open_store, write_store
from backbone_dask.store.missing import admit
from backbone_dask.values import FeatureBlock

ALL = FeatureBlock(0, 0, 37)
NAMES = [f"gene {j}" for j in range(37)]


def holed(dtype="float32", value=np.nan):
    X = table(dtype)
    X[7, [2, 5]] = value
    X[30, 1] = value
    return X


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_is_refused_by_name_with_advice(tmp_path, dtype):
    X = holed(dtype)
    advice = (
        r"contains NaN in 2 of 11 samples; declare missing='mean' \(--missing mean\) to use the mean of each column"
    )
    for names, called in ((None, "feature 7 "), (NAMES, r"feature 7 \('gene 7'\) ")):
        store = in_memory(X, names=names)
        for ask in (lambda store=store: store.read(ALL), lambda store=store: store.gather(np.array([0, 7, 9]))):
            with pytest.raises(InvalidDataError, match=called + advice):
                ask()
        with pytest.raises(InvalidDataError, match=called + advice):
            write_store(store, tmp_path / "s", overwrite=True)
        draft = init_store(tmp_path / "s", schema(X, named=names is not None))
        with pytest.raises(InvalidDataError, match=called + advice):
            fill(draft, X, names)
        assert draft.pending() == [1, 2, 3, 4, 5, 6, 7]
        assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("policy", ["refuse", "mean"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_under_every_policy(policy, value):
    store = in_memory(holed(value=value), names=NAMES, missing=policy)
    with pytest.raises(InvalidDataError, match=r"feature 7 \('gene 7'\) contains infinity; replace it"):
        store.read(ALL)
    with pytest.raises(InvalidDataError, match=r"feature 30 \('gene 30'\) contains infinity"):
        store.gather(np.array([8, 30]))
    with pytest.raises(InvalidDataError, match=r"feature 30 .* contains infinity"):
        store.portion(np.array([8, 30]))


@pytest.mark.parametrize("shard", [None, 10])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_under_mean_nan_becomes_the_mean(tmp_path, dtype, shard):
    X = holed(dtype)
    X[12] = np.nan
    store = written(tmp_path / "s", X, missing="mean", shard=shard)
    columns = store.read(ALL)
    expected = X.copy()
    expected[7] = np.where(np.isnan(X[7]), np.nanmean(X[7].astype(float)), X[7])
    expected[30] = np.where(np.isnan(X[30]), np.nanmean(X[30].astype(float)), X[30])
    expected[12] = 0
    np.testing.assert_allclose(columns.values, expected, rtol=1e-6)
    np.testing.assert_array_equal(columns.values[~np.isnan(X)], X[~np.isnan(X)])
    np.testing.assert_allclose(columns.mean, expected.mean(axis=1, dtype=float), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(columns.scale, expected.astype(float).std(axis=1), rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(store.missing_counts(), np.isnan(X).sum(axis=1))
    assert columns.scale[12] == 0
    assert columns.missing is None


@pytest.mark.parametrize("shard", [None, 10])
@pytest.mark.parametrize(("dtype", "code"), [("int8", -128), ("uint8", 255)])
def test_codes_of_integers_are_missing_under_mean_and_values_under_refuse(tmp_path, dtype, code, shard):
    X = table(dtype)
    X[7, [0, 5]], X[30] = code, code
    masked = np.ma.masked_equal(X, code).astype(float)
    store = written(tmp_path / "mean", X, missing="mean", shard=shard)
    columns = store.read(ALL)
    assert columns.missing == code
    assert columns.values.tobytes() == X.tobytes()
    np.testing.assert_array_equal(store.missing_counts(), masked.mask.sum(axis=1))
    np.testing.assert_allclose(columns.mean, masked.mean(axis=1).filled(0))
    imputed = np.where(masked.mask, columns.mean[:, None], X)
    np.testing.assert_allclose(columns.scale, imputed.std(axis=1), atol=1e-12)
    plain = written(tmp_path / "refuse", X, shard=shard)
    assert plain.read(ALL).missing is None
    np.testing.assert_allclose(plain.read(ALL).mean, X.mean(axis=1, dtype=float))
    assert plain.missing_counts().sum() == 0


def test_memory_and_disk_say_the_same(tmp_path):
    for X in (holed(), table("int8")):
        source = in_memory(X, missing="mean")
        write_store(source, tmp_path / X.dtype.name)
        store = open_store(tmp_path / X.dtype.name)
        for one, other in (
            (source.read(ALL), store.read(ALL)),
            (source.gather(np.array([7])), store.gather(np.array([7]))),
        ):
            assert one.values.tobytes() == other.values.tobytes()
            assert one.mean.tobytes() == other.mean.tobytes()
            assert one.scale.tobytes() == other.scale.tobytes()
            assert one.missing == other.missing


def test_numbers_too_large_for_a_mean():
    X = np.array([[1.0, 2], [1.7e308, 1.7e308]])
    with pytest.raises(
        InvalidDataError, match="feature 1 has values too large for their mean to be a float64; rescale"
    ):
        in_memory(X).read(FeatureBlock(0, 0, 2))


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 6), st.integers(1, 6)),
        elements=st.one_of(st.just(np.nan), st.floats(-1e6, 1e6, width=32)),
    )
)
@settings(deadline=None, max_examples=60)
def test_imputation_keeps_what_is_there_and_the_mean_of_it(X):
    columns, absent = admit(X.copy(), "mean", "feature {}".format)
    gone = np.isnan(X)
    np.testing.assert_array_equal(absent, gone.sum(axis=1))
    np.testing.assert_array_equal(columns.values[~gone], X[~gone])
    for j in range(len(X)):
        there = X[j, ~gone[j]].astype(float)
        mean = there.mean() if there.size else 0.0
        np.testing.assert_allclose(columns.values[j, gone[j]], mean, rtol=1e-6, atol=1e-6)
        assert columns.mean[j] == pytest.approx(mean, rel=1e-6, abs=1e-2 if gone[j].any() else 1e-9)


def spoiled(folder, X, values, **options):
    """A store into which another program wrote `values` at features 7 and 30; its checksums are right."""
    path = folder / "s.zarr"
    written(path, X, **options)
    array = zarr.open_array(path / "X", mode="r+")
    array[7, 0], array[7, 5], array[30, 1] = values, values, values
    return path


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_of_another_program_is_refused_by_name_or_imputed(tmp_path, dtype):
    path = spoiled(tmp_path, table(dtype), np.nan)
    for ask in (lambda: open_store(path).read(ALL), lambda: open_store(path).gather(np.array([3, 7]))):
        with pytest.raises(
            InvalidDataError, match=r"feature 7 contains NaN in 2 of 11 samples; declare missing='mean'"
        ):
            ask()
    X = table(dtype)
    X[7, [0, 5]] = X[30, 1] = np.nan
    expected = admit(X, "mean", str)[0]
    for store in (open_store(path, missing="mean"), pickle.loads(pickle.dumps(open_store(path, missing="mean")))):
        for columns in (store.read(ALL), store.gather(np.arange(37))):
            np.testing.assert_array_equal(columns.values, expected.values)
            np.testing.assert_array_equal(columns.mean, expected.mean)
            np.testing.assert_array_equal(columns.scale, expected.scale)


@pytest.mark.parametrize(("dtype", "code"), [("int8", -128), ("uint8", 255)])
def test_codes_of_another_program_are_values_unless_missing_is_asked_for(tmp_path, dtype, code):
    path = spoiled(tmp_path, table(dtype), code)
    assert open_store(path).read(ALL).missing is None
    columns = open_store(path, missing="mean").read(ALL)
    assert columns.missing == code
    present = np.delete(table(dtype)[7], [0, 5])
    assert columns.mean[7] == pytest.approx(present.mean())
    assert open_store(path, missing="mean").identity != open_store(path).identity


def test_infinity_of_another_program_is_refused_under_every_policy(tmp_path):
    path = spoiled(tmp_path, table("float32"), np.inf)
    for policy in (None, "refuse", "mean"):
        with pytest.raises(InvalidDataError, match="feature 7 contains infinity"):
            open_store(path, missing=policy).read(ALL)


def test_a_column_of_nothing_but_nan_is_a_lost_chunk_not_a_missing_value(tmp_path):
    path = tmp_path / "s.zarr"
    written(path, table("float32"))
    zarr.open_array(path / "X", mode="r+")[7] = np.nan
    with pytest.raises(CorruptBlockError, match="feature 7"):
        open_store(path, missing="mean").read(ALL)
