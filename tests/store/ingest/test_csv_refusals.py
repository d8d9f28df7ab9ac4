"""What cannot be read is one sentence: file, line, column, and what to do."""

from __future__ import annotations

import gzip
import random

import pytest
from row_cases import batches_of, open_csv, put

from backbone_dask.errors import InvalidDataError

BEFORE = "a,b,c\n" + "1,2,3\n\n" * 20


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("t.csv", BEFORE + "1,2\n", "t.csv, line 42 has 2 cells, 3 were expected; correct the line, or leave it out"),
        ("t.csv", BEFORE + "1,2,3,4,5\n1,2,3\n", "line 42 has 5 cells, 3 were expected"),
        ("t.csv", BEFORE + "1,2,3,\n", "line 42 has 4 cells, 3 were expected"),
        ("t.csv", BEFORE + "1,x,3\n", r"line 42, column 'b': 'x' is not a number; .* with --exclude b"),
        ("t.csv", BEFORE + "1,1_000,3\n", "line 42, column 'b': '1_000' is not a number"),
        ("t.csv", BEFORE + "1," + "long " * 20 + ",3\n", r"'long long long long long long \.\.\.' is not a number"),
        ("t.csv", BEFORE + 's"1,2,3\n', "line 42, column 'a': 's\"1' is not a number; --sample-id a keeps the column"),
        ("t.csv", BEFORE + "s1,M,3\n", r"'s1' is not a number, nor is that of 'b'; .*--exclude a leaves it out"),
        ("t.csv", "a,b,c,d,e,f\n" + ",".join("uvwxyz"), "nor is that of 'b', 'c', 'd' and 2 more; "),
        ("t.csv", BEFORE + '1,"2\n3",4\n', "line 42: a quoted cell does not end on its line; write cells without"),
        ("t.csv", (BEFORE + "1,\xe9,3\n").encode("latin1"), r"line 42, column 'b': '\\\\xe9' is not a number"),
        ("t.csv", "a;b\n1,5;2\n", "line 2, column 'a': '1,5' is not a number; write decimals with a point"),
        ("t.csv", "a,b,a\n1,2,3\n", "t.csv, line 1: columns 1 and 3 are both called 'a'; rename one"),
        ("t.csv", "\n\na,,c\n1,2,3\n", "t.csv, line 3: column 2 has no name; give it one"),
        ("t.csv", "", "t.csv is empty; a header and a line for each sample are needed"),
        ("t.csv", "\n \n", "t.csv is empty"),
        ("t.csv", "a,b\n\n", "t.csv has a header and no samples; a line for each sample is needed below it"),
        ("t.csv", b"a,b\n\x00\x01\x02", "t.csv is no text .byte 4 is 0.; say --format"),
        ("t.csv", b"a\x01\x02,b\n1,2\n", "t.csv is no text: line 1 has control characters"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16"), "t.csv is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"),
        ("t.csv", "gr\xf6\xdfe,b\n1,2\n".encode("latin1"), "t.csv, line 1: byte 0xf6 is not UTF-8; convert the file"),
        ("t.csv", "a,b\r1,2\r3,4\r", "t.csv ends its lines with carriage returns alone; convert it"),
        (
            "t.csv.gz",
            gzip.compress(b"a,b\n" + random.Random(0).randbytes(30000).hex().encode(), mtime=0)[:9000],
            "is a broken gzip file",
        ),
        (
            "t.csv.gz",
            gzip.compress(BEFORE.encode() + b"1,2\n", mtime=0),
            "t.csv.gz, line 42 has 2 cells, 3 were expected",
        ),
    ],
)
@pytest.mark.parametrize("n_bytes", [16, 1 << 20])
def test_bad_files(tmp_path, monkeypatch, name, text, sentence, n_bytes):
    batches_of(monkeypatch, n_bytes)
    with pytest.raises(InvalidDataError, match=sentence) as caught:
        open_csv(put(tmp_path / name, text), scratch=tmp_path / "s")
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_broken_checksum(tmp_path):
    packed = bytearray(gzip.compress(b"a,b\n1,2\n"))
    packed[-6] ^= 1
    with pytest.raises(InvalidDataError, match=r"broken gzip file .CRC check failed.*; copy or download it again"):
        open_csv(put(tmp_path / "t.csv.gz", bytes(packed)), scratch=tmp_path / "s")


def test_text_that_is_set_apart_must_be_utf8(tmp_path):
    with pytest.raises(InvalidDataError, match=r"t.csv, line 3: byte 0xe9 is not UTF-8; convert"):
        open_csv(put(tmp_path / "t.csv", b"id,a\nx,1\nRen\xe9,2\n"), scratch=tmp_path, sample_id="id")


def test_all_columns_left_out(tmp_path):
    with pytest.raises(InvalidDataError, match=r"t.csv has no column left that is a feature; leave fewer of its 2 out"):
        open_csv(put(tmp_path / "t.csv", "a,b\n1,2\n"), scratch=tmp_path, fields=("a",), exclude=("b",))


@pytest.mark.parametrize(("cell", "dtype"), [("128", "int8"), ("1.5", "int8"), ("-1", "uint8"), ("255", "uint8")])
def test_what_an_integer_cannot_hold(tmp_path, cell, dtype):
    with pytest.raises(
        InvalidDataError, match=rf"line 3, column 'c': {cell} does not fit {dtype}, which .* --dtype fl"
    ):
        open_csv(put(tmp_path / "t.csv", f"a,b,c\n1,2,3\n1,2,{cell}\n"), scratch=tmp_path, dtype=dtype, exclude=("a",))


@pytest.mark.parametrize(
    ("other", "why"), [("a,c\n1,2\n", "column 2 is 'b' and 'c'"), ("a,b,c\n1,2,3\n", "they have 2 and 3 columns")]
)
def test_files_with_other_columns(tmp_path, other, why):
    paths = put(tmp_path / "1.csv", "a,b\n1,2\n"), put(tmp_path / "2.csv", other)
    with pytest.raises(InvalidDataError, match=f"1.csv and .*2.csv do not have the same columns: {why}; give them"):
        open_csv(*paths, scratch=tmp_path)


def test_no_file(tmp_path):
    with pytest.raises(InvalidDataError, match=r"there is no file .*t.csv; check its name"):
        open_csv(tmp_path / "t.csv", scratch=tmp_path)


def test_a_file_that_grows_meanwhile(tmp_path):
    path = put(tmp_path / "t.csv", "a,b\n1,2\n")

    def grow(*_):
        put(tmp_path / "t.csv", "a,b\n1,2\n3,4\n")

    with pytest.raises(InvalidDataError, match=r"t.csv changed while it was read; ingest it again"):
        open_csv(path, scratch=tmp_path / "s", told=grow)
