"""The first line of text: names or a sample; and names that people give, known before a file is read."""

from __future__ import annotations

import numpy as np
import pytest
from row_cases import matrix, names, open_csv, put

from backbone_dask import ingest
from backbone_dask.errors import InvalidDataError
from backbone_dask.store import open_store
from backbone_dask.store.ingest import csv as csv_format

IRIS = "5.1,3.5,1.4,0.2,Iris-setosa\n4.9,3.0,1.4,0.2,Iris-setosa\n7.0,3.2,4.7,1.4,Iris-versicolor\n"
COMMUNITIES = "8,?,?,Lakewood,1,0.19,0.33\n53,1,2,Tukwila,1,0.1,0.16\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (IRIS, r"iris\.data, line 1 has '5\.1' beside 'Iris-setosa'; say --no-header if the first line is a sample"),
        ("1,0,0.9,g\n1,0,0.8,b\n", r"line 1 has '1' beside 'g'; say --no-header if the first line is a sample"),
        (COMMUNITIES, r"line 1 has '8' beside 'Lakewood'; say --no-header if the first line is a sample"),
        ("\nx,?\n1,2\n", r"line 2 has '\?' beside 'x'; say --no-header"),
        ("p,x,p\np,y,e\n", r"columns 1 and 3 are both called 'p'; .*\(--no-header if the first line is a sample\)"),
        ("a,b\n", r"has a header and no samples; .*\(--no-header if its only line is a sample\)"),
    ],
)
def test_a_first_line_that_may_be_a_sample_is_not_taken_for_names(tmp_path, text, sentence):
    with pytest.raises(InvalidDataError, match=sentence):
        open_csv(put(tmp_path / "iris.data", text), scratch=tmp_path / "s")


@pytest.mark.parametrize("header", ["id,0,1,2", "id,1,2,3", "Na,None,inf_1,2nd", "a,b,c,d", "n/a,b,c,nan"])
def test_names_that_look_a_little_like_values(tmp_path, header):
    table = open_csv(put(tmp_path / "t.csv", f"{header}\n1,2,3,4\n5,6,7,8\n"), scratch=tmp_path / "s")
    assert names(table) == header.split(",")
    assert table.n_samples == 2


def test_without_a_header_no_sample_is_lost(tmp_path):
    path, out = put(tmp_path / "iris.data", IRIS), tmp_path / "o.zarr"
    made = ingest(path, out, target="x4", header=False, exclude="x1")
    store = open_store(out)
    assert (made.n_samples, store.names(np.arange(3))) == (3, ["x0", "x2", "x3"])
    np.testing.assert_array_equal(
        store.gather(np.arange(3)).values, [[5.1, 4.9, 7.0], [1.4, 1.4, 4.7], [0.2, 0.2, 1.4]]
    )
    assert store.target("x4").tolist() == [0, 0, 1]
    assert store.labels == {"x4": ["Iris-setosa", "Iris-versicolor"]}


def test_ids_without_a_header(tmp_path):
    path = put(tmp_path / "t.csv", "a,2\nc,1\n")
    table = open_csv(path, scratch=tmp_path, header=False, sample_id="x0")
    assert (table.sample_ids, names(table), matrix(table).tolist()) == (["a", "c"], ["x1"], [[2], [1]])


