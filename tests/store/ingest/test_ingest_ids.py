"""Which column joins a table with a file of targets: every way to have ids, and every way to ask for them."""

from __future__ import annotations

import anndata
import bed_reader
import numpy as np
import pandas as pd
import pytest
from ingest_cases import csv, ids, nothing_written, numbers, parquet

from backbone_dask import ingest
from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.store import open_store

N = 5
Y = [float(at) for at in range(N)]


def plink(folder):
    bed_reader.to_bed(
        folder / "a.bed", np.zeros((N, 3), np.int8), properties={"iid": ids(N), "fid": [f"f{at}" for at in range(N)]}
    )
    return folder / "a.bed"


def h5ad(folder):
    names = pd.Index(ids(N), dtype=object)
    obs = pd.DataFrame({"donor": pd.Series([f"d{at}" for at in range(N)], index=names, dtype=object)}, index=names)
    var = pd.DataFrame(index=pd.Index(list("uvw"), dtype=object))
    anndata.AnnData(numbers(N, 3), obs=obs, var=var).write_h5ad(folder / "a.h5ad")
    return folder / "a.h5ad"


def row_names(folder):
    pd.DataFrame(numbers(N, 3), index=ids(N), columns=list("uvw")).to_csv(folder / "a.csv")
    return folder / "a.csv"


def named_csv(folder):
    return csv(folder / "a.csv", ["id", "u", "v"], *([each, at, 1] for at, each in enumerate(ids(N))))


def named_parquet(folder):
    return parquet(folder / "a.parquet", numbers(N, 3), id=ids(N))


def reversed_targets(folder, column="IID", sample_ids=None):
    """Targets in the other order, so that taking them in order is wrong."""
    return csv(folder / "t.csv", [column, "y"], *reversed([*zip(sample_ids or ids(N), Y, strict=True)]))


@pytest.mark.parametrize(
    ("make", "column", "sample_id"),
    [
        (plink, "IID", "IID"),
        (plink, "person", "person"),
        (plink, "person", "IID=person"),
        (h5ad, "IID", "IID"),
        (row_names, "IID", "IID"),
        (named_csv, "id", "id"),
        (named_csv, "IID", "id=IID"),
        (named_parquet, "id", "id"),
        (named_parquet, "IID", "id=IID"),
    ],
)
def test_ids_are_joined_whatever_the_columns_are_called(tmp_path, make, column, sample_id):
    table, targets = make(tmp_path), reversed_targets(tmp_path, column)
    made = ingest(table, tmp_path / "out.zarr", target=targets, sample_id=sample_id)
    store = open_store(tmp_path / "out.zarr")
    assert (store.sample_ids, store.target("y").tolist(), made.notes) == (ids(N), Y, ())


def test_a_column_of_the_table_goes_before_its_own_ids(tmp_path):
    table, donors = h5ad(tmp_path), [f"d{at}" for at in range(N)]
    for column, sample_id in (("donor", "donor"), ("who", "donor=who")):
        targets = reversed_targets(tmp_path, column, donors)
        ingest(table, tmp_path / "out.zarr", target=targets, sample_id=sample_id, overwrite=True)
        store = open_store(tmp_path / "out.zarr")
        assert (store.sample_ids, store.target("y").tolist()) == (donors, Y)


@pytest.mark.parametrize(
    ("make", "sample_id", "message"),
    [
        (plink, None, r"column 'IID' of .*t\.csv holds sample ids; say --sample-id IID$"),
        (h5ad, None, r"column 'IID' of .*t\.csv holds sample ids; say --sample-id IID$"),
        (
            row_names,
            "ID",
            r"t\.csv has no column 'ID' of sample ids \(its column 'IID' holds .*\); say --sample-id IID$",
        ),
        (plink, "FID", r"t\.csv has no column 'FID' of sample ids \(.*IID.*\); say --sample-id FID=COLUMN$"),
        (h5ad, "donor", r"t\.csv has no column 'donor' of sample ids \(.*IID.*\); say --sample-id donor=COLUMN$"),
        (named_csv, "id", r"t\.csv has no column 'id' .* holds them\); say --sample-id id=IID$"),
        (named_parquet, "id", r"t\.csv has no column 'id' .* holds them\); say --sample-id id=IID$"),
        (named_parquet, "id=ID", r"t\.csv has no column 'ID' .* holds them\); say --sample-id id=IID$"),
        (h5ad, "city=IID", r"a\.h5ad has no column 'city' for --sample-id city=IID; it has donor"),
    ],
)
def test_a_file_is_never_taken_in_order_where_ids_are_asked_for_or_there(tmp_path, make, sample_id, message):
    table = make(tmp_path)
    with pytest.raises(InvalidDataError, match=message):
        ingest(table, tmp_path / "out.zarr", target=reversed_targets(tmp_path), sample_id=sample_id)
    assert nothing_written(tmp_path)


