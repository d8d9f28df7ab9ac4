"""Targets: from the table or from files, joined by id, and what does not match."""

from __future__ import annotations

import gzip
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_cases import csv, ids, matrix, nothing_written, numbers, parquet

from backbone_dask import ingest
from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.store import open_store
from backbone_dask.store.ingest.joining import coded, places, taken

IDS = st.lists(st.text("abc01", min_size=1, max_size=3), unique=True, max_size=20)


@given(IDS, IDS)
def test_a_join_is_that_of_pandas(samples, rows):
    values = np.arange(len(rows), dtype=float)
    at, unknown = places(samples, rows)
    found = taken(values, at)
    expected = pd.Series(values, index=pd.Index(rows, dtype=object)).reindex(samples)
    np.testing.assert_array_equal(found, expected.to_numpy(dtype=float))
    assert Counter(unknown) == Counter(rows) - Counter(samples)


@given(st.lists(st.sampled_from(["case", "control", "Ärger", "9", "10"]), min_size=1))
def test_labels_are_sorted_and_codes_point_at_them(values):
    codes, labels = coded(np.array([*values, "word"], object))
    assert list(labels) == sorted({*values, "word"})
    assert [labels[int(code)] for code in codes] == [*values, "word"]


@pytest.fixture
def table(tmp_path):
    return parquet(tmp_path / "a.parquet", numbers(), id=ids(), y=np.arange(12.0), status=["b", "a"] * 6)


def test_targets_of_the_table_itself(tmp_path, table):
    made = ingest(table, tmp_path / "out.zarr", target=["y", "status"], sample_id="id")
    store = open_store(tmp_path / "out.zarr")
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), numbers())
    assert store.target("y").tolist() == list(range(12))
    assert store.target("status").tolist() == [1, 0] * 6
    assert store.labels == {"status": ["a", "b"]} == {name: list(labels) for name, labels in made.labels.items()}
    assert store.sample_ids == ids()
    assert (made.dropped, made.unmatched) == (0, ())


@pytest.mark.parametrize("suffix", ["t.csv", "t.tsv", "t.txt", "t.csv.gz", "t.parquet"])
def test_a_target_file_in_another_order(tmp_path, table, suffix):
    frame = pd.DataFrame({"height": np.arange(12) * 1.5, "id": ids(), "age": np.arange(12)}).iloc[::-1]
    path = tmp_path / suffix
    if suffix == "t.parquet":
        frame.to_parquet(path)
    else:
        text = frame.to_csv(index=False, sep={"t.tsv": "\t", "t.txt": " "}.get(suffix, ","))
        path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    ingest(table, tmp_path / "out.zarr", target=path, sample_id="id", exclude=["y", "status"])
    store = open_store(tmp_path / "out.zarr")
    assert sorted(store.targets) == ["age", "height"]
    assert store.target("height").tolist() == (np.arange(12) * 1.5).tolist()
    ingest(table, tmp_path / "one.zarr", target=f"{path}:age", sample_id="id", exclude=["y", "status"])
    assert open_store(tmp_path / "one.zarr").target().tolist() == list(range(12))


def test_whole_numbers_are_the_same_ids_in_every_format(tmp_path):
    table = parquet(tmp_path / "a.parquet", numbers(3), id=np.array([10, 20, 30]))
    path = csv(tmp_path / "t.csv", ["id", "y"], [30, 3], [10, 1], [20, 2])
    ingest(table, tmp_path / "out.zarr", target=path, sample_id="id")
    assert open_store(tmp_path / "out.zarr").target().tolist() == [1, 2, 3]
    assert open_store(tmp_path / "out.zarr").sample_ids == ["10", "20", "30"]


def test_what_does_not_match_is_refused_or_dropped_and_told(tmp_path):
    table = parquet(tmp_path / "a.parquet", numbers(), id=ids())
    rows = [[f"s{at}", at if at != 4 else "NA"] for at in range(1, 12)]
    path = csv(tmp_path / "t.csv", ["id", "y"], *rows, ["zz", 7])
    with pytest.raises(InvalidDataError) as refused:
        ingest(table, tmp_path / "out.zarr", target=path, sample_id="id")
    assert str(refused.value) == (
        f"{path}: 2 samples of {table} have no value in it (s0, s4) and 1 of its rows have ids that "
        "no sample has (zz); --unmatched drop keeps the 10 that match"
    )
    assert nothing_written(tmp_path)
    made = ingest(table, tmp_path / "out.zarr", target=path, sample_id="id", unmatched="drop")
    store = open_store(tmp_path / "out.zarr")
    kept = [1, 2, 3, 5, 6, 7, 8, 9, 10, 11]
    np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), numbers()[kept])
    assert store.sample_ids == [f"s{at}" for at in kept]
    assert store.target().tolist() == kept
    told = {
        "file": str(path),
        "samples_without_value": 2,
        "first_samples": ["s0", "s4"],
        "unknown_ids": 1,
        "first_unknown": ["zz"],
    }
    assert made.to_json()["unmatched"] == store.origin["unmatched"] == [told]
    assert made.dropped == 2