def test_a_header_of_numbers(tmp_path):
    table = open_csv(put(tmp_path / "t.csv", "1017,1019\n1,2\n"), scratch=tmp_path / "s", header=True)
    assert (names(table), matrix(table).tolist()) == (["1017", "1019"], [[1, 2]])
    mixed = open_csv(put(tmp_path / "m.csv", "nm,400,402\n1,2,3\n"), scratch=tmp_path / "s", header=True)
    assert names(mixed) == ["nm", "400", "402"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b,c\n1,2,3,4\n1,2,3\n4,5,6\n", r"line 2 has 4 cells, 3 were expected"),
        ("a,b,c\n1,2,3\n1,2,3,4\n4,5,6\n", r"line 3 has 4 cells, 3 were expected"),
        ("a,b,c\n" + "s,2,3,4\n" * 9 + "1,2,3\n", r"line 11 has 3 cells, 4 were expected"),
        ("a,b,c\n1,2,3,\n4,5,6,\n", r"line 1: all lines below end with a delimiter and nothing behind it; remove"),
        ("a,b,c,\n1,2,3,\n4,5,6,\n", r"line 1: the header and all lines below end with a delimiter"),
        ("a,b,c,\n1,2,3,4\n4,5,6,\n", r"line 1: column 4 has no name; give it one"),
    ],
)
def test_lines_of_another_length(tmp_path, text, sentence):
    with pytest.raises(InvalidDataError, match=sentence):
        open_csv(put(tmp_path / "t.csv", text), scratch=tmp_path / "s")


def test_row_names_with_a_last_column_that_is_empty_at_times(tmp_path):
    table = open_csv(put(tmp_path / "t.csv", "a,b\nr,1,\ns,2,3\n"), scratch=tmp_path / "s")
    assert (table.sample_ids, names(table)) == (["r", "s"], ["a", "b"])


def test_columns_of_one_name_may_be_left_out(tmp_path):
    path = put(tmp_path / "t.csv", "a,b,a,c\n1,2,3,4\n5,6,7,8\n")
    with pytest.raises(
        InvalidDataError, match=r"1 and 3 are both called 'a'; rename one, or leave both out with --exc"
    ):
        open_csv(path, scratch=tmp_path / "s")
    table = open_csv(path, scratch=tmp_path / "s", exclude=("a",))
    assert (names(table), matrix(table).tolist()) == (["b", "c"], [[2, 4], [6, 8]])
    with pytest.raises(InvalidDataError, match=r"1 and 3 are both called 'a'; rename one \(--no-header"):
        open_csv(path, scratch=tmp_path / "s", exclude=("a",), fields=("a",))


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"sample_id": "ID"}, r"t\.csv has no column 'ID' for --sample-id; did you mean id\?"),
        ({"sample_id": "id", "target": "Y"}, r"t\.csv has no column 'Y' for --target; did you mean y\?"),
        ({"sample_id": "id", "exclude": "agee"}, r"t\.csv has no column 'agee' for --exclude; did you mean age\?"),
        ({"sample_id": "id", "target": "f.csv:bmj"}, r"f\.csv has no column 'bmj'; did you mean bmi\?"),
    ],
)
def test_a_typo_costs_no_pass(tmp_path, monkeypatch, asked, sentence):
    monkeypatch.setattr(csv_format, "pass_over", None)
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "f.csv", "id,bmi\ns1,1\ns2,2\n")
    path = put(tmp_path / "t.csv", "id,y,age\ns1,1,2\ns2,3,4\n")
    with pytest.raises(InvalidDataError, match=sentence):
        ingest(path, tmp_path / "o.zarr", **asked)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["f.csv", "t.csv"]


def test_a_name_that_one_of_several_files_has(tmp_path):
    paths = [put(tmp_path / "1.csv", "id,a,y\ns1,1,5\ns2,2,6\n"), put(tmp_path / "2.csv", "id,b,c\ns1,3,0\ns2,4,0\n")]
    with pytest.raises(InvalidDataError, match=r"2 files \(.*1\.csv, \.\.\.\) has no column 'z' for --target"):
        ingest(paths, tmp_path / "o.zarr", sample_id="id", target="z")
    assert ingest(paths, tmp_path / "o.zarr", sample_id="id", target="y", exclude="b").n_features == 2


def test_row_names_are_ids_whatever_people_call_them(tmp_path):
    path = put(tmp_path / "t.csv", ",a,y\ns1,1,5\ns2,2,6\n")
    targets = put(tmp_path / "f.csv", "id,z\ns2,2\ns1,1\n")
    ingest(path, tmp_path / "o.zarr", sample_id="id", target=targets)
    assert open_store(tmp_path / "o.zarr").target("z").tolist() == [1, 2]
