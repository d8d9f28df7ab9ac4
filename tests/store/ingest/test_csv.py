"""Text tables: every dialect gives the table that pandas reads, in any number of batches."""

from __future__ import annotations

import gzip
import io
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_cases import batches_of, matrix, names, open_csv, put

from backbone_dask.store.ingest import lines

SAMPLES = "id,a,b,y\ns1,1,2.5,yes\ns2,-3,4e2,no\ns3,0,NA,yes\n"


def test_features_fields_and_ids(tmp_path):
    path = put(tmp_path / "t.csv", SAMPLES)
    table = open_csv(path, scratch=tmp_path / "s", sample_id="id", fields=("y", "elsewhere"), exclude=("none",))
    np.testing.assert_array_equal(matrix(table), [[1, 2.5], [-3, 400], [0, np.nan]])
    assert (names(table), table.sample_ids, table.files) == (["a", "b"], ["s1", "s2", "s3"], (path,))
    assert {name: list(values) for name, values in table.fields.items()} == {"y": ["yes", "no", "yes"]}
    assert (table.dtype, table.missing, table.excluded) == (np.float64, "refuse", frozenset())
    assert table.names(1, 2) == ["b"]


def test_fields_are_the_cells_as_they_are(tmp_path):
    path = put(tmp_path / "t.csv", SAMPLES)
    table = open_csv(path, scratch=tmp_path, sample_id="id", fields=("b",), exclude=("y",))
    assert {name: values.tolist() for name, values in table.fields.items()} == {"b": ["2.5", "4e2", "NA"]}


def test_a_column_that_is_left_out_may_hold_anything(tmp_path):
    table = open_csv(put(tmp_path / "t.csv", SAMPLES), scratch=tmp_path, exclude=("id", "y", "b", "other"))
    assert (names(table), table.excluded) == (["a"], {"id", "y", "b"})


WHOLE = "a,b\n1,-127\n127,0\n"


@pytest.mark.parametrize(
    ("text", "wanted", "dtype"),
    [
        (WHOLE, None, "int8"),
        (WHOLE, "float32", "float32"),
        (WHOLE, "float64", "float64"),
        (WHOLE, "int8", "int8"),
        (WHOLE.replace("-127", "254"), "uint8", "uint8"),
        (WHOLE.replace("-127", "254"), None, "float64"),
        (WHOLE.replace("-127", "-128"), None, "float64"),
        (WHOLE.replace("-127", "128"), None, "float64"),
        (WHOLE.replace("-127", "1.5"), None, "float64"),
        (WHOLE.replace("-127", "-0.0"), None, "float64"),
        (WHOLE.replace("-127", "NA"), None, "float32"),
        (WHOLE.replace("-127", "NA"), "int8", "float32"),
        (WHOLE.replace("-127", "NA"), "float64", "float64"),
        (WHOLE.replace("-127", "1e0"), None, "int8"),
    ],
)
@pytest.mark.parametrize("n_bytes", [4, 1 << 20])
def test_dtypes(tmp_path, monkeypatch, text, wanted, dtype, n_bytes):
    """Whatever the batches, and with NaN for what is missing, so that the caller decides about it."""
    batches_of(monkeypatch, n_bytes)
    table = open_csv(put(tmp_path / "t.csv", text), scratch=tmp_path, dtype=wanted)
    expected = pd.read_csv(io.StringIO(text)).to_numpy(float)
    assert table.dtype == dtype
    np.testing.assert_array_equal(matrix(table), expected)
    if dtype.startswith("float"):
        np.testing.assert_array_equal(np.signbit(matrix(table)), np.signbit(expected))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "a,b\n1,2\n3,4\n"),
        ("t.csv", "a,b\n1,2\n3,4"),
        ("t.csv", "a,b\r\n1,2\r\n3,4\r\n"),
        ("t.csv", "\ufeffa,b\n1,2\n3,4\n"),
        ("t.csv", "a;b\n1;2\n3;4\n"),
        ("t.csv", "a\tb\n1\t2\n3\t4\n"),
        ("t.csv", '"a","b"\n"1","2"\n"3" , "4"\n'),
        ("t.csv", "\n\na,b\n\n1,2\n\n3,4\n\n\n"),
        ("t.csv", "a , b\n 1 , 2 \n\t3,4\t\n"),
        ("t.tsv", "a\tb\n1\t2\n3\t4\n"),
        ("t.tsv", "a\tb\n 1\t2 \n3\t 4\n"),
        ("t.txt", "a b\n1 2\n3 4\n"),
        ("t.txt", '  "a"   b\n 1\t 2  \n3 "4"\n'),
        ("t.txt", "a,b\n1,2\n3,4\n"),
    ],
)
def test_dialects(tmp_path, name, text):
    table = open_csv(put(tmp_path / name, text), scratch=tmp_path)
    assert (matrix(table).tolist(), names(table)) == ([[1, 2], [3, 4]], ["a", "b"])
    assert table.sample_ids is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", ",a,b\nr1,1,2\nr 2,3,4\n"),
        ("t.csv", '"","a","b"\n"r1",1,2\n"r 2",3,4\n'),
        ("t.csv", "a,b\nr1,1,2\nr 2,3,4\n"),
        ("t.txt", '"a" "b"\n"r1" 1 2\n"r 2" 3 4\n'),
    ],
)
@pytest.mark.parametrize("sample_id", [None, "id"])
def test_row_names_are_ids(tmp_path, name, text, sample_id):
    table = open_csv(put(tmp_path / name, text), scratch=tmp_path, sample_id=sample_id)
    assert (matrix(table).tolist(), names(table)) == ([[1, 2], [3, 4]], ["a", "b"])
    assert table.sample_ids == ["r1", "r 2"]