def test_several_target_files_keep_the_samples_that_all_have(tmp_path):
    table = parquet(tmp_path / "a.parquet", numbers(4), id=ids(4))
    one = csv(tmp_path / "one.csv", ["id", "u"], ["s0", 1], ["s1", 2], ["s2", 3])
    two = csv(tmp_path / "two.csv", ["id", "v"], ["s3", "x"], ["s2", "y"], ["s1", "x"])
    ingest(table, tmp_path / "out.zarr", target=[one, two], sample_id="id", unmatched="drop")
    store = open_store(tmp_path / "out.zarr")
    assert (store.sample_ids, store.target("u").tolist()) == (["s1", "s2"], [2, 3])
    assert (store.target("v").tolist(), store.labels) == ([0, 1], {"v": ["x", "y"]})


def test_no_id_in_common(tmp_path):
    table = parquet(tmp_path / "a.parquet", numbers(2), id=ids(2))
    path = csv(tmp_path / "t.csv", ["id", "y"], ["p0", 1], ["p1", 2])
    with pytest.raises(InvalidDataError, match="no sample has a target"):
        ingest(table, tmp_path / "out.zarr", target=path, sample_id="id", unmatched="drop")


def test_a_file_without_ids_is_taken_in_order_and_that_is_said(tmp_path):
    table = parquet(tmp_path / "a.parquet", numbers(3))
    path = csv(tmp_path / "t.csv", ["y"], [3], [1], [2])
    made = ingest(table, tmp_path / "out.zarr", target=path)
    assert open_store(tmp_path / "out.zarr").target().tolist() == [3, 1, 2]
    assert made.notes == (f"{path} is taken in the order of its rows",)
    csv(tmp_path / "t.csv", ["y"], [3], [1])
    with pytest.raises(InvalidDataError, match=r"t\.csv .* has 2 rows, .*a\.parquet has 3 samples; say --sample-id"):
        ingest(table, tmp_path / "other.zarr", target=path)


def test_a_file_with_ids_is_not_taken_in_order(tmp_path):
    table = parquet(tmp_path / "a.parquet", numbers(3), id=ids(3))
    path = csv(tmp_path / "t.csv", ["person", "y"], ["s2", 1], ["s1", 2], ["s0", 3])
    with pytest.raises(
        InvalidDataError, match=r"t\.csv has no column 'id' .*'person' holds them\); say --sample-id id=person"
    ):
        ingest(table, tmp_path / "out.zarr", target=path, sample_id="id")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"target": "statsu"}, r"a\.parquet has no column 'statsu' for --target; did you mean status\?"),
        ({"target": "y", "sample_id": "idd"}, r"a\.parquet has no column 'idd' for --sample-id"),
        ({"target": "y", "exclude": ["status", "g99"]}, r"no column 'g99' for --exclude; did you mean g9"),
        ({"target": "nowhere.csv"}, "there is no file nowhere.csv for --target"),
        ({"target": ["y", "y"]}, "two targets are called 'y'"),
        ({"target": "y", "dtype": "int16"}, "dtype is 'int16'; use auto or one of"),
        ({"target": "y", "unmatched": "keep"}, "unmatched is 'keep'"),
    ],
)
def test_names_that_mean_nothing(tmp_path, asked, message):
    table = parquet(tmp_path / "a.parquet", numbers(), y=np.arange(12.0), status=np.arange(12.0))
    with pytest.raises((InvalidDataError, InvalidSettingError), match=message):
        ingest(table, tmp_path / "out.zarr", **asked)
    assert nothing_written(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"t\.csv is empty"),
        ("id,y\ns0,1\ns1\n", r"row 3 of .*t\.csv has 1 values, the header has 2"),
        ("id,y,y\ns0,1,2\n", r"columns 2 and 3 of .*t\.csv are both called 'y'"),
        ("id,y\ns0,1\ns1,2\ns0,3\n", r"samples 1 and 3 of .*t\.csv have the same id 's0'"),
        ("id\ns0\n", r"t\.csv has no column beside 'id'"),
    ],
)
def test_bad_target_files(tmp_path, text, message):
    table = parquet(tmp_path / "a.parquet", numbers(2), id=ids(2))
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InvalidDataError, match=message):
        ingest(table, tmp_path / "out.zarr", target=tmp_path / "t.csv", sample_id="id")
    assert nothing_written(tmp_path)


def test_duplicate_sample_ids(tmp_path):
    table = parquet(tmp_path / "a.parquet", numbers(3), id=["a", "b", "a"])
    with pytest.raises(InvalidDataError, match=r"samples 1 and 3 of .*a\.parquet have the same id 'a'"):
        ingest(table, tmp_path / "out.zarr", sample_id="id")
