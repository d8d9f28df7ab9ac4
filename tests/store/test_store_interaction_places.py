"""Interactions as files and on their way to workers; a whole fit; real data."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from store_cases import in_memory, table, written
from test_store_interactions import everything, genotypes, reference

from backbone_dask import BackboneRegressor
from backbone_dask.errors import MemoryBudgetError, StoreError
from backbone_dask.store import (
    InteractionStore,
    MemoryStore,
    Recipe,
    VirtualStore,
    ZarrStore,
    factors,
    open_store,
    write_interactions,
    write_recipe,
    write_store,
)
from backbone_dask.store.pairs import n_pairs, pair_ids, pairs_of
from backbone_dask.values import FeatureBlock

MICE = Path(__file__).parents[2].parent / "shared" / "data" / "mice" / "mice_X_int8.npz"


# Where they are kept, and how they travel.


def test_stores_over_other_bases_are_other_stores(tmp_path):
    X = genotypes()
    one, other = (InteractionStore(written(tmp_path / name, X)) for name in ("a", "b"))
    assert one.identity == InteractionStore(ZarrStore(tmp_path / "a")).identity
    assert len({one.identity, other.identity, one.base.identity}) == 3


def test_pickling_carries_the_base_and_not_its_columns(tmp_path):
    written(tmp_path / "s.zarr", genotypes(200, 300), targets={"y": np.arange(300.0)})
    store = InteractionStore(ZarrStore(tmp_path / "s.zarr"))
    whole = store.read(store.blocks(50)[3])
    sent = pickle.dumps(store)
    assert len(sent) < 1_000
    back = pickle.loads(sent)
    assert back.dtype == store.dtype
    assert "_factors" not in vars(back)
    np.testing.assert_array_equal(back.read(back.blocks(50)[3]).values, whole.values)
    assert back.portion(np.arange(3)) is back


def test_a_base_of_this_process_sends_only_the_factors_that_are_needed():
    X = genotypes(30, 50)
    store = InteractionStore(in_memory(X))
    ids = np.array([3, 4, 400])
    sent = pickle.loads(pickle.dumps(store.portion(ids)))
    assert sent.values.shape[0] < 7
    np.testing.assert_array_equal(sent.gather(ids).values, store.gather(ids).values)
    np.testing.assert_array_equal(sent.read(FeatureBlock(0, 3, 5)).values, store.gather(ids[:2]).values)
    assert (sent.n_features, sent.n_samples, sent.itemsize) == (store.n_features, store.n_samples, 1)


def test_a_base_that_is_too_large_is_refused_with_the_limit(monkeypatch):
    huge = VirtualStore(Recipe(kind="linear", n_samples=1_000, n_features=10**8, n_relevant=3))
    with pytest.raises(MemoryBudgetError, match=r"the limit is 1.00 GiB; use a base of at most 268435 features"):
        InteractionStore(huge)
    monkeypatch.setattr(factors, "MOST_BYTES", 1_000)
    assert InteractionStore(in_memory(genotypes(20, 50))).n_features == 190
    # These become float32, four times the size.
    with pytest.raises(MemoryBudgetError, match="at most 5 features"):
        InteractionStore(in_memory(table("int8", 20, 50)))


def test_a_file_opens_as_the_interactions_of_its_base(tmp_path):
    X, y = genotypes(), np.arange(23.0)
    written(tmp_path / "s.zarr", X, names=[f"snp{j}" for j in range(9)], targets={"y": y})
    write_interactions(tmp_path / "s.zarr", tmp_path / "pairs.json")
    assert json.loads((tmp_path / "pairs.json").read_text()) == {
        "format": "backbone-dask-interactions",
        "version": 1,
        "base": str(tmp_path / "s.zarr"),
    }
    store = open_store(tmp_path / "pairs.json")
    assert isinstance(store, InteractionStore)
    assert store.names(np.array([0])) == ["snp0*snp1"]
    np.testing.assert_array_equal(store.target(), y)
    np.testing.assert_array_equal(everything(store).values, reference(X))


def test_a_relative_base_moves_with_its_file(tmp_path, monkeypatch):
    (tmp_path / "work" / "links").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    written("s.zarr", genotypes())
    write_interactions("s.zarr", "links/pairs.json")
    assert json.loads(Path("links/pairs.json").read_text())["base"] == "../s.zarr"
    (tmp_path / "work").rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    assert open_store("moved/links/pairs.json").n_features == 36


def test_a_base_behind_a_url():
    base = in_memory(genotypes())
    write_store(base, "memory://interactions/s.zarr")
    write_interactions("memory://interactions/s.zarr", "memory://interactions/pairs.json")
    store = open_store("memory://interactions/pairs.json")
    np.testing.assert_array_equal(everything(store).values, everything(InteractionStore(base)).values)


def test_the_recipe_of_a_virtual_store_is_a_base_too(tmp_path):
    write_recipe(Recipe(kind="linear", n_samples=20, n_features=30, n_relevant=3), tmp_path / "r.json")
    store = write_interactions(tmp_path / "r.json", tmp_path / "pairs.json")
    assert (store.n_features, store.dtype, store.truth) == (435, np.float32, None)


def test_names_that_are_taken_and_bases_that_are_not_there(tmp_path):
    written(tmp_path / "s.zarr", genotypes())
    pairs = tmp_path / "pairs.json"
    write_interactions(tmp_path / "s.zarr", pairs)
    with pytest.raises(StoreError, match="exists"):
        write_interactions(tmp_path / "s.zarr", pairs)
    write_interactions(tmp_path / "s.zarr", pairs, overwrite=True)
    with pytest.raises(StoreError, match="is the base itself"):
        write_interactions(tmp_path / "s.zarr", tmp_path / "." / "s.zarr", overwrite=True)
    with pytest.raises(StoreError, match="no store at"):
        write_interactions(tmp_path / "none.zarr", tmp_path / "new.json")
    assert not (tmp_path / "new.json").exists()
    (tmp_path / "notes.txt").write_text("keep me")
    with pytest.raises(StoreError, match="not a feature store"):
        write_interactions(tmp_path / "s.zarr", tmp_path / "notes.txt", overwrite=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "reads version 1"),
        ({"base": 3}, "must be the path or URL"),
        ({"base": "pairs.json"}, "its own base"),
        ({"base": "gone.zarr"}, "cannot be opened"),
    ],
)
def test_a_file_that_cannot_be_followed_says_why(tmp_path, change, message):
    content = {"format": "backbone-dask-interactions", "version": 1, "base": "s.zarr", **change}
    (tmp_path / "pairs.json").write_text(json.dumps(content))
    with pytest.raises(StoreError, match=message):
        open_store(tmp_path / "pairs.json")


def test_a_written_copy_has_the_same_bits(tmp_path):
    X = genotypes(12, 30)
    X[3, 4] = -128
    store = InteractionStore(written(tmp_path / "s.zarr", X, missing="mean", targets={"y": np.arange(30.0)}))
    write_store(store, tmp_path / "copy.zarr")
    copy, ids = ZarrStore(tmp_path / "copy.zarr"), np.arange(66)
    for field in ("values", "mean", "scale", "missing"):
        np.testing.assert_array_equal(getattr(copy.gather(ids), field), getattr(store.gather(ids), field))
    assert copy.names(ids) == store.names(ids)
    assert copy.missing_counts().sum() == 11


# A whole fit.


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_a_fit_finds_planted_interactions(tmp_path, place):
    X = genotypes(120, 400, seed=5)
    y = 2.0 * X[3] * X[90] - 1.5 * X[17] * X[18] + np.random.default_rng(1).normal(0, 0.5, 400)
    base = in_memory(X, names=[f"snp{j}" for j in range(120)])
    if place == "disk":
        write_store(base, tmp_path / "s.zarr")
        base = open_store(tmp_path / "s.zarr")
    store = InteractionStore(base)
    model = BackboneRegressor(2).fit(store, y)
    assert store.names(model.support_) == ["snp3*snp90", "snp17*snp18"]
    np.testing.assert_allclose(model.coefficients_, [2.0, -1.5], atol=0.15)
    # On another table, whose features stand in another order, they are found by name.
    other = MemoryStore(X[::-1].T, names=[f"snp{j}" for j in range(119, -1, -1)])
    np.testing.assert_allclose(model.predict(InteractionStore(other)), model.predict(store))


# Real data.


@pytest.fixture(scope="module")
def mice():
    if not MICE.exists():
        pytest.skip("the mice data are not in ../shared/data beside the repository")
    with np.load(MICE) as content:
        return content["X"]


def test_all_pairs_of_the_mice_map_back(mice):
    p = mice.shape[1]
    assert n_pairs(p) == 53_514_685
    for start in range(0, n_pairs(p), 1 << 22):
        ids = np.arange(start, min(start + (1 << 22), n_pairs(p)))
        a, b = pairs_of(ids, p)
        assert ((a >= 0) & (a < b) & (b < p)).all()
        np.testing.assert_array_equal(pair_ids(a, b, p), ids)


def test_blocks_of_the_mice_are_numpys_products(mice):
    store = InteractionStore(MemoryStore(mice))
    blocks = store.blocks()
    assert (store.n_features, store.dtype) == (53_514_685, np.int8)
    for index in (0, 4, len(blocks) // 2, len(blocks) - 1):
        block = blocks[index]
        a, b = pairs_of(np.arange(block.start, block.stop), mice.shape[1])
        columns = store.read(block)
        np.testing.assert_array_equal(columns.values, (mice[:, a] * mice[:, b]).T)
        np.testing.assert_array_equal(columns.scale == 0, np.ptp(columns.values, axis=1) == 0)