def test_row_names_give_way_to_an_id(tmp_path):
    table = open_csv(put(tmp_path / "t.csv", ",id,a\n0,p,1\n1,q,2\n"), scratch=tmp_path, sample_id="id")
    assert (table.sample_ids, names(table)) == (["p", "q"], ["a"])


def test_text_in_quotes_may_hold_delimiters_and_quotes(tmp_path):
    text = 'who,a\n"Smith, ""J""",1\n" x",2\n'
    table = open_csv(put(tmp_path / "t.csv", text), scratch=tmp_path, sample_id="who")
    assert table.sample_ids == ['Smith, "J"', " x"]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_without_a_header(tmp_path, mark):
    path = put(tmp_path / "t.csv", f"{mark}1.5,2,NA\n3,4,5\n")
    table = open_csv(path, scratch=tmp_path)
    np.testing.assert_array_equal(matrix(table), [[1.5, 2, np.nan], [3, 4, 5]])
    assert names(table) is None


def test_without_a_header_columns_are_called_by_their_place(tmp_path):
    table = open_csv(put(tmp_path / "t.csv", "1.5,2,9\n3,4,5\n"), scratch=tmp_path, fields=("x1",))
    assert (names(table), table.fields["x1"].tolist()) == (["x0", "x2"], ["2", "4"])


@pytest.mark.parametrize("index", [True, False])
def test_columns_that_pandas_numbered_have_a_header(tmp_path, index):
    frame = pd.DataFrame(np.arange(8.0).reshape(2, 4) + 0.5)
    frame.to_csv(tmp_path / "t.csv", index=index)
    table = open_csv(tmp_path / "t.csv", scratch=tmp_path)
    assert (names(table), table.n_samples) == (["0", "1", "2", "3"], 2)
    assert table.sample_ids == (["0", "1"] if index else None)


cells = st.one_of(
    st.floats(allow_nan=True, allow_infinity=False).map(lambda value: "" if value != value else repr(value)),
    st.integers(-200, 200).map(str),
    st.sampled_from(["NA", "?", "nan", "1.", ".5", "-.5e-3", "+7", "123456789012345678901234567890"]),
)