def test_what_a_message_advises_works(tmp_path):
    for make in (plink, h5ad, row_names, named_csv, named_parquet):
        table, asked = make(tmp_path), "id" if make in (named_csv, named_parquet) else "ID"
        with pytest.raises(InvalidDataError) as refused:
            ingest(table, tmp_path / "out.zarr", target=reversed_targets(tmp_path), sample_id=asked, overwrite=True)
        advised = str(refused.value).rpartition("--sample-id ")[2]
        ingest(table, tmp_path / "out.zarr", target=tmp_path / "t.csv", sample_id=advised, overwrite=True)
        assert open_store(tmp_path / "out.zarr").target("y").tolist() == Y


def test_a_name_that_no_file_has_is_refused_where_nothing_is_joined(tmp_path):
    for make in (plink, h5ad, row_names):
        with pytest.raises(InvalidDataError, match="has no column 'city' for --sample-id"):
            ingest(make(tmp_path), tmp_path / "out.zarr", sample_id="city")
    for bad in ("=a", "a=", "="):
        with pytest.raises(InvalidSettingError, match="use COLUMN, or TABLE=FILE"):
            ingest(tmp_path / "a.csv", tmp_path / "out.zarr", sample_id=bad)


def test_a_table_with_ids_takes_a_file_in_order_only_if_it_has_nothing_but_the_target(tmp_path):
    table = plink(tmp_path)
    alone = csv(tmp_path / "y.csv", ["y"], *([each] for each in Y))
    made = ingest(table, tmp_path / "out.zarr", target=alone)
    assert made.notes == (f"{alone} is taken in the order of its rows",)
    others = reversed_targets(tmp_path, sample_ids=[f"f_{each}" for each in ids(N)])
    with pytest.raises(
        InvalidDataError, match=r"no column of .*t\.csv holds the ids of .*a\.bed \(the first is 's0'\)"
    ):
        ingest(table, tmp_path / "other.zarr", target=f"{others}:y")


@pytest.mark.parametrize("where", ["table", "file"])
def test_a_sample_without_an_id_is_refused(tmp_path, where):
    holes = [None if at == 3 else each for at, each in enumerate(ids(N))]
    table = parquet(tmp_path / "a.parquet", numbers(N, 3), id=holes if where == "table" else ids(N))
    pd.DataFrame({"id": holes if where == "file" else ids(N), "y": Y}).to_parquet(tmp_path / "t.parquet")
    name = "a" if where == "table" else "t"
    with pytest.raises(InvalidDataError, match=rf"sample 4 of .*{name}\.parquet has no id"):
        ingest(table, tmp_path / "out.zarr", target=tmp_path / "t.parquet", sample_id="id")


def test_the_file_below_that_lacks_an_id_is_named(tmp_path):
    parquet(tmp_path / "a.parquet", numbers(2), id=ids(2))
    parquet(tmp_path / "b.parquet", numbers(2), id=["x", None])
    with pytest.raises(InvalidDataError, match=r"sample 2 of .*b\.parquet has no id"):
        ingest(tmp_path, tmp_path / "out.zarr", sample_id="id")


def test_files_beside_one_another_agree_on_ids_and_targets(tmp_path):
    a = parquet(tmp_path / "a.parquet", numbers(3, 2), id=ids(3), y=[1.0, 2.0, np.nan])
    same = parquet(tmp_path / "b.parquet", numbers(3, 2), names=["u", "v"], id=ids(3), y=[1, 2, None])
    ingest([a, same], tmp_path / "same.zarr", sample_id="id", target="y", unmatched="drop")
    assert open_store(tmp_path / "same.zarr").target().tolist() == [1, 2]
    other = parquet(tmp_path / "c.parquet", numbers(3, 2), names=["u", "v"], id=ids(3), y=[1.0, 5.0, 3.0])
    with pytest.raises(InvalidDataError, match=r"column 'y' is 2 in row 2 of .*a\.parquet and 5 in .*c\.parquet"):
        ingest([a, other], tmp_path / "out.zarr", sample_id="id", target="y")
    bare = parquet(tmp_path / "d.parquet", numbers(3, 2), names=["u", "v"])
    with pytest.raises(InvalidDataError, match=r"a\.parquet has the column 'id' of sample ids, .*d\.parquet has not"):
        ingest([a, bare], tmp_path / "out.zarr", sample_id="id", target="y")
    assert nothing_written(tmp_path)


def test_a_column_goes_before_a_file_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = parquet(tmp_path / "a.parquet", numbers(3), status=[1.0, 0.0, 1.0])
    (tmp_path / "status").write_text("y\n7\n8\n9\n")
    ingest(table, tmp_path / "out.zarr", target="status")
    assert open_store(tmp_path / "out.zarr").target("status").tolist() == [1, 0, 1]
    assert len(open_store(tmp_path / "out.zarr").origin["files"]) == 1
    ingest(table, tmp_path / "file.zarr", target="status:y", exclude="status")
    assert open_store(tmp_path / "file.zarr").target("y").tolist() == [7, 8, 9]
