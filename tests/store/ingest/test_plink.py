"""PLINK files: genotypes as bed-reader has them, names, samples, and what is wrong with a file, in a sentence."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import bed_reader
import numpy as np
import pytest
from biology_cases import bench, opened, whole
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest import plink as plink_format
from backbone_dask.store.ingest import variant_list
from backbone_dask.store.ingest.plink import decoded, open_table, phenotype_values
from backbone_dask.store.ingest.table import Wanted
from backbone_dask.store.ingest.variant_list import read_samples

UNKNOWN = -127
"""What bed-reader has for a missing value."""


def write(folder: Path, dosages: NDArray[np.int8], **properties: Any) -> Path:
    path = folder / "small.bed"
    bed_reader.to_bed(path, dosages, properties=properties)
    return path


def random_dosages(n_samples: int = 11, n_variants: int = 7) -> NDArray[np.int8]:
    rng = np.random.default_rng(0)
    return rng.choice(np.array([0, 1, 2, UNKNOWN], np.int8), size=(n_samples, n_variants))


def expected(dosages: NDArray[np.int8]) -> NDArray[np.int8]:
    return np.where(dosages == UNKNOWN, -128, dosages).T.astype(np.int8)


@pytest.mark.parametrize("n_samples", [1, 3, 4, 5, 11])
def test_values_are_those_of_bed_reader(tmp_path: Path, n_samples: int) -> None:
    dosages = random_dosages(n_samples)
    table = opened("plink", write(tmp_path, dosages))
    assert (table.n_samples, table.n_features, table.dtype, table.missing) == (n_samples, 7, np.int8, "mean")
    np.testing.assert_array_equal(whole(table), expected(dosages))


def test_the_first_allele_is_counted(tmp_path: Path) -> None:
    """By the specification of PLINK: 00 is homozygous for the first allele of the .bim file, 11 for the second."""
    path = write(tmp_path, np.zeros((4, 1), np.int8))
    path.write_bytes(bytes([0x6C, 0x1B, 1, 0b11_10_01_00]))
    np.testing.assert_array_equal(whole(opened("plink", path)), [[2, -128, 1, 0]])


@given(st.integers(1, 40), st.integers(1, 5), st.data())
def test_the_decoder_takes_two_bits_a_sample(n_samples: int, n_variants: int, data: st.DataObject) -> None:
    size = -(-n_samples // 4)
    packed = data.draw(st.binary(min_size=size * n_variants, max_size=size * n_variants))
    literal = [
        [(2, -128, 1, 0)[packed[j * size + i // 4] >> 2 * (i % 4) & 3] for i in range(n_samples)]
        for j in range(n_variants)
    ]
    np.testing.assert_array_equal(decoded(packed, n_variants, n_samples), np.array(literal, np.int8))


def test_the_path_may_lack_its_suffix(tmp_path: Path) -> None:
    write(tmp_path, random_dosages())
    assert open_table((str(tmp_path / "small"),), Wanted(), bench(tmp_path)).n_features == 7


def test_names_are_ids_or_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an id is missing or occurs twice; also where lines are looked up from marks between them."""
    monkeypatch.setattr(variant_list, "LINES_PER_MARK", 2)
    path = write(
        tmp_path,
        random_dosages(),
        sid=["rs1", ".", "twice", "rs4", "twice", ".", "rs7"],
        chromosome=["1", "1", "2", "2", "X", "X", "X"],
        bp_position=[10, 20, 30, 40, 50, 60, 70],
        allele_1=list("ACGTACG"),
        allele_2=list("TTTGGGA"),
    )
    table = opened("plink", path)
    names = ["rs1", "1:20:C:T", "2:30:G:T", "rs4", "X:50:A:G", "X:60:C:G", "rs7"]
    assert table.names(0, 7) == names
    for start in range(7):
        for stop in range(start, 8):
            assert table.names(start, stop) == names[start:stop]


def test_samples_are_told_apart_by_family_only_where_they_must(tmp_path: Path) -> None:
    fid, iid = ["a", "a", "b"], ["1", "2", "3"]
    assert opened("plink", write(tmp_path, random_dosages(3), fid=fid, iid=iid)).sample_ids == iid
    table = opened("plink", write(tmp_path, random_dosages(3), fid=fid, iid=["1", "2", "1"]))
    assert table.sample_ids == ["a:1", "a:2", "b:1"]


def test_the_column_of_ids_can_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, random_dosages(3), fid=["a", "b", "c"])
    assert opened("plink", path, Wanted(sample_id="FID")).sample_ids == ["a", "b", "c"]
    other = opened("plink", path, Wanted(sample_id="city"))
    assert (other.sample_ids, other.id_column) == (opened("plink", path).sample_ids, None)