@st.composite
def tables(draw):
    p, n = draw(st.integers(2, 5)), draw(st.integers(1, 8))
    rows = draw(st.lists(st.lists(cells, min_size=p, max_size=p), min_size=n, max_size=n))
    return [f"v{j}" for j in range(p)], rows


@settings(max_examples=50)
@given(
    tables(),
    st.sampled_from([",", ";", "\t", " "]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([5, 30, 1 << 20]),
)
def test_any_table_in_any_dialect(tmp_path_factory, table, delimiter, end, quoted, ended, packed, n_bytes):
    header, rows = table
    folder = tmp_path_factory.mktemp("t")
    rows = [[cell or "NA" for cell in row] for row in rows] if delimiter == " " else rows
    shown = [[f'"{cell}"' for cell in row] if quoted else row for row in [header, *rows]]
    text = (end.join(delimiter.join(row) for row in shown) + end * ended).encode()
    suffix = "txt" if delimiter == " " else "csv"
    path = put(folder / f"t.{suffix}{'.gz' * packed}", gzip.compress(text) if packed else text)
    with pytest.MonkeyPatch.context() as patch:
        batches_of(patch, n_bytes)
        found = open_csv(path, scratch=folder / "s")
    oracle = [[np.nan if cell in ("", "NA", "?", "nan") else float(cell) for cell in row] for row in rows]
    values = matrix(found, 2).astype(float)
    np.testing.assert_array_equal(values, oracle)
    np.testing.assert_array_equal(
        np.signbit(values[~np.isnan(values)]), np.signbit(np.array(oracle))[~np.isnan(oracle)]
    )
    assert names(found) == header


@pytest.mark.parametrize("packed", [False, True])
def test_batches_change_no_bit(tmp_path, monkeypatch, packed):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 30)), columns=[f"g{j}" for j in range(30)])
    frame.to_csv(tmp_path / f"t.csv{'.gz' * packed}", index_label="who")
    bits = set()
    for n_bytes in (10, 600, 5000, 1 << 20):
        batches_of(monkeypatch, n_bytes)
        told = []
        table = open_csv(
            tmp_path / f"t.csv{'.gz' * packed}",
            scratch=tmp_path / f"{n_bytes}",
            sample_id="who",
            told=lambda *heard, told=told: told.append(heard),
        )
        bits.add(matrix(table, 7).tobytes())
        assert table.sample_ids == [str(i) for i in range(40)]
        done = [heard[1] for heard in told]
        assert done == sorted(done)
        assert told[-1] == ("reading", done[-1], (tmp_path / f"t.csv{'.gz' * packed}").stat().st_size, "bytes")
        assert done[-1] == told[-1][2]
        assert len(told) > 1 or n_bytes > 20000
    assert bits == {frame.to_numpy().tobytes()}
    assert not list(tmp_path.rglob("piece-*"))


def test_files_below_one_another(tmp_path):
    paths = [put(tmp_path / f"{i}.csv", f"id,a,b\ns{i},{i},0.5\n") for i in range(3)]
    table = open_csv(*paths, scratch=tmp_path, sample_id="id")
    assert matrix(table).tolist() == [[0, 0.5], [1, 0.5], [2, 0.5]]
    assert (table.sample_ids, table.files) == (["s0", "s1", "s2"], tuple(paths))


def test_small_to_pickle(tmp_path):
    wide = ",".join(f"name{j}" for j in range(5000)) + "\n" + (",".join(["1"] * 5000) + "\n") * 3
    table = open_csv(put(tmp_path / "t.csv", wide), scratch=tmp_path)
    kept = pickle.dumps(table)
    assert len(kept) < 2000
    again = pickle.loads(kept)
    np.testing.assert_array_equal(matrix(again), matrix(table))
    assert names(again) == [f"name{j}" for j in range(5000)]


def test_long_lines_come_many_at_a_time():
    assert lines.batch_bytes(b"x" * 100) == lines.BATCH_BYTES
    assert lines.batch_bytes(b"x" * (4 << 20)) == 128 << 20
    assert lines.batch_bytes(b"x" * (40 << 20)) == lines.MOST_BATCH_BYTES
