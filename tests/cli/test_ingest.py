"""From files to predictions on the command line: ids and names of classes on the way."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest

from backbone_dask.store import open_store


@pytest.fixture
def files(shell):
    """Genes by person, and in another file and order who is ill."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 40)).astype(np.float32)
    people = [f"p,{at}" if at == 3 else f"p{at}" for at in range(80)]
    ill = np.where(X[:, 5] - X[:, 9] + 0.3 * rng.normal(size=80) > 0, "ill", "well")
    genes = pd.DataFrame(X, columns=[f"gene{j}" for j in range(40)])
    genes.insert(0, "person", people)
    genes.to_parquet(shell.folder / "genes.parquet")
    status = pd.DataFrame({"person": people, "status": ill})
    status.iloc[::-1].iloc[:-2].to_csv(shell.folder / "status.csv", index=False)
    return dict(zip(people, ill, strict=True))


ASKED = ("ingest", "genes.parquet", "genes.zarr", "--target", "status.csv", "--sample-id", "person")


def test_what_ingest_and_info_say(shell, files):
    refused = shell.refused(*ASKED)
    assert "status.csv: 2 samples" in refused
    assert "(p0, p1); --unmatched drop keeps the 78" in refused
    said = shell.ok(*ASKED, "--unmatched", "drop")
    assert "40 features x 78 samples (float32): genes.zarr" in said
    assert "targets: status (0 = ill, 1 = well)" in said
    assert "left out: 2 samples" in said
    assert shell.json("info", "genes.zarr")["labels"] == {"status": ["ill", "well"]}
    assert "exists" in shell.refused(*ASKED)
    again = shell.json(*ASKED, "--unmatched", "drop", "--overwrite")
    assert (again["dropped"], again["unmatched"][0]["first_samples"]) == (2, ["p0", "p1"])
    assert len(open_store(shell.folder / "genes.zarr").sample_ids) == 78


@pytest.mark.parametrize("task", ["classification", "tree"])
def test_classes_keep_their_names_from_the_file_to_the_predictions(shell, files, task):
    shell.ok(*ASKED, "--unmatched", "drop")
    size = ["-k", "2"] if task == "classification" else ["--depth", "2"]
    said = shell.ok("fit", "genes.zarr", "--task", task, *size, "--out", "run", "--workers", "0")
    assert ("log odds of well against ill" if task == "classification" else "class well") in said
    assert json.loads((shell.folder / "run/result.json").read_text())["labels"] == ["ill", "well"]
    assert json.loads((shell.folder / "run/model.json").read_text())["labels"] == ["ill", "well"]
    shell.ok("predict", "run", "genes.zarr", "--out", "p.csv")
    rows = list(csv.DictReader((shell.folder / "p.csv").read_text().splitlines()))
    assert [row["sample"] for row in rows] == list(files)[2:]
    right = [row["prediction"] == files[row["sample"]] for row in rows]
    assert np.mean(right) > 0.7
    assert ("probability_well" in rows[0]) == (task == "tree")


def test_text_without_a_header(shell):
    (shell.folder / "iris.data").write_text("5.1,3.5,setosa\n4.9,3.0,virginica\n")
    refused = shell.refused("ingest", "iris.data", "iris.zarr", "--target", "x2")
    assert "line 1 has '5.1' beside 'setosa'; say --no-header if the first line is a sample" in refused
    said = shell.ok("ingest", "iris.data", "iris.zarr", "--target", "x2", "--no-header")
    assert "2 features x 2 samples" in said
    assert "targets: x2 (0 = setosa, 1 = virginica)" in said


def test_a_long_list_of_classes_is_cut(shell):
    frame = pd.DataFrame({"x": np.arange(24.0), "kind": [f"k{at % 12:02d}" for at in range(24)]})
    frame.to_csv(shell.folder / "a.csv", index=False)
    said = shell.ok("ingest", "a.csv", "a.zarr", "--target", "kind")
    assert "targets: kind (0 = k00, " in said
    assert "9 = k09, ... 12 in all)" in said


def test_help_says_how_ids_of_different_names_are_joined(shell):
    assert "TABLE=FILE where they call it differently" in " ".join(shell.ok("ingest", "--help").split())
