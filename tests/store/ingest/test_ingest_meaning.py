"""What values mean: numbers, classes, missing ones; nothing changes its meaning on the way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_cases import csv, ids, matrix, nothing_written, numbers, parquet

from backbone_dask import ingest
from backbone_dask.errors import InvalidDataError
from backbone_dask.store import open_store
from backbone_dask.store.ingest.decimals import python_number
from backbone_dask.store.ingest.target_values import Cells, numbers_or_text

NOTHING = ["", "NA", "n/a", "NaN", "null", "None", "?", ".", "-nan"]


def meant(*cells):
    return numbers_or_text(Cells("y", "t.csv", np.array(cells, object), lambda at: f"row {at + 2}"))


@given(st.lists(st.sampled_from([*NOTHING, "1", "2.5", "-3e2", " 4 "]), min_size=1).map(lambda cells: [*cells, "7"]))
def test_numbers_are_those_of_the_table_itself(cells):
    np.testing.assert_array_equal(meant(*cells), [python_number(cell) for cell in cells])


@pytest.mark.parametrize("nothing", [*NOTHING, None, float("nan")])
def test_nothing_is_missing_among_classes(nothing):
    assert meant("a", nothing, "b", "a").tolist() == ["a", "", "b", "a"]


def test_text_that_looks_like_a_number_is_a_class():
    assert meant("1_1", "1_2", "1_1").tolist() == ["1_1", "1_2", "1_1"]


def test_truth_values_are_classes_as_in_a_frame():
    assert meant(True, None, False).tolist() == ["True", "", "False"]
    whole = Cells("y", "t.parquet", np.array([True, False]), str)
    assert numbers_or_text(whole).tolist() == ["True", "False"]


def test_one_typo_does_not_make_classes_of_numbers(tmp_path):
    with pytest.raises(InvalidDataError) as refused:
        meant("1.5", "2", "1.5x", "NA")
    assert str(refused.value) == (
        "t.csv, row 4, column 'y': '1.5x' is no number, but 2 of 3 values are; correct it, empty the cell if it is "
        "missing, or name every class by a word if these are classes"
    )
    assert meant("1", "x", "y", "x").tolist() == ["1", "x", "y", "x"]
    table = csv(tmp_path / "a.csv", ["id", "g", "y"], ["s0", 1, 1.5], ["s1", 2, "1.5x"])
    with pytest.raises(InvalidDataError, match=r"a\.csv, sample 2 \('s1'\), column 'y': '1.5x' is no number"):
        ingest(table, tmp_path / "out.zarr", target="y", sample_id="id")
    targets = tmp_path / "t.csv"
    targets.write_text("id,y\n\ns1,1.5x\ns0,1\n")
    with pytest.raises(InvalidDataError, match=r"t\.csv, row 3, column 'y': '1.5x'"):
        ingest(table, tmp_path / "out.zarr", target=targets, sample_id="id", exclude="y")
    assert nothing_written(tmp_path)


@pytest.mark.parametrize(
    ("n_samples", "n_texts", "fine"), [(6, 3, True), (6, 4, False), (2, 2, True), (200, 51, False)]
)
def test_ids_and_free_text_are_no_classes(tmp_path, n_samples, n_texts, fine):
    texts = [f"word {at % n_texts}" for at in range(n_samples)]
    table = parquet(tmp_path / "a.parquet", numbers(n_samples, 2), y=texts)
    if fine:
        assert len(ingest(table, tmp_path / "out.zarr", target="y").labels["y"]) == n_texts
        return
    with pytest.raises(
        InvalidDataError, match=rf"'y' of .* has {n_texts} different texts in {n_samples} samples .*ids"
    ):
        ingest(table, tmp_path / "out.zarr", target="y")


def test_a_target_without_any_value_says_so(tmp_path):
    table = parquet(tmp_path / "a.parquet", numbers(3), id=ids(3), y=pa.nulls(3, pa.float64()))
    path = csv(tmp_path / "t.csv", ["id", "y"], *([each, "NA"] for each in ids(3)))
    for target, name in (("y", "a.parquet"), (path, "t.csv")):
        with pytest.raises(
            InvalidDataError, match=rf"column 'y' of .*{name} has no value: all 3 are missing"
        ) as refused:
            ingest(table, tmp_path / "out.zarr", target=target, sample_id="id", exclude=[] if target == "y" else "y")
        assert "--sample-id" not in str(refused.value)
    csv(path, ["id", "y"])
    with pytest.raises(InvalidDataError, match=r"t\.csv has a header and no rows"):
        ingest(table, tmp_path / "out.zarr", target=path, sample_id="id", exclude="y")


@pytest.mark.parametrize("where", ["table", "file"])
def test_a_missing_category_is_missing(tmp_path, where):
    """Arrow itself takes the last category for it."""
    kinds = pa.array(["a", None, "b", "a", "b"]).dictionary_encode()
    X = {"id": ids(5), "g": np.arange(5.0)}
    if where == "table":
        pq.write_table(pa.table({**X, "kind": kinds}), tmp_path / "a.parquet")
        target = "kind"
    else:
        pq.write_table(pa.table(X), tmp_path / "a.parquet")
        pq.write_table(pa.table({"id": ids(5), "kind": kinds}), tmp_path / "t.parquet")
        target = tmp_path / "t.parquet"
    made = ingest(tmp_path / "a.parquet", tmp_path / "out.zarr", target=target, sample_id="id", unmatched="drop")
    store = open_store(tmp_path / "out.zarr")
    assert (made.dropped, store.sample_ids) == (1, ["s0", "s2", "s3", "s4"])
    assert (store.target("kind").tolist(), store.labels) == ([0, 1, 0, 1], {"kind": ["a", "b"]})


@pytest.mark.parametrize(("dtype", "code"), [("int8", -128), ("uint8", 255)])
@pytest.mark.parametrize("several", [False, True])
def test_a_value_does_not_become_missing(tmp_path, dtype, code, several):
    X = np.array([[1, 2], [3, code]], dtype)
    paths = [tmp_path / "a.npy", tmp_path / "b.npy"][: 1 + several]
    for path in paths:
        np.save(path, X)
    with pytest.raises(InvalidDataError, match=rf"feature 1 .*is {code} in sample 1, which {dtype} .*--dtype float32"):
        ingest(paths, tmp_path / "out.zarr", missing="mean")
    for how in ({"missing": "mean", "dtype": "float32"}, {"missing": "refuse"}):
        ingest(paths, tmp_path / "out.zarr", overwrite=True, **how)
        np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), np.concatenate([X] * len(paths)))


def test_whole_numbers_come_out_as_they_were(tmp_path):
    X = np.array([[1 << 24, 3], [(1 << 24) + 1, 4]], np.int64)
    for path in (parquet(tmp_path / "a.parquet", X), tmp_path / "a.npy"):
        np.save(tmp_path / "a.npy", X)
        with pytest.raises(InvalidDataError, match=r"is 16777217 in sample 1, which float32 .*; use --dtype float64"):
            ingest(path, tmp_path / "out.zarr", dtype="float32", overwrite=True)
        ingest(path, tmp_path / "out.zarr", dtype="float64", overwrite=True)
        np.testing.assert_array_equal(matrix(tmp_path / "out.zarr"), X)
    np.save(tmp_path / "b.npy", np.array([[1e17, 0.1], [3e9 + 0.3, 16777216.0]]))
    ingest(tmp_path / "b.npy", tmp_path / "floats.zarr", dtype="float32")
    assert matrix(tmp_path / "floats.zarr")[1].tolist() == [np.float32(3e9), 16777216]


def test_files_below_one_another_mean_the_same_by_a_cell(tmp_path):
    csv(tmp_path / "a.csv", ["g", "y"], [1, 0], [2, 1], [3, 0])
    csv(tmp_path / "b.csv", ["g", "y"], [3, "low"], [4, "high"], [5, "low"], [6, "low"], [6, "0"], [7, "high"])
    made = ingest([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "out.zarr", target="y")
    assert made.labels["y"] == ("0", "1", "high", "low")
    a = parquet(tmp_path / "a.parquet", numbers(4), y=[0.0, 1.0, 0.0, 1.0])
    b = parquet(tmp_path / "b.parquet", numbers(4), y=["0", "1", "0", "1"])
    c = parquet(tmp_path / "c.parquet", numbers(4))
    for other, kind in ((b, "text"), (c, "not there")):
        with pytest.raises(InvalidDataError, match=rf"'y' is numbers in .*a\.parquet and {kind} in .*{other.name}"):
            ingest([a, other], tmp_path / "other.zarr", target="y")


@pytest.mark.parametrize("y", [np.zeros(4), np.zeros((3, 1)), np.float64(1)])
def test_a_target_by_value_is_one_for_each_sample(tmp_path, y):
    shape = str(y.shape).replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(InvalidDataError, match=rf"target 'y' has shape {shape}, .* has 3 samples"):
        ingest(numbers(3), tmp_path / "out.zarr", target=y)
    with pytest.raises(InvalidDataError, match="sample 3, column 'z': 'x' is no number"):
        ingest(pd.DataFrame(numbers(3)), tmp_path / "out.zarr", target={"z": ["1", "2", "x"]})
    assert nothing_written(tmp_path)
