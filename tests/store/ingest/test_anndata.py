"""AnnData files: what anndata itself reads from them, dense and sparse either way."""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from biology_cases import bench, opened, whole
from scipy import sparse

from backbone_dask.errors import InvalidDataError, MissingExtraError
from backbone_dask.store.ingest import anndata as anndata_format
from backbone_dask.store.ingest import h5_matrix
from backbone_dask.store.ingest.anndata import open_table
from backbone_dask.store.ingest.table import Wanted

N_SAMPLES, N_FEATURES = 9, 7
KINDS = {"dense": np.asarray, "csr": sparse.csr_matrix, "csc": sparse.csc_matrix, "csr_array": sparse.csr_array}


def counts(dtype: Any = np.float32) -> Any:
    rng = np.random.default_rng(0)
    return (rng.integers(0, 9, (N_SAMPLES, N_FEATURES)) * (rng.random((N_SAMPLES, N_FEATURES)) < 0.4)).astype(dtype)


def index(letter: str, count: int) -> pd.Index:
    return pd.Index([f"{letter}{i}" for i in range(count)], dtype=object)


def write(folder: Path, X: Any, obs: dict[str, Any] | None = None) -> Path:
    path = folder / "small.h5ad"
    samples = pd.DataFrame(obs or {}, index=index("cell", X.shape[0]))
    anndata.AnnData(X, obs=samples, var=pd.DataFrame(index=index("gene", X.shape[1]))).write_h5ad(path)
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("most_entries", [1, 6, 1000])
def test_values_are_those_of_anndata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, most_entries: int
) -> None:
    monkeypatch.setattr(h5_matrix, "MOST_ENTRIES", most_entries)
    path = write(tmp_path, KINDS[kind](counts()))
    table = opened("anndata", path)
    there = anndata.read_h5ad(path)
    X = there.X.toarray() if sparse.issparse(there.X) else there.X
    np.testing.assert_array_equal(whole(table), X.T)
    assert (table.n_samples, table.n_features, table.dtype, table.missing) == (*X.shape, X.dtype, "refuse")
    assert table.sample_ids == list(there.obs_names)
    assert table.names(0, N_FEATURES) == list(there.var_names)
    assert table.names(2, 5) == ["gene2", "gene3", "gene4"]


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
@pytest.mark.parametrize(
    ("dtype", "stored"),
    [("int8", "int8"), ("uint8", "uint8"), ("bool", "uint8"), ("uint16", "float32"), ("int64", "float64")],
)
def test_whole_numbers_stay_exact(tmp_path: Path, kind: str, dtype: str, stored: str) -> None:
    X = counts(dtype)
    table = opened("anndata", write(tmp_path, KINDS[kind](X)))
    assert table.dtype == stored
    np.testing.assert_array_equal(whole(table), X.T.astype(stored))


def test_rows_without_entries_are_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(h5_matrix, "MOST_ENTRIES", 2)
    X = counts()
    X[[0, 3, 4, N_SAMPLES - 1]] = 0
    np.testing.assert_array_equal(whole(opened("anndata", write(tmp_path, sparse.csr_matrix(X)))), X.T)


def test_batches_of_rows_are_turned_round_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(h5_matrix, "MOST_ENTRIES", 6)
    path = write(tmp_path, sparse.csr_matrix(counts()))
    told: list[tuple[str, int, int, str]] = []
    written: list[str] = []
    keep = h5_matrix._write
    monkeypatch.setattr(h5_matrix, "_write", lambda rows, folder: (written.append(folder), keep(rows, folder)))
    workshop = replace(bench(tmp_path), told=lambda *what: told.append(what))
    open_table((str(path),), Wanted(), workshop)
    batches = len(written)
    assert batches > 1
    assert told[-1] == ("turning rows", N_SAMPLES, N_SAMPLES, "samples")
    assert len(told) == batches
    lost = next((tmp_path / "scratch").glob("*.csc/000001"))
    lost.rename(lost.with_name("000001.partial"))
    np.testing.assert_array_equal(whole(open_table((str(path),), Wanted(), workshop)), counts().T)
    assert len(written) == batches + 1


def test_columns_of_obs_are_fields(tmp_path: Path) -> None:
    def text(*values: Any) -> Any:
        return pd.Categorical(values, categories=pd.Index(sorted({v for v in values if v is not None}), dtype=object))

    table = opened(
        "anndata",
        write(
            tmp_path,
            counts()[:3],
            {
                "age": [1, 2, 3],
                "weight": [0.5, np.nan, 2.5],
                "female": [True, False, True],
                "maybe": pd.array([1, None, 3], dtype="Int64"),
                "batch": pd.Categorical([20, 10, None]),
                "type": text("T", None, "B"),
                "note": pd.Series(["x", "y", "z"], index=index("cell", 3), dtype=object),
            },
        ),
    )
    nan = np.nan
    numbers = {"age": [1, 2, 3], "weight": [0.5, nan, 2.5], "female": [1, 0, 1], "maybe": [1, nan, 3]}
    for name, values in {**numbers, "batch": [20, 10, nan]}.items():
        np.testing.assert_array_equal(table.fields[name], values)
    assert list(table.fields["type"]) == ["T", "", "B"]
    assert list(table.fields["note"]) == ["x", "y", "z"]


