"""Columnar formats: what pyarrow, numpy and zarr hold is what the store holds."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from ingest_cases import csv, ids, matrix, nothing_written, numbers, parquet
from scipy import sparse

from backbone_dask import ingest
from backbone_dask.errors import InvalidDataError, StoreError
from backbone_dask.store import open_store, schema


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(schema, "CHUNK_BYTES", 200)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8"])
@pytest.mark.parametrize("group", [None, 5])
def test_parquet_comes_out_as_it_is(tmp_path, dtype, group):
    X = numbers(dtype=dtype)
    made = ingest(parquet(tmp_path / "a.parquet", X, group=group), tmp_path / "out.zarr")
    store = open_store(tmp_path / "out.zarr")
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), X)
    assert (store.dtype.name, made.dtype) == (dtype, dtype)
    assert store.names(np.array([0, 29])) == ["g0", "g29"]
    assert store.sample_ids is None


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (pa.array([True, False, True]), "uint8"),
        (pa.array([1, None, 3], pa.int8()), "float32"),
        (pa.array([1, -500, 3], pa.int16()), "float32"),
        (pa.array([1, -(2**24) + 1, 3], pa.int64()), "float32"),
        (pa.array([1, -(2**24), 3], pa.int64()), "float64"),
        (pa.array([1, 2, 2**24], pa.uint32()), "float64"),
        (pa.array([1.5, None, 3], pa.float32()), "float32"),
        (pa.array(["1.25", "2", "3"]).cast(pa.decimal128(8, 2)), "float64"),
        (pa.array(np.array([1, 2, 3], np.float16)), "float32"),
    ],
)
def test_parquet_types_become_what_holds_them(tmp_path, values, dtype):
    pq.write_table(pa.table({"a": values}), tmp_path / "a.parquet")
    ingest(tmp_path / "a.parquet", tmp_path / "out.zarr", missing="mean")
    expected = pd.Series([None if v is None else float(v) for v in values.to_pylist()], dtype=float)
    assert open_store(tmp_path / "out.zarr").dtype.name == dtype
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr")[:, 0], expected.fillna(expected.mean()))


def test_columns_beside_a_nested_one_are_found(tmp_path):
    nested = pa.array([{"a": 1, "b": {"c": 2}}] * 3)
    pq.write_table(pa.table({"n": nested, "x": [1.0, 2.0, 3.0], "y": [4.0, 5.0, 6.0]}), tmp_path / "a.parquet")
    ingest(tmp_path / "a.parquet", tmp_path / "out.zarr", exclude="n", target="y")
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), [[1], [2], [3]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"is empty \(0 bytes\); write it again"),
        (b"PAR1 nothing PAR1", r"cannot be read as Parquet \(.*\); write it again"),
    ],
)
def test_a_file_that_is_not_parquet(tmp_path, content, message):
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(InvalidDataError, match=rf"a\.parquet {message}"):
        ingest(tmp_path / "a.parquet", tmp_path / "out.zarr")
    assert nothing_written(tmp_path)


def test_text_in_parquet_is_refused_by_name(tmp_path):
    path = parquet(tmp_path / "a.parquet", numbers(), town=["Oslo"] * 12)
    with pytest.raises(InvalidDataError, match=r"column 'town' of .*a\.parquet is string.*--exclude"):
        ingest(path, tmp_path / "out.zarr")
    ingest(path, tmp_path / "out.zarr", exclude="town")
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), numbers())


def test_a_parquet_file_without_rows(tmp_path):
    with pytest.raises(InvalidDataError, match=r"a\.parquet has 0 rows"):
        ingest(parquet(tmp_path / "a.parquet", numbers()[:0], group=1), tmp_path / "out.zarr")


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_with_names_from_a_file(tmp_path, order):
    X = np.asarray(numbers(), order=order)
    np.save(tmp_path / "a.npy", X)
    (tmp_path / "names.txt").write_text("".join(f"n{j}\n" for j in range(30)))
    ingest(tmp_path / "a.npy", tmp_path / "out.zarr", names=tmp_path / "names.txt")
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), X)
    assert open_store(tmp_path / "out.zarr").names(np.array([0, 17, 29])) == ["n0", "n17", "n29"]


def test_too_few_names_and_the_same_name_twice(tmp_path):
    np.save(tmp_path / "a.npy", numbers())
    (tmp_path / "names.txt").write_text("x\n" * 29)
    with pytest.raises(InvalidDataError, match=r"names\.txt has 29 names, .*a\.npy has 30 features"):
        ingest(tmp_path / "a.npy", tmp_path / "out.zarr", names=tmp_path / "names.txt")
    (tmp_path / "names.txt").write_text("".join(f"n{j % 25}\n" for j in range(30)))
    with pytest.raises(InvalidDataError, match=r"features 0 and 25 of .*names\.txt are both called 'n0'; rename"):
        ingest(tmp_path / "a.npy", tmp_path / "out.zarr", names=tmp_path / "names.txt")
    assert nothing_written(tmp_path)


def test_an_archive_with_names_ids_and_targets(tmp_path):
    X, y = numbers(dtype="int16"), numbers(12, 1)[:, 0].astype(float)
    names = np.array([f"n{j}" for j in range(30)])
    np.savez(tmp_path / "a.npz", X=X, y=y, id=np.array(ids()), feature_names=names)
    ingest(tmp_path / "a.npz", tmp_path / "out.zarr", target="y", sample_id="id", exclude="n3")
    store = open_store(tmp_path / "out.zarr")
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), np.delete(X, 3, axis=1))
    np.testing.assert_array_equal(store.target(), y)
    assert store.sample_ids == ids()
    assert store.names(np.array([2, 3])) == ["n2", "n4"]


def test_an_archive_needs_one_matrix(tmp_path):
    np.savez(tmp_path / "a.npz", A=numbers(), B=numbers())
    with pytest.raises(InvalidDataError, match=r"a\.npz needs exactly one two-dimensional array.*has 2 \(A, B\)"):
        ingest(tmp_path / "a.npz", tmp_path / "out.zarr")


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_matrix"])
def test_sparse_archives(tmp_path, kind):
    X = np.where(numbers() > 3, numbers(), 0)
    sparse.save_npz(tmp_path / "a.npz", getattr(sparse, kind)(X))
    ingest(tmp_path / "a.npz", tmp_path / "out.zarr")
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), X)


@pytest.mark.parametrize(("name", "content"), [("a.npy", b"\x93NUMPY"), ("a.npz", b"PK")])
def test_damaged_arrays(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidDataError, match=rf"{name} cannot be read as NPY or NPZ \(.*\); save it again"):
        ingest(tmp_path / name, tmp_path / "out.zarr")


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("kept", [1 << 20, 0])
def test_zarr_arrays(tmp_path, monkeypatch, version, kept):
    monkeypatch.setattr("backbone_dask.store.ingest.zarr._KEPT_BYTES", kept)
    array = zarr.create_array(
        str(tmp_path / "a.zarr"), shape=(12, 30), chunks=(5, 7), dtype="float32", zarr_format=version
    )
    array[:] = numbers()
    ingest(tmp_path / "a.zarr", tmp_path / "out.zarr", target={"y": np.arange(12)})
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), numbers())


def test_an_array_of_a_zarr_group(tmp_path):
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w")
    for name in ("one", "two"):
        group.create_array(name, data=numbers(seed=len(name)))
    with pytest.raises(InvalidDataError, match=r"g\.zarr is a group with 2 arrays \(one, two\); name one"):
        ingest(tmp_path / "g.zarr", tmp_path / "out.zarr")
    ingest(tmp_path / "g.zarr" / "two", tmp_path / "out.zarr", format="zarr")
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), numbers(seed=3))
    with pytest.raises(InvalidDataError, match=r"out\.zarr is a feature store already"):
        ingest(tmp_path / "out.zarr", tmp_path / "again.zarr")


@pytest.mark.parametrize(
    "held",
    [
        lambda X: X,
        sparse.csr_array,
        lambda X: da.from_array(X, chunks=(5, 8)),
        lambda X: pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]),
        lambda X: pl.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])}),
    ],
)
def test_tables_in_memory(tmp_path, held):
    ingest(held(numbers()), tmp_path / "out.zarr", target=np.arange(12))
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), numbers())
    np.testing.assert_array_equal(open_store(tmp_path / "out.zarr").target("y"), np.arange(12))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_with_columns_set_apart(tmp_path, frame):
    data = frame({"id": ids(3), "a": [1.0, 2.0, 3.0], "y": ["no", "yes", "no"], "b": [4.0, 5.0, 6.0]})
    ingest(data, tmp_path / "out.zarr", target="y", sample_id="id")
    store = open_store(tmp_path / "out.zarr")
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), [[1, 4], [2, 5], [3, 6]])
    assert (store.target().tolist(), store.labels, store.sample_ids) == ([0, 1, 0], {"y": ["no", "yes"]}, ids(3))


def test_nan_becomes_the_code_of_whole_numbers(tmp_path):
    X = np.array([[0, 1], [np.nan, 2], [2, 0]], np.float32)
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(
        InvalidDataError, match=r"feature 0 of .*a\.npy has no value in 1 of 3 samples; .*--missing mean"
    ):
        ingest(tmp_path / "a.npy", tmp_path / "out.zarr", dtype="int8")
    ingest(tmp_path / "a.npy", tmp_path / "out.zarr", dtype="int8", missing="mean")
    store = open_store(tmp_path / "out.zarr")
    assert matrix(tmp_path / "out.zarr").tolist() == [[0, 1], [-128, 2], [2, 0]]
    assert store.missing_counts().tolist() == [1, 0]


@pytest.mark.parametrize(
    ("value", "dtype", "instead"),
    [
        (0.5, "int8", "float32"),
        (128, "int8", "float32"),
        (-1, "uint8", "float32"),
        (256, "uint8", "float32"),
        (1e300, "float32", "float64"),
        (1e300, "int8", "float64"),
    ],
)
def test_a_value_that_the_dtype_cannot_hold(tmp_path, value, dtype, instead):
    X = np.ones((4, 9))
    X[2, 5] = value
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(InvalidDataError, match=rf"feature 5 of .*a\.npy is .* in sample 2.*{dtype}.*--dtype {instead}"):
        ingest(tmp_path / "a.npy", tmp_path / "out.zarr", dtype=dtype)
    assert nothing_written(tmp_path)


def test_the_code_itself_is_no_value_where_values_are_missing(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[-128.0], [1.0]]))
    ingest(tmp_path / "a.npy", tmp_path / "out.zarr", dtype="int8")
    assert matrix(tmp_path / "out.zarr").tolist() == [[-128], [1]]
    with pytest.raises(InvalidDataError, match="-128 in sample 0"):
        ingest(tmp_path / "a.npy", tmp_path / "out.zarr", dtype="int8", missing="mean", overwrite=True)
    assert matrix(tmp_path / "out.zarr").tolist() == [[-128], [1]]


def test_sources_that_are_not_there_or_not_alike(tmp_path):
    path = parquet(tmp_path / "a.parquet", numbers())
    np.save(tmp_path / "b.npy", numbers())
    for sources, message in (
        ("nowhere.parquet", "there is no file nowhere.parquet"),
        (str(tmp_path / "*.csv"), r"no file matches .*\*\.csv"),
        ([path, path], "given twice"),
        ([path, tmp_path / "b.npy"], r"a\.parquet is parquet and .*b\.npy is numpy"),
    ):
        with pytest.raises(InvalidDataError, match=message):
            ingest(sources, tmp_path / "out.zarr")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidDataError, match="empty has no file of a known format"):
        ingest(tmp_path / "empty", tmp_path / "out.zarr")
    csv(tmp_path / "taken.zarr", ["a"])
    with pytest.raises(StoreError, match="exists"):
        ingest(path, tmp_path / "taken.zarr")
    assert nothing_written(tmp_path)
