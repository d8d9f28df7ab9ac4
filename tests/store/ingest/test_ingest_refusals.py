"""Refusals name the file and what to do, and leave nothing behind; names from a file are names like others."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
import zarr
from bed_reader import to_bed
from ingest_cases import ids, matrix, numbers, parquet
from row_cases import batches_of, put

from backbone_dask import ingest
from backbone_dask.errors import DiskSpaceError, InvalidDataError
from backbone_dask.store import open_store
from backbone_dask.store.ingest import parquet as parquet_format


def left_in(folder):
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs is a file system of Linux")
def test_a_disk_that_is_full_while_text_is_turned_round(small_disk, tmp_path, monkeypatch):
    batches_of(monkeypatch, 100_000)
    X = numbers(400, 300, "float64")
    pd.DataFrame(X).to_csv(tmp_path / "t.csv", index=False)
    (small_disk / "hog").write_bytes(bytes(400_000))
    with pytest.raises(DiskSpaceError, match=r"no space left while writing .*o\.zarr\.partial/.*; make room and go on"):
        ingest(tmp_path / "t.csv", small_disk / "o.zarr", executor="serial")
    assert list((small_disk / "o.zarr.partial").rglob("000000.json"))
    assert not (small_disk / "o.zarr").exists()


@pytest.mark.parametrize("kind", ["npy", "zarr", "frame"])
def test_names_from_a_file_can_be_set_apart(tmp_path, kind):
    X = np.arange(20.0).reshape(4, 5)
    source = X
    if kind == "npy":
        source = tmp_path / "n.npy"
        np.save(source, X)
    if kind == "zarr":
        source = tmp_path / "n.zarr"
        zarr.create_array(source, data=X)
    listed = put(tmp_path / "names.txt", "id\na\ny\nb\nb\n")
    ingest(source, tmp_path / "o.zarr", names=listed, target="y", exclude="b", sample_id="id")
    store = open_store(tmp_path / "o.zarr")
    assert (store.names(np.arange(1)), store.target("y").tolist()) == (["a"], X[:, 2].tolist())
    assert store.sample_ids == ["0", "5", "10", "15"]
    np.testing.assert_array_equal(matrix(tmp_path / "o.zarr"), X[:, [1]])


def test_what_was_set_apart_by_its_old_name_needs_no_new_one(tmp_path):
    path = put(tmp_path / "t.csv", "id,y,p,q,r\ns1,1,2,3,4\ns2,5,6,7,8\n")
    listed = put(tmp_path / "names.txt", "a\nb\n")
    ingest(path, tmp_path / "o.zarr", names=listed, sample_id="id", exclude=["p", "b"], target="y")
    store = open_store(tmp_path / "o.zarr")
    assert (store.names(np.arange(1)), store.sample_ids, store.target("y").tolist()) == (["a"], ["s1", "s2"], [1, 5])
    np.testing.assert_array_equal(matrix(tmp_path / "o.zarr"), [[3], [7]])


@pytest.mark.parametrize(
    ("text", "asked", "sentence"),
    [
        ("a\nb\n", {}, r"names\.txt has 2 names, .*n\.npy has 3 features; write a line for each feature, in the order"),
        ("a\n\nb\n", {}, r"names\.txt, line 2 is blank; name the feature, or remove the line"),
        ("a\nb\nc\n\n", {}, r"names\.txt, line 4 is blank"),
        ("a\nb\na\n", {}, r"features 0 and 2 of .*names\.txt are both called 'a'; rename one, or leave .*--exclude a"),
        ("b\na\na\n", {"exclude": "b"}, r"features 0 and 1 of .*names\.txt are both called 'a'"),
        ("a\nb\na\n", {"target": "a"}, r"features 0 and 2 of .*names\.txt are both called 'a'; rename one$"),
        ("a\nb\nc\n", {"target": "C"}, r"n\.npy has no column 'C' for --target; did you mean c\?"),
        ("a\nb\nc\n", {"exclude": "bb"}, r"n\.npy has no column 'bb' for --exclude; did you mean b\?"),
    ],
)
def test_bad_names(tmp_path, text, asked, sentence):
    np.save(tmp_path / "n.npy", numbers(4, 3))
    with pytest.raises(InvalidDataError, match=sentence):
        ingest(tmp_path / "n.npy", tmp_path / "o.zarr", names=put(tmp_path / "names.txt", text), **asked)
    assert left_in(tmp_path) == ["n.npy", "names.txt"]


def test_ids_in_a_column_of_an_archive(tmp_path):
    np.savez(tmp_path / "n.npz", X=np.array([[7.0, 1.0], [8.0, 2.0]]), names=["id", "a"])
    ingest(tmp_path / "n.npz", tmp_path / "o.zarr", sample_id="id")
    assert open_store(tmp_path / "o.zarr").sample_ids == ["7", "8"]


@pytest.mark.parametrize("how", [{"format": "plink"}, {}])
def test_plink_files_by_their_prefix(tmp_path, how):
    to_bed(tmp_path / "g.bed", np.array([[0, 1, 2], [2, 1, 0]], np.int8))
    made = ingest(tmp_path / "g", tmp_path / "o.zarr", **how)
    assert (made.n_samples, made.n_features) == (2, 3)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("several", [False, True])
def test_a_value_that_is_not_finite_is_said_with_its_file(tmp_path, value, several):
    bad = numbers()
    bad[3, 7] = value
    sources = [parquet(tmp_path / "b.parquet", bad)]
    if several:
        sources.insert(0, parquet(tmp_path / "a.parquet", numbers(), names=[f"h{j}" for j in range(30)]))
    called = r"feature 37 \('g7'\)" if several else r"feature 7 \('g7'\)"
    with pytest.raises(InvalidDataError, match=rf"{called} of .*b\.parquet contains (NaN|infinity)"):
        ingest(sources, tmp_path / "o.zarr")
    assert "o.zarr.partial" not in left_in(tmp_path)


def test_a_target_that_is_not_finite_is_said_with_its_file(tmp_path):
    path = put(tmp_path / "t.csv", "id,a\ns1,1\ns2,2\n")
    targets = put(tmp_path / "f.csv", "id,bmi\ns1,1\ns2,-inf\n")
    with pytest.raises(InvalidDataError, match=r"target 'bmi' of .*f\.csv is -inf in sample s2; correct it, or"):
        ingest(path, tmp_path / "o.zarr", target=targets, sample_id="id")
    assert left_in(tmp_path) == ["f.csv", "t.csv"]


@pytest.mark.parametrize("name", ["e.npy", "e.npz", "e.parquet", "e.vcf", "e.bed", "e.h5ad"])
def test_empty_files(tmp_path, name):
    with pytest.raises(InvalidDataError, match=rf"{name} is empty \(0 bytes\); write it again, or correct the path"):
        ingest(put(tmp_path / name, ""), tmp_path / "o.zarr")
    assert left_in(tmp_path) == [name]


def test_an_empty_svmlight_file(tmp_path):
    with pytest.raises(InvalidDataError, match=r"e\.svm is empty; a line `label index:value \.\.\.` for each sample"):
        ingest(put(tmp_path / "e.svm", ""), tmp_path / "o.zarr")


def test_a_folder_of_folders(tmp_path):
    X = numbers(6, 3)
    for key, rows in ((10, slice(2, 6)), (2, slice(0, 2))):
        (tmp_path / f"hive/k={key}").mkdir(parents=True)
        parquet(tmp_path / f"hive/k={key}/part-0.parquet", X[rows])
    put(tmp_path / "hive/_SUCCESS.csv", "")
    made = ingest(tmp_path / "hive", tmp_path / "o.zarr")
    np.testing.assert_array_equal(matrix(tmp_path / "o.zarr"), X)
    assert "2 files were put below one another" in made.notes
    assert "k in the names of folders (KEY=VALUE) did not become columns" in made.notes


def test_a_folder_without_tables(tmp_path):
    (tmp_path / "d/e").mkdir(parents=True)
    with pytest.raises(InvalidDataError, match=r"the folder .*d has no file of a known format \(.*\); name files"):
        ingest(tmp_path / "d", tmp_path / "o.zarr")


@pytest.mark.parametrize("text", ["id,a\ns1,1\ns2,x\n", "id,a\ns1,1\ns1,2\n", "id,a\ns1,1\ns2,\n"])
def test_a_refusal_leaves_nothing_behind(tmp_path, monkeypatch, text):
    batches_of(monkeypatch, 8)
    with pytest.raises(InvalidDataError):
        ingest(put(tmp_path / "t.csv", text), tmp_path / "o.zarr", sample_id="id", executor="serial")
    assert left_in(tmp_path) == ["t.csv"]


def test_a_table_in_memory_that_is_refused_leaves_nothing_behind(tmp_path):
    with pytest.raises(InvalidDataError, match="contains NaN"):
        ingest(np.array([[1.0, np.nan], [2.0, 3.0]]), tmp_path / "o.zarr")
    assert left_in(tmp_path) == []


def test_a_typo_keeps_what_an_interruption_left(tmp_path, monkeypatch):
    table = parquet(tmp_path / "a.parquet", numbers(), id=ids())

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(parquet_format.ParquetTable, "read", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ingest(table, tmp_path / "o.zarr", sample_id="id")
    kept = left_in(tmp_path / "o.zarr.partial")
    assert kept
    with pytest.raises(InvalidDataError, match="there is no file"):
        ingest(table, tmp_path / "o.zarr", sample_id="id", target="nowhere.csv")
    assert left_in(tmp_path / "o.zarr.partial") == kept


def test_an_archive_is_read_once_in_a_process(tmp_path, monkeypatch):
    np.savez(tmp_path / "n.npz", X=numbers())
    loaded, load = [], np.load
    monkeypatch.setattr(np, "load", lambda source, **how: loaded.append(str(source)) or load(source, **how))
    monkeypatch.setattr("backbone_dask.store.schema.CHUNK_BYTES", 200)
    ingest(tmp_path / "n.npz", tmp_path / "o.zarr")
    assert loaded.count(str(tmp_path / "n.npz")) == 1


def test_text_in_an_array_is_refused_by_name(tmp_path):
    np.save(tmp_path / "n.npy", np.array([["a", "b"]]))
    with pytest.raises(InvalidDataError, match=r"n\.npy holds <U1, not numbers; save it as numbers"):
        ingest(tmp_path / "n.npy", tmp_path / "o.zarr")