def test_the_column_of_ids_can_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, counts()[:2], {"donor": [7, 8]})
    assert opened("anndata", path, Wanted(sample_id="donor")).sample_ids == ["7", "8"]
    other = opened("anndata", path, Wanted(sample_id="city"))
    assert (other.sample_ids, other.id_column) == (index("cell", 2).tolist(), None)


def test_ids_keep_all_their_digits(tmp_path: Path) -> None:
    large = [9_007_199_254_740_993, 1_234_567]
    for column in (large, pd.Categorical(large)):
        path = write(tmp_path, counts()[:2], {"donor": column})
        found = opened("anndata", path, Wanted(sample_id="donor"))
        assert (found.sample_ids, found.id_column) == ([str(each) for each in large], "donor")


def test_what_is_said_of_samples_is_read_once_and_does_not_travel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    donors = pd.Series(["a" * 5000, "b" * 5000], index=index("cell", 2), dtype=object)
    path = write(tmp_path, counts()[:2], {"donor": donors})
    table = opened("anndata", path)
    seen: list[Any] = []
    monkeypatch.setattr(anndata_format, "h5", lambda *given: seen.append(given))
    assert len(table.fields["donor"][0]) == len(table.fields["donor"][1]) == 5000
    assert (seen, len(pickle.dumps(table)) < 2000) == ([], True)


def test_features_can_be_left_out_or_become_fields(tmp_path: Path) -> None:
    X = counts()
    wanted = Wanted(fields=("gene4", "lost"), exclude=("gene0", "gene3", "nothing"))
    table = opened("anndata", write(tmp_path, X), wanted)
    left = [1, 2, 5, 6]
    assert table.names(0, 4) == [f"gene{j}" for j in left]
    assert table.excluded == {"gene0", "gene3"}
    np.testing.assert_array_equal(table.fields["gene4"], X[:, 4])
    for step in (1, 2, 3, 4):
        np.testing.assert_array_equal(whole(table, step), X.T[left])
    for start in range(4):
        assert table.names(start, start + 1) == [f"gene{left[start]}"]


def damage(path: Path, what: str) -> None:
    with h5py.File(path, "a") as file:
        if what in file:
            del file[what]
        if what == "X text":
            del file["X"]
            file["X"] = np.full((N_SAMPLES, N_FEATURES), b"text")
        if what == "X vector":
            del file["X"]
            file["X"] = np.zeros(N_SAMPLES)
        if what == "X group":
            del file["X"]
            file.create_group("X").attrs["encoding-type"] = "dataframe"
        if what == "X short":
            del file["X"]
            file["X"] = np.zeros((N_SAMPLES - 1, N_FEATURES))


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("X", r"small\.h5ad has no X, which every AnnData file has"),
        ("var", r"small\.h5ad has no var, which every AnnData file has"),
        ("X text", r"X in .*small\.h5ad holds \|S4, not numbers; save it as numbers"),
        ("X vector", r"X in .*small\.h5ad is an array of 1 dimensions; make it a dense, CSR or CSC matrix"),
        ("X group", r"X in .*small\.h5ad is dataframe; make it a dense, CSR or CSC matrix"),
        ("X short", r"X in .*small\.h5ad is 8 x 7, but obs has 9 rows"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, what: str, sentence: str) -> None:
    path = write(tmp_path, counts())
    damage(path, what)
    with pytest.raises(InvalidDataError, match=sentence):
        opened("anndata", path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "junk.h5ad").write_text("hello")
    with pytest.raises(InvalidDataError, match=r"junk\.h5ad is no AnnData file"):
        opened("anndata", tmp_path / "junk.h5ad")
    with pytest.raises(InvalidDataError, match=r"lost\.h5ad is no file on this machine"):
        opened("anndata", tmp_path / "lost.h5ad")
    with pytest.raises(InvalidDataError, match=r"obs in .* is empty"):
        opened("anndata", write(tmp_path, counts()[:0]))


def test_without_its_library_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, counts())
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'backbone-dask\[anndata\]'"):
        opened("anndata", path)


def test_a_store_on_a_server_needs_a_disk_for_rows(tmp_path: Path) -> None:
    path = write(tmp_path, sparse.csr_matrix(counts()))
    with pytest.raises(InvalidDataError, match="is converted on a local disk first; write the store to a path"):
        open_table((str(path),), Wanted(), replace(bench(tmp_path), scratch="s3://bucket/scratch"))
