"""backbone-dask interactions: a small file that every command takes for a store."""

from __future__ import annotations

import json

import numpy as np
import pytest

from backbone_dask.store import MemoryStore, open_store, write_store

SNPS = 60


@pytest.fixture
def mice(shell):
    """A folder with a store of genotypes whose target is a product of two of them."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (250, SNPS)).astype(np.int8)
    y = 1.0 + 2.0 * X[:, 7] * X[:, 41] + rng.normal(0, 0.3, 250)
    write_store(MemoryStore(X, names=[f"rs{j}" for j in range(SNPS)], targets={"y": y}), shell.folder / "mice.zarr")
    return shell


def test_it_says_what_it_made(mice):
    made = mice.json("interactions", "mice.zarr", "pairs.json")
    assert made == {"store": "pairs.json", "base": "mice.zarr", "n_samples": 250, "n_features": 1770, "dtype": "int8"}
    assert json.loads((mice.folder / "pairs.json").read_text())["base"] == "mice.zarr"
    assert "1,770 x 250" in mice.ok("interactions", "mice.zarr", "pairs.json", "--overwrite")


def test_info_plan_fit_and_predict_take_it_for_a_store(mice, tmp_path):
    mice.ok("interactions", "mice.zarr", "pairs.json")
    described = mice.json("info", "pairs.json")
    assert (described["kind"], described["n_features"], described["targets"]) == ("InteractionStore", 1770, ["y"])
    assert mice.json("plan", "pairs.json", "-k", 1)["fits"] is True
    result = mice.json("fit", "pairs.json", "-k", 1, "--out", "run", "--workers", 2)
    assert result["support"]["names"] == ["rs7*rs41"]
    mice.ok("predict", "run", "pairs.json", "--out", "p.npy")
    y = open_store(mice.folder / "mice.zarr").target()
    assert np.corrcoef(np.load(mice.folder / "p.npy"), y)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("none.zarr", "pairs.json"), "no store at none.zarr"),
        (("mice.zarr", "mice.zarr"), "is the base itself"),
        (("mice.zarr", "./mice.zarr", "--overwrite"), "is the base itself"),
        (("mice.zarr", "taken.txt"), "exists"),
        (("mice.zarr", "taken.txt", "--overwrite"), "not a feature store"),
    ],
)
def test_refusals_are_one_line(mice, arguments, words):
    (mice.folder / "taken.txt").write_text("precious")
    assert words in mice.refused("interactions", *arguments)
    assert (mice.folder / "taken.txt").read_text() == "precious"
    assert open_store(mice.folder / "mice.zarr").n_features == SNPS
