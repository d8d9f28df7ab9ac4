"""Tables in memory, as people have them."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from store_cases import table

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import MemoryStore, as_store, open_store, write_store
from backbone_dask.values import FeatureBlock

X = table("float32", n_features=23, n_samples=9).T
ALL = FeatureBlock(0, 0, 23)


def values(store):
    """Everything, read in blocks, as samples x features."""
    return np.concatenate([store.read(block).values for block in store.blocks(5)]).T


def agrees(store, expected):
    ids = np.array([0, 3, 4, 11, expected.shape[1] - 1])
    np.testing.assert_array_equal(values(store), expected)
    np.testing.assert_array_equal(store.gather(ids).values, expected.T[ids])
    np.testing.assert_allclose(store.gather(ids).mean, expected.T[ids].mean(axis=1, dtype=float), rtol=1e-12)
    for portion in (store.portion(ids), store.portion(np.arange(3, 9))):
        np.testing.assert_array_equal(portion.gather(ids[1:3]).values, expected.T[ids[1:3]])
    assert store.read(store.blocks(5)[0]).values.flags.c_contiguous


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("float32", "float32"),
        ("float64", "float64"),
        ("int8", "int8"),
        ("uint8", "uint8"),
        ("float16", "float32"),
        ("bool", "uint8"),
        ("int16", "float32"),
        ("uint16", "float32"),
        ("int32", "float64"),
        ("int64", "float64"),
        ("uint64", "float64"),
        (">f4", "float32"),
        (">f8", "float64"),
    ],
)
def test_numpy_of_every_dtype_and_order(given, kept, order):
    source = np.array(np.abs(X) * 20, order=order).astype(given, order=order)
    store = MemoryStore(source)
    assert store.dtype == np.dtype(kept)
    assert store.dtype.isnative
    agrees(store, source)


def test_a_slice_with_strides():
    agrees(MemoryStore(np.repeat(X, 2, axis=1)[:, ::2]), X)


def test_lists_and_matrices():
    agrees(MemoryStore(X.tolist()), X.astype(float))
    with pytest.raises(InvalidDataError, match="a list cannot be used as a table"):
        MemoryStore([[1, 2], [3]])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("shape", ["array", "matrix"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "int64"])
def test_sparse_of_every_kind(kind, shape, dtype):
    dense = np.where(np.abs(X) > 4, X, 0).astype(dtype)
    source = getattr(sparse, f"{kind}_{shape}")(dense)
    agrees(MemoryStore(source), dense)


def test_coo_with_repeated_entries():
    source = sparse.coo_array((np.ones(4, np.float32), ([0, 0, 1, 1], [1, 1, 0, 1])), shape=(2, 2))
    np.testing.assert_array_equal(values(MemoryStore(source)), [[0, 2], [1, 1]])


@pytest.mark.parametrize("chunks", [(9, 23), (2, 5), ((1, 8), (3, 1, 19)), (4, 1)])
def test_dask_with_odd_chunks(chunks):
    store = MemoryStore(da.from_array(X, chunks=chunks))
    agrees(store, X)


def test_a_dask_array_of_unknown_shape():
    source = da.from_array(X, chunks=(3, 5))
    with pytest.raises(InvalidDataError, match=r"unknown shape .*compute_chunk_sizes"):
        MemoryStore(source[source[:, 0] > 0])


def test_pandas_of_one_dtype_keeps_it():
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(23)])
    store = MemoryStore(frame)
    assert store.dtype == np.float32
    assert store.named
    assert store.names(np.array([2, 22])) == ["c2", "c22"]
    assert store.find(["c5"]).tolist() == [5]
    agrees(store, X)


def test_pandas_with_mixed_dtypes():
    frame = pd.DataFrame(
        {
            "float": np.array([1.5, 2.5, 3.5], np.float32),
            "int": np.array([1, 2, 3], np.int8),
            "bool": [True, False, True],
            7: np.array([1, 2, 3], np.int64),
            "nullable": pd.array([4, 5, 6], dtype="Int16"),
            "Größe": pd.array([0.5, 1.5, 2.5], dtype="Float64"),
        }
    )
    store = MemoryStore(frame)
    assert store.dtype == np.float64
    assert store.names(np.arange(6)) == ["float", "int", "bool", "7", "nullable", "Größe"]
    expected = [[1.5, 1, 1, 1, 4, 0.5], [2.5, 2, 0, 2, 5, 1.5], [3.5, 3, 1, 3, 6, 2.5]]
    np.testing.assert_array_equal(values(store), expected)


@pytest.mark.parametrize(
    ("columns", "dtype"),
    [
        ({"a": np.ones(2, np.int8), "b": [True, False]}, "float32"),
        ({"a": np.ones(2, np.uint8), "b": [True, False]}, "uint8"),
        ({"a": np.ones(2, np.float32), "b": [True, False]}, "float32"),
        ({"a": pd.array([1, 2], dtype="UInt8")}, "uint8"),
        ({"a": pd.array([1, 2], dtype="Int8"), "b": pd.array([1.0, 2.0], dtype="Float32")}, "float32"),
        ({"a": pd.arrays.SparseArray([0.0, 1.0])}, "float64"),
        ({"a": [True, False]}, "uint8"),
    ],
)
def test_pandas_takes_no_more_room_than_it_must(columns, dtype):
    frame = pd.DataFrame(columns)
    store = MemoryStore(frame)
    assert store.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(values(store), frame.to_numpy(float))


def test_what_pandas_calls_missing_is_missing():
    frame = pd.DataFrame(
        {"a": pd.array([1, None, 3], dtype="Int8"), "b": pd.array([True, None, False], dtype="boolean")}
    )
    with pytest.raises(InvalidDataError, match=r"feature 0 \('a'\) contains NaN in 1 of 3"):
        MemoryStore(frame).read(FeatureBlock(0, 0, 2))
    columns = MemoryStore(frame, missing="mean").read(FeatureBlock(0, 0, 2))
    np.testing.assert_array_equal(columns.values, [[1, 2, 3], [1, 0.5, 0]])


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        (["x", "y"], "str"),
        (pd.Series([1, "y"], dtype=object), "object"),
        (pd.Categorical(["u", "v"]), "category"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), "datetime64"),
        ([1j, 2], "complex128"),
    ],
)
def test_a_column_that_is_not_numeric_is_named(column, dtype):
    frame = pd.DataFrame({"fine": [1.0, 2.0], "odd one": column})
    with pytest.raises(InvalidDataError, match=f"column 'odd one' is {dtype}.*, not numeric; convert it to numbers"):
        MemoryStore(frame)


@pytest.mark.parametrize(
    "source", [np.array([["a", "b"]]), np.array([[1, None]], object), np.array([[1j]]), np.array([["2020"]], "M8[Y]")]
)
def test_arrays_that_are_not_numeric(source):
    with pytest.raises(
        InvalidDataError, match=r"a table of .* cannot be used; convert it to numbers, for example .astype"
    ):
        as_store(source)


@pytest.mark.parametrize(
    "source", [np.ones(3), np.ones((0, 3)), np.ones((3, 0)), np.ones((2, 2, 2)), np.float64(3), pd.Series([1.0, 2.0])]
)
def test_what_is_no_table(source):
    with pytest.raises(InvalidDataError, match="a table of samples x features is needed, not an array of shape"):
        as_store(source)


def test_a_masked_array_is_not_read_behind_its_mask():
    source = np.ma.masked_greater(np.array([[1, 99], [3, 4]]), 50)
    with pytest.raises(InvalidDataError, match="feature 1 contains NaN in 1 of 2"):
        MemoryStore(source).read(FeatureBlock(0, 0, 2))
    np.testing.assert_array_equal(values(MemoryStore(source, missing="mean")), [[1, 4], [3, 4]])


def test_names_and_targets_must_fit():
    with pytest.raises(InvalidDataError, match="22 names were given for 23 features"):
        MemoryStore(X, names=["a"] * 22)
    with pytest.raises(InvalidDataError, match=r"target 'y' has shape \(8,\), the table has 9 samples"):
        MemoryStore(X, targets={"y": np.ones(8)})
    store = MemoryStore(X, names=list("abcdefghijklmnopqrstuvw"), targets={"y": pd.Series(range(9))})
    np.testing.assert_array_equal(store.target(), np.arange(9.0))
    assert store.find(["w", "a"]).tolist() == [22, 0]
    assert MemoryStore(X).names(np.array([4])) == ["x4"]


@pytest.mark.parametrize(
    "source",
    [
        X,
        sparse.csr_array(np.where(X > 3, X, 0)),
        da.from_array(X, chunks=(2, 7)),
        pd.DataFrame(X, columns=[f"c{j}" for j in range(23)]),
        X > 3,
    ],
    ids=["numpy", "sparse", "dask", "pandas", "bool"],
)
def test_every_kind_goes_to_disk(source, tmp_path):
    store = MemoryStore(source, targets={"y": np.arange(9.0)})
    write_store(store, tmp_path / "s.zarr")
    again = open_store(tmp_path / "s.zarr")
    np.testing.assert_array_equal(values(again), values(store))
    assert again.names(np.arange(23)) == store.names(np.arange(23))
    assert again.named == store.named


def test_a_store_is_its_own_store():
    store = MemoryStore(X)
    assert as_store(store) is store
