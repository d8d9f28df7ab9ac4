"""svmlight files: the table that scikit-learn reads, in any number of batches."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_cases import batches_of, matrix, open_svm, put
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from backbone_dask.errors import InvalidDataError
from backbone_dask.values import FeatureBlock


def dumped(path, X, y, **how):
    dump_svmlight_file(X, y, str(path), **how)
    return str(path)


@settings(max_examples=25)
@given(
    st.integers(0, 1000),
    st.integers(1, 12),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([16, 100, 1 << 20]),
)
def test_any_table(tmp_path_factory, seed, n, p, zero_based, comment, packed, n_bytes):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, p)) < 0.5, rng.normal(size=(n, p)), 0)
    # The widest index is there, and so is the first: it tells how indices count.
    X[0, [0, p - 1]] = rng.normal(size=2)
    folder = tmp_path_factory.mktemp("t")
    path = dumped(
        folder / "t.svm",
        sparse.csr_array(X),
        rng.normal(size=n),
        zero_based=zero_based,
        comment="a # b" if comment else None,
    )
    if packed:
        put(folder / "t.svm", gzip.compress((folder / "t.svm").read_bytes()))
    with pytest.MonkeyPatch.context() as patch:
        batches_of(patch, n_bytes)
        table = open_svm(path, scratch=folder / "s")
    if packed:
        put(folder / "t.svm", gzip.decompress((folder / "t.svm").read_bytes()))
    expected, y = load_svmlight_file(path, zero_based=zero_based)
    assert (table.dtype, table.names(0, p)) == (np.float64, None)
    assert matrix(table, 2).tobytes() == expected.toarray().tobytes()
    assert np.array([*map(float, table.fields["y"])]).tobytes() == y.tobytes()


def test_comments_queries_labels_and_order(tmp_path):
    text = "# made by hand\n\ncat qid:7 3:1.5\t1:-2 # 9:9\r\n  dog  \ncat 2:NA 4:1e-3"
    table = open_svm(put(tmp_path / "t.svm", text), scratch=tmp_path)
    np.testing.assert_array_equal(matrix(table), [[-2, 0, 1.5, 0], [0, 0, 0, 0], [0, np.nan, 0, 0.001]])
    assert table.fields["y"].tolist() == ["cat", "dog", "cat"]
    assert (table.sample_ids, table.missing) == (None, "refuse")


def test_hard_numbers_are_exact(tmp_path):
    """More of them than Python is given at first."""
    values = [f"{m}.5" for m in range(2**53, 2**53 + 400)]
    table = open_svm(put(tmp_path / "t.svm", "\n".join(f"0 1:{value}" for value in values)), scratch=tmp_path)
    assert matrix(table)[:, 0].tolist() == [float(value) for value in values]


@pytest.mark.parametrize(("wanted", "dtype"), [(None, "float64"), ("float32", "float32"), ("int8", "float64")])
def test_dtypes(tmp_path, wanted, dtype):
    """Whole numbers are for the caller to make."""
    table = open_svm(put(tmp_path / "t.svm", "1 1:0.1 2:3\n"), scratch=tmp_path, dtype=wanted)
    assert table.dtype == dtype
    assert matrix(table).tolist() == [[np.dtype(dtype).type(0.1), 3]]


def test_labels_may_be_left_out(tmp_path):
    table = open_svm(put(tmp_path / "t.svm", "1 1:2\n"), scratch=tmp_path, exclude=("y", "z"))
    assert (dict(table.fields), table.excluded) == ({}, {"y"})


def test_files_of_different_width_count_alike(tmp_path):
    one, other = put(tmp_path / "1.svm", "1 1:1 2:2\n"), put(tmp_path / "2.svm", "0 0:5 4:6\n1\n")
    table = open_svm(one, other, scratch=tmp_path)
    assert matrix(table).tolist() == [[0, 1, 2, 0, 0], [5, 0, 0, 0, 6], [0, 0, 0, 0, 0]]
    assert table.fields["y"].tolist() == ["1", "0", "1"]
    assert open_svm(one, scratch=tmp_path).n_features == 2


def test_a_block_of_a_pickled_table(tmp_path, monkeypatch):
    batches_of(monkeypatch, 8)
    table = open_svm(put(tmp_path / "t.svm", "1 1:1 5:2\n0 3:7\n1\n0 4:9 5:8\n"), scratch=tmp_path)
    block = pickle.loads(pickle.dumps(table)).read(FeatureBlock(0, 2, 4))
    assert block.tolist() == [[0, 7, 0, 0], [0, 0, 0, 9]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 1:2\n0 1:x\n", "t.svm, line 2: the value of feature 1, 'x', is not a number; a line is a label and then"),
        ("1 1:2\n\n0 a:1\n", "t.svm, line 3: 'a:1' is no index:value"),
        ("1 1:2\n0 1:\n", "line 2: '1:' is no index:value"),
        ("1 1:2\n0 -1:3\n", "line 2: '-1:3' is no index:value"),
        ("1 1:2\n0 5\n", "line 2: '5' is no index:value"),
        ("1 1:2\n0 99999999999999999999:1\n", "line 2: '99999999999999999999:1' is no index:value"),
        ("1 1:2\n0 2:3 1:1 2:4\n", "line 2: feature 2 occurs twice"),
        ("1\n2\n", "t.svm has no entry index:value; is it an svmlight file"),
        ("", "t.svm is empty"),
        (b"1 1:2\n\xe9 1:2\n", "t.svm, line 2: byte 0xe9 is not UTF-8"),
        (b"1 1:2\n\x00", "t.svm is no text"),
        (gzip.compress(b"1 1:2\n" * 1000, mtime=0)[:-4], "t.svm is a broken gzip file"),
    ],
)
@pytest.mark.parametrize("n_bytes", [6, 1 << 20])
def test_refusals(tmp_path, monkeypatch, text, sentence, n_bytes):
    batches_of(monkeypatch, n_bytes)
    with pytest.raises(InvalidDataError, match=sentence) as caught:
        open_svm(put(tmp_path / "t.svm", text), scratch=tmp_path / "s")
    assert str(tmp_path / "t.svm") in str(caught.value)
