"""Several files: below one another, beside one another, or refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from ingest_cases import ids, matrix, nothing_written, numbers, parquet

from backbone_dask import ingest
from backbone_dask.errors import InvalidDataError
from backbone_dask.store import open_store, schema
from backbone_dask.store.ingest.combining import combined
from backbone_dask.store.ingest.parquet import ParquetTable
from backbone_dask.store.ingest.table import Wanted


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(schema, "CHUNK_BYTES", 300)


def test_the_same_columns_go_below_in_the_order_in_which_people_count(tmp_path):
    parts = [numbers(n, seed=n) for n in (3, 4, 5)]
    for name, X in zip(("part2", "part10", "part1"), parts, strict=True):
        parquet(tmp_path / f"{name}.parquet", X, id=[f"{name}-{i}" for i in range(len(X))], y=np.arange(len(X)) + 0.0)
    made = ingest(tmp_path, tmp_path / "out.zarr", sample_id="id", target="y")
    store = open_store(tmp_path / "out.zarr")
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), np.concatenate([parts[2], parts[0], parts[1]]))
    assert store.sample_ids[:6] == ["part1-0", "part1-1", "part1-2", "part1-3", "part1-4", "part2-0"]
    assert store.target().tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2, 3]
    assert made.notes == ("3 files were put below one another",)
    assert len(store.origin["files"]) == 3


def test_other_columns_of_the_same_samples_go_beside(tmp_path):
    one, two = numbers(6, 11), numbers(6, 7, dtype="int8")
    a = parquet(tmp_path / "chr1.parquet", one, id=ids(6), y=np.arange(6.0))
    b = parquet(tmp_path / "chr2.parquet", two, names=[f"h{j}" for j in range(7)], id=ids(6))
    made = ingest(str(tmp_path / "chr*.parquet"), tmp_path / "out.zarr", sample_id="id", target="y", exclude="h3")
    store = open_store(tmp_path / "out.zarr")
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), np.hstack([one, np.delete(two, 3, axis=1)]))
    assert store.names(np.array([10, 11, 13, 14])) == ["g10", "h0", "h2", "h4"]
    assert (store.sample_ids, made.notes) == (ids(6), ("2 files were put beside one another",))
    assert [each["path"] for each in store.origin["files"]] == [str(a), str(b)]


def test_a_missing_value_is_still_missing_in_a_wider_dtype(tmp_path):
    a, b = np.array([[1.0], [np.nan], [5.0]], np.float32), np.array([[1], [2], [3]], np.int8)
    ingest(
        [parquet(tmp_path / "a.parquet", a), parquet(tmp_path / "b.parquet", b)], tmp_path / "out.zarr", missing="mean"
    )
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr")[:, 0], np.float32([1, 2.4, 5, 1, 2, 3]))
    store = open_store(tmp_path / "out.zarr")
    assert (store.dtype.name, store.missing_counts().tolist()) == ("float32", [1])


def test_mixtures_and_different_samples_are_refused_by_name(tmp_path):
    a = parquet(tmp_path / "a.parquet", numbers(6, 4), id=ids(6))
    b = parquet(tmp_path / "b.parquet", numbers(6, 4), id=ids(6, 50))
    c = parquet(tmp_path / "c.parquet", numbers(5, 3), names=["x", "y", "z"], id=ids(5))
    d = parquet(tmp_path / "d.parquet", numbers(6, 3), names=["x", "y", "z"], id=ids(6)[::-1])
    e = parquet(tmp_path / "e.parquet", numbers(6, 2), names=["g1", "w"], id=ids(6))
    for files, message in (
        ([a, b, c], r"b\.parquet has the columns of .*a\.parquet, .*c\.parquet has others"),
        ([a, c], r"a\.parquet and .*c\.parquet have different columns and different samples \(6 and 5\)"),
        ([a, d], r"a\.parquet and .*d\.parquet have different samples: row 1 is 's0' in one and 's5' in the other"),
        ([a, a.with_name("b.parquet"), e], "has others"),
        ([a, e], r"features 1 and 4 \(.*a\.parquet and .*e\.parquet\) are both called 'g1'; rename one"),
    ):
        with pytest.raises(InvalidDataError, match=message):
            ingest(files, tmp_path / "out.zarr", sample_id="id")
    assert nothing_written(tmp_path)


def test_the_same_sample_in_two_files_is_refused(tmp_path):
    for name in "ab":
        parquet(tmp_path / f"{name}.parquet", numbers(2), id=ids(2))
    with pytest.raises(InvalidDataError, match=r"samples 1 and 3 of .* have the same id 's0'"):
        ingest(tmp_path, tmp_path / "out.zarr", sample_id="id")


def test_fields_of_many_files_are_kept_here_and_do_not_travel(tmp_path):
    paths = [parquet(tmp_path / f"{name}.parquet", numbers(3), y=[name * 9000] * 3) for name in "ab"]
    table = combined([ParquetTable(str(path), Wanted(fields=("y",))) for path in paths], Wanted(fields=("y",)))
    before = len(pickle.dumps(table))
    assert table.fields is table.fields
    assert len(pickle.dumps(table)) == before
    assert pickle.loads(pickle.dumps(table)).fields["y"][5] == "b" * 9000
