"""VCF files through bio2zarr: what a literal reader finds in the text; conversions found again; bad files."""

from __future__ import annotations

import gzip
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import cyvcf2
import numpy as np
import pytest
from biology_cases import bench, opened, whole

from backbone_dask.errors import InvalidDataError, MissingExtraError
from backbone_dask.store.ingest import vcf
from backbone_dask.store.ingest.table import Wanted

HEADER = """##fileformat=VCFv4.3
##contig=<ID=1>
##contig=<ID=X>
##FILTER=<ID=PASS,Description="sound">
##INFO=<ID=AC,Number=A,Type=Integer,Description="counts">
##FORMAT=<ID=GT,Number=1,Type=String,Description="genotype">
##FORMAT=<ID=DP,Number=1,Type=Integer,Description="depth">
##FORMAT=<ID=DS,Number=1,Type=Float,Description="dosage">
"""
WITHOUT_GENOTYPES = HEADER.replace("ID=GT", "ID=XX").replace("ID=DS", "ID=YY")
COLUMNS = "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT a b c d"
RECORDS = """
1 10 rs1 A C . PASS AC=4 GT:DP 0/0:3 0|1:2 1/1:. ./.:1
1 20 . A C,GT . PASS AC=1,2 GT 1/2 0|2 . 0/.
1 30 rs3 A C 12 . AC=1 GT:DP 0/1:1 1/0:2 0|0:3 1|1:4
X 5 rs4 G T . PASS AC=2 GT 1 0 0/1 .
X 9 rs3 G T,A,C . PASS AC=0,0,3 GT 3|3 0/3 0/0 2/1
"""
NAMES = ["rs1", "1:20:A:C,GT", "1:30:A:C", "rs4", "X:9:G:T,A,C"]


def text(records: str = RECORDS, header: str = HEADER, columns: str = COLUMNS) -> str:
    lines = [columns, *records.strip().splitlines()] if records.strip() else [columns]
    return header + "".join("\t".join(line.split()) + "\n" for line in lines)


def literal(records: str = RECORDS) -> list[list[int]]:
    """Alleles that are not the reference, read from the text as a person would."""
    calls = [[entry.split(":")[0] for entry in line.split()[9:]] for line in records.strip().splitlines()]
    return [[_count(call.replace("|", "/").split("/")) for call in variant] for variant in calls]


def _count(alleles: list[str]) -> int:
    return -128 if "." in alleles else sum(allele != "0" for allele in alleles)


def write(folder: Path, content: str | None = None, name: str = "small.vcf") -> Path:
    path = folder / name
    raw = (text() if content is None else content).encode()
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def as_bcf(path: Path) -> Path:
    source = cyvcf2.VCF(path)
    writer = cyvcf2.Writer(str(path.with_suffix(".bcf")), source, "wb")
    for variant in source:
        writer.write_record(variant)
    writer.close()
    source.close()
    return path.with_suffix(".bcf")


@pytest.mark.parametrize("kind", ["small.vcf.gz", "small.bcf"])
def test_values_are_those_of_the_text(tmp_path: Path, kind: str) -> None:
    """Several alternatives, missing and half-missing calls, haploid ones among diploid, two contigs, no index."""
    path = as_bcf(write(tmp_path)) if kind.endswith(".bcf") else write(tmp_path, name=kind)
    told: list[tuple[str, int, int, str]] = []
    table = vcf.open_table((str(path),), Wanted(), replace(bench(tmp_path), told=lambda *what: told.append(what)))
    assert told == [("reading VCF", 1, 2, "parts"), ("reading VCF", 2, 2, "parts"), ("writing VCF Zarr", 1, 1, "parts")]
    np.testing.assert_array_equal(whole(table, 2), literal())
    assert table.names(0, 5) == NAMES
    assert table.sample_ids == ["a", "b", "c", "d"]
    assert (table.location, table.files, table.dtype, table.missing) == (str(path), (str(path),), np.int8, "mean")


def test_dosages_are_used_where_there_are_no_calls(tmp_path: Path) -> None:
    records = "1 10 rs1 A C . PASS . DS 0.25 1.5 . 2\n1 20 rs2 A C . PASS . DS 0 1 2 0.125"
    header = "".join(line for line in HEADER.splitlines(keepends=True) if "ID=GT" not in line)
    table = opened("vcf", write(tmp_path, text(records, header)))
    assert table.dtype == np.float32
    np.testing.assert_array_equal(whole(table), [[0.25, 1.5, np.nan, 2], [0, 1, 2, 0.125]])


def test_a_conversion_is_found_again_unless_the_file_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    encode = vcf._encode
    monkeypatch.setattr(vcf, "_encode", lambda *arguments: (made.append(arguments[0]), encode(*arguments)))
    path = write(tmp_path)
    opened("vcf", path)
    np.testing.assert_array_equal(whole(opened("vcf", path)), literal())
    assert len(made) == 1
    write(tmp_path, text().replace("0|1:2", "1|1:2"))
    os.utime(path, (1, 1))
    assert whole(opened("vcf", path))[0].tolist() == [0, 2, 2, -128]
    assert len(made) == 2


def test_an_interrupted_conversion_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(vcf, "_write_schema", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            opened("vcf", path)
    assert not list((tmp_path / "scratch").glob("*.vcz"))
    monkeypatch.setattr(vcf, "_explode", _interrupted)
    np.testing.assert_array_equal(whole(opened("vcf", path)), literal())


def _interrupted(*arguments: Any) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", r"small\.vcf cannot be read as VCF \(.*is not valid bcf or vcf"),
        ("hello\n", r"small\.vcf cannot be read as VCF \(.*; see what bcftools view says of it"),
        (text(""), r"small\.vcf has no variants; give"),
        (
            text("1 10 rs1 A C . PASS AC=1", columns="#CHROM POS ID REF ALT QUAL FILTER INFO"),
            "small.vcf has no samples",
        ),
        (
            text("1 10 rs1 A C . PASS AC=1 GT 0/0 0/1"),
            r"small\.vcf, line 10 \(11 columns, not 13\), cannot be read as VCF \(.*; see what bcftools",
        ),
        (
            text(RECORDS.replace("1 30", "1 xx")),
            r"small\.vcf, line 12 \(no number as its position\), cannot be read as VCF",
        ),
        (
            text("1 10 rs1 A C . PASS AC=1 DP 1 2 3 4", HEADER.replace("GT", "XX").replace("DS", "YY")),
            r"small\.vcf has no genotypes",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(InvalidDataError, match=sentence):
        opened("vcf", write(tmp_path, content))
    assert not list((tmp_path / "scratch").glob("*.icf/wip"))


def test_a_file_that_is_not_on_this_machine_is_refused(tmp_path: Path) -> None:
    for place in (str(tmp_path / "lost.vcf"), "https://nowhere.example/some.vcf.gz"):
        with pytest.raises(InvalidDataError, match="is no file on this machine; download it, or correct the path"):
            vcf.open_table((place,), Wanted(), bench(tmp_path))


@pytest.mark.parametrize("library", ["bio2zarr.vcf", "cyvcf2"])
def test_without_its_library_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'backbone-dask\[vcf\]'"):
        opened("vcf", write(tmp_path))