def test_the_fam_file_is_read_once_and_does_not_travel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(plink_format, "read_samples", lambda path: (seen.append(path), read_samples(path))[1])
    table = opened("plink", write(tmp_path, random_dosages(3), fid=["a" * 3000, "b", "c"]))
    assert (table.fields["FID"][1], len(table.sample_ids), len(seen)) == ("b", 3, 1)
    assert len(pickle.dumps(table)) < 3000


def test_text_with_underscores_is_no_number() -> None:
    assert phenotype_values(np.array(["1_1", "2"])).tolist() == ["1_1", "2"]


def test_fields_are_what_the_fam_file_says(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        random_dosages(4),
        fid=list("abcd"),
        iid=list("1234"),
        father=["9", "0", "0", "0"],
        mother=["0", "8", "0", "0"],
        sex=[1, 2, 0, 1],
        pheno=["1.5", "-9", "0", "-2"],
    )
    fields = opened("plink", path).fields
    np.testing.assert_array_equal(fields["phenotype"], [1.5, np.nan, 0, -2])
    np.testing.assert_array_equal(fields["sex"], [1, 2, np.nan, 1])
    assert {name: list(fields[name]) for name in ("FID", "IID", "father", "mother")} == {
        "FID": list("abcd"),
        "IID": list("1234"),
        "father": ["9", "0", "0", "0"],
        "mother": ["0", "8", "0", "0"],
    }


def test_a_phenotype_of_cases_and_controls_keeps_its_codes() -> None:
    nan = np.nan
    np.testing.assert_array_equal(phenotype_values(np.array(["1", "2", "0", "-9", "2"])), [1, 2, nan, nan, 2])
    np.testing.assert_array_equal(phenotype_values(np.array(["1", "NA", "0", "3"])), [1, nan, 0, 3])
    assert list(phenotype_values(np.array(["case", "1"]))) == ["case", "1"]


def overwrite(path: Path, suffix: str, content: bytes | None) -> None:
    target = path.with_suffix(suffix)
    target.unlink() if content is None else target.write_bytes(content)


FAM = b"f1 i1 0 0 1 1\nf2 i2 0 0 1 1\n"
BIM = b"1 rs1 0 1 A C\n1 rs2 0 2 A C\n"


@pytest.mark.parametrize(
    ("suffix", "content", "sentence"),
    [
        (".bed", b"PK\x03\x04", r"small\.bed is no PLINK 1 file: it begins with the bytes 50 4b 03 .*--make-bed"),
        (".bed", b"", r"small\.bed is no PLINK 1 file: it begins with the bytes \(none\)"),
        (".bed", b"\x6c\x1b", r"small\.bed is no PLINK 1 file: it begins with the bytes 6c 1b instead of 6c 1b 01"),
        (".bed", b"\x6c\x1b\x00\x00\x00", r"small\.bed lies sample by sample \(its third byte is 00.*--make-bed"),
        (".bed", b"\x6c\x1b\x01\x00", r"has 4 bytes, but 2 variants in .*bim and 2 samples in .*fam make 5; take"),
        (".bed", b"\x6c\x1b\x01\x00\x00\x00", r"has 6 bytes, but 2 variants in .*bim and 2 samples"),
        (".bed", None, r"small\.bed is not there; give the path"),
        (".bim", None, r"small\.bim is not there, which .*small\.bed needs beside it"),
        (".fam", None, r"small\.fam is not there, which .*small\.bed needs beside it"),
        (".bim", b"", r"small\.bim is empty"),
        (".fam", b"", r"small\.fam is empty"),
        (".bim", b"1 rs1 0 1 A C\n1 rs2 0 2 A\n", r"small\.bim, line 2, has 5 columns instead of 6 \(chromosome, id"),
        (".bim", b"1 rs1 0 1 A C\n1 \xff 0 2 A C\n", r"small\.bim, line 2, is not UTF-8"),
        (".fam", b"f1 i1 0 0 1\nf2 i2 0 0 1 1\n", r"small\.fam, line 1, has 5 columns instead of 6 \(family, sample"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, suffix: str, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "small.bed"
    for each, sound in ((".bed", b"\x6c\x1b\x01\x00\x00"), (".bim", BIM), (".fam", FAM)):
        overwrite(path, each, sound)
    assert opened("plink", path).n_features == 2
    overwrite(path, suffix, content)
    with pytest.raises(InvalidDataError, match=sentence):
        opened("plink", path)


def test_a_file_that_becomes_shorter_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path, random_dosages())
    table = opened("plink", path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InvalidDataError, match="became shorter while it was read"):
        whole(table)
