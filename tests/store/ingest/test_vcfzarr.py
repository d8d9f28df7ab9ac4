"""VCF Zarr: alleles counted as a person would, whatever the chunks, the ploidy and the zarr format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from biology_cases import opened, whole
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest import vcfzarr
from backbone_dask.store.ingest.table import Wanted
from backbone_dask.values import FeatureBlock

N_VARIANTS, N_SAMPLES = 11, 7
CALLS = np.random.default_rng(0).integers(-2, 4, (N_VARIANTS, N_SAMPLES, 3)).astype(np.int8)


def counted(call: list[int]) -> int:
    """What the table promises of one call, literally."""
    alleles = [allele for allele in call if allele != -2]
    return -128 if not alleles or -1 in alleles else sum(allele > 0 for allele in alleles)


def expected(calls: NDArray[Any]) -> NDArray[np.int8]:
    return np.array([[counted(call) for call in variant] for variant in calls.tolist()], np.int8)


def write(folder: Path, calls: NDArray[Any] = CALLS, *, chunks: tuple[int, int] = (4, 3), **more: Any) -> Path:
    """A VCF Zarr group with what its specification asks for; `more` replaces arrays, or leaves them out where None."""
    path = folder / "small.vcz"
    group = zarr.open_group(path, mode="w", zarr_format=2)
    content = {
        "sample_id": np.array([f"s{i}" for i in range(calls.shape[1])], "U4"),
        "contig_id": np.array(["chr1", "chrX"], "U4"),
        "variant_contig": np.arange(len(calls), dtype=np.int8) % 2,
        "variant_position": 10 * np.arange(len(calls), dtype=np.int32),
        "variant_id": np.array([f"rs{j}" for j in range(len(calls))], "U4"),
        "variant_allele": np.array([["A", "C", "" if j % 2 else "GT"] for j in range(len(calls))], "U2").reshape(-1, 3),
        "call_genotype": calls,
        **more,
    }
    for name, values in content.items():
        if values is not None:
            cut = (*chunks, 3) if values.ndim == 3 else (4,) * (values.ndim == 1) or (4, 3)
            group.create_array(name, data=values, chunks=cut) if values.size else group.create_array(
                name, shape=values.shape, dtype=values.dtype, chunks=tuple(max(1, each) for each in values.shape)
            )
    return path


@pytest.mark.parametrize("step", [1, 3, 4, 5, N_VARIANTS])
@pytest.mark.parametrize("most_kept", [0, 1 << 20])
def test_values_count_alleles_that_are_not_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, most_kept: int
) -> None:
    monkeypatch.setattr(vcfzarr, "MOST_KEPT_BYTES", most_kept)
    table = opened("vcfzarr", write(tmp_path))
    assert (table.n_features, table.n_samples, table.dtype, table.missing) == (N_VARIANTS, N_SAMPLES, np.int8, "mean")
    np.testing.assert_array_equal(whole(table, step), expected(CALLS))


@given(arrays(np.int8, st.tuples(*[st.integers(1, 4)] * 3), elements=st.integers(-2, 5)))
def test_calls_of_any_ploidy_are_counted(calls: NDArray[np.int8]) -> None:
    np.testing.assert_array_equal(vcfzarr.dosages(calls), expected(calls))


def test_a_chunk_that_blocks_share_is_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = opened("vcfzarr", write(tmp_path))
    decoded: list[tuple[int, int]] = []
    read = vcfzarr._values

    def counting(store: str, name: str, start: int, stop: int) -> NDArray[Any]:
        decoded.append((start, stop))
        return read(store, name, start, stop)

    monkeypatch.setattr(vcfzarr, "_values", counting)
    whole(table, 2)
    assert decoded == [(0, 4), (4, 8), (8, 11)]


def test_another_group_in_its_place_is_read_anew(tmp_path: Path) -> None:
    first = opened("vcfzarr", write(tmp_path)).read(FeatureBlock(0, 1, 2))
    other = (CALLS + 1) % 2
    second = opened("vcfzarr", write(tmp_path, other)).read(FeatureBlock(0, 1, 2))
    np.testing.assert_array_equal(first, expected(CALLS)[1:2])
    np.testing.assert_array_equal(second, expected(other)[1:2])


def test_names_are_ids_or_places(tmp_path: Path) -> None:
    ids = np.array(["rs0", ".", "rs2", "twice", "rs4", "", *("rs6", "rs7", "rs8", "twice"), "rs10"], "U5")
    table = opened("vcfzarr", write(tmp_path, variant_id=ids))
    names = [
        "rs0",
        "chrX:10:A:C",
        "rs2",
        "chrX:30:A:C",
        "rs4",
        "chrX:50:A:C",
        "rs6",
        "rs7",
        "rs8",
        "chrX:90:A:C",
        "rs10",
    ]
    assert table.names(0, N_VARIANTS) == names
    assert table.names(3, 6) == names[3:6]


def test_without_ids_variants_are_called_by_their_places(tmp_path: Path) -> None:
    table = opened("vcfzarr", write(tmp_path, variant_id=None))
    assert table.names(0, 3) == ["chr1:0:A:C,GT", "chrX:10:A:C", "chr1:20:A:C,GT"]


def test_samples_have_ids_and_fields(tmp_path: Path) -> None:
    sex = np.array(list("mfmfmfm"), "U1")
    path = write(tmp_path, sample_age=np.arange(N_SAMPLES), sample_sex=sex)
    table = opened("vcfzarr", path)
    ids = [f"s{i}" for i in range(N_SAMPLES)]
    assert table.sample_ids == ids
    assert {name: list(values) for name, values in table.fields.items()} == {
        "sample_age": list(range(N_SAMPLES)),
        "sample_id": ids,
        "sample_sex": list(sex),
    }
    assert opened("vcfzarr", path, Wanted(sample_id="sample_age")).sample_ids == [str(i) for i in range(N_SAMPLES)]
    large = write(tmp_path, sample_code=np.arange(N_SAMPLES) + 9_007_199_254_740_993)
    assert opened("vcfzarr", large, Wanted(sample_id="sample_code")).sample_ids[0] == "9007199254740993"


@pytest.mark.parametrize("name", ["call_DS", "call_dosage"])
def test_dosages_are_used_where_there_are_no_calls(tmp_path: Path, name: str) -> None:
    dosage = np.random.default_rng(1).random((N_VARIANTS, N_SAMPLES)).astype(np.float32)
    dosage[2, 3] = np.nan
    table = opened("vcfzarr", write(tmp_path, call_genotype=None, **{name: dosage}))
    assert table.dtype == np.float32
    np.testing.assert_array_equal(whole(table), dosage)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"call_genotype": None}, r"small\.vcz has no genotypes: neither call_genotype \(GT\) nor call_DS \(DS\)"),
        ({"call_genotype": np.zeros((3, 2), np.int8)}, r"small\.vcz has no genotypes"),
        ({"call_genotype": np.zeros((3, 0, 2), np.int8)}, r"small\.vcz has no samples; give"),
        ({"call_genotype": np.zeros((0, 3, 2), np.int8)}, r"small\.vcz has no variants; give"),
        ({"sample_id": None}, r"small\.vcz has no sample_id, which every VCF Zarr has"),
        ({"variant_allele": None}, r"small\.vcz has no variant_allele, which every VCF Zarr has"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, arrays: dict[str, Any], sentence: str) -> None:
    path = write(tmp_path, **arrays)
    with pytest.raises(InvalidDataError, match=sentence):
        opened("vcfzarr", path)


def test_a_place_that_is_no_group_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataError, match=r"lost\.vcz is not there, or no VCF Zarr; give the folder"):
        opened("vcfzarr", tmp_path / "lost.vcz")
    (tmp_path / "file.vcz").write_text("hello")
    with pytest.raises(InvalidDataError, match=r"file\.vcz is not there, or no VCF Zarr"):
        opened("vcfzarr", tmp_path / "file.vcz")
