"""Interactions: every pair once, the same bits however they are read, and names that lead back."""

from __future__ import annotations

import json
import pickle
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_cases import in_memory, table, written

from backbone_dask import BackboneRegressor
from backbone_dask.errors import InvalidDataError, MemoryBudgetError, StoreError
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
from backbone_dask.store.pairs import MOST_COLUMNS, n_pairs, pair_ids, pairs_of
from backbone_dask.values import FeatureBlock

MICE = Path(__file__).parents[2].parent / "shared" / "data" / "mice" / "mice_X_int8.npz"


def genotypes(p=9, n=23, seed=0, dtype="int8"):
    """Columns 0/1/2, shape (features, samples)."""
    return np.random.default_rng(seed).integers(0, 3, (p, n)).astype(dtype)


def reference(X):
    """All products, a pair at a time, in exact integers or float64."""
    wide = X.astype(float if X.dtype.kind == "f" else np.int64)
    return np.array([wide[a] * wide[b] for a, b in combinations(range(len(X)), 2)])


def everything(store):
    return store.gather(np.arange(store.n_features))


# Pairs and their numbers.


@pytest.mark.parametrize("p", [2, 3, 4, 5, 50])
def test_pairs_are_numbered_like_combinations(p):
    expected = np.array(list(combinations(range(p), 2)))
    a, b = pairs_of(np.arange(n_pairs(p)), p)
    np.testing.assert_array_equal(np.stack([a, b], axis=1), expected)
    np.testing.assert_array_equal(pair_ids(a, b, p), np.arange(n_pairs(p)))


@given(p=st.integers(2, MOST_COLUMNS), data=st.data())
def test_any_pair_of_any_table_maps_back(p, data):
    a = data.draw(st.integers(0, p - 2))
    b = data.draw(st.integers(a + 1, p - 1))
    # Python's integers have no width: what they say is exact.
    number = a * (2 * p - a - 1) // 2 + b - a - 1
    ids = pair_ids(np.array([a]), np.array([b]), p)
    assert ids.tolist() == [number]
    assert [side.tolist() for side in pairs_of(ids, p)] == [[a], [b]]


@pytest.mark.parametrize("p", [2**16 + 1, 10**5, 94_906_267, 2**28 - 1, 2**31 - 1, MOST_COLUMNS])
def test_ends_of_rows_map_back_where_the_square_root_rounds(p):
    near = [x for x in (0, 1, 2, p // 3, p // 2, p - 5, p - 4, p - 3, p - 2) if 0 <= x <= p - 2]
    a = np.repeat(np.array(near), 2)
    b = np.where(np.arange(a.size) % 2, p - 1, a + 1)
    ids = pair_ids(a, b, p)
    assert ids.tolist() == [x * (2 * p - x - 1) // 2 + y - x - 1 for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    found = pairs_of(ids, p)
    np.testing.assert_array_equal(found[0], a)
    np.testing.assert_array_equal(found[1], b)
    assert int(pairs_of(np.array([n_pairs(p) - 1]), p)[1][0]) == p - 1


# Columns.


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32", "float64"])
def test_columns_are_the_products_of_all_pairs(dtype):
    X = genotypes(dtype=dtype) if "int" in dtype else table(dtype, 9, 23)
    store = InteractionStore(in_memory(X))
    columns = everything(store)
    assert (store.n_features, store.n_samples, store.dtype) == (36, 23, np.dtype(dtype))
    assert columns.values.dtype == store.dtype
    np.testing.assert_array_equal(columns.values, reference(X).astype(dtype))
    np.testing.assert_allclose(columns.mean, reference(X).mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(columns.scale, reference(X).std(axis=1), rtol=1e-5)


@pytest.mark.parametrize("step", [1, 2, 5, 7, 35, 36, 100])
@pytest.mark.parametrize("kind", ["int8", "float32"])
def test_any_block_size_gives_the_same_bits(kind, step):
    store = InteractionStore(in_memory(genotypes() if kind == "int8" else table(kind, 9, 23)))
    whole = everything(store)
    blocks = store.blocks(step)
    for field in ("values", "mean", "scale"):
        joined = np.concatenate([getattr(store.read(block), field) for block in blocks])
        np.testing.assert_array_equal(joined, getattr(whole, field))
    np.testing.assert_array_equal(np.concatenate([store.raw(block) for block in blocks]), whole.values)


@given(chosen=st.sets(st.integers(0, 35), min_size=1))
def test_a_gather_has_the_bits_of_a_read(chosen):
    store = InteractionStore(in_memory(genotypes()))
    ids, whole = np.array(sorted(chosen)), store.read(FeatureBlock(0, 0, 36))
    gathered = store.gather(ids)
    np.testing.assert_array_equal(gathered.values, whole.values[ids])
    np.testing.assert_array_equal(gathered.scale, whole.scale[ids])


def test_constant_products_have_scale_0():
    X = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 1]], np.int8)
    scale = everything(InteractionStore(in_memory(X))).scale
    assert scale[0] == 0
    assert (scale[1:] > 0).all()


def test_the_smallest_base_has_two_features():
    X = genotypes(2)
    columns = everything(InteractionStore(in_memory(X)))
    np.testing.assert_array_equal(columns.values, reference(X))
    with pytest.raises(InvalidDataError, match="at least 2"):
        InteractionStore(in_memory(genotypes(1)))


def test_what_does_not_exist_is_refused():
    store = InteractionStore(in_memory(genotypes()))
    with pytest.raises(InvalidDataError, match="no feature 36"):
        store.gather(np.array([3, 36]))
    with pytest.raises(InvalidDataError, match="no block"):
        store.read(FeatureBlock(0, 30, 37))
    with pytest.raises(InvalidDataError, match="no feature -1"):
        store.names(np.array([-1]))


def test_interactions_of_interactions_are_products_of_four():
    X = genotypes(4)
    store = InteractionStore(InteractionStore(in_memory(X)))
    np.testing.assert_array_equal(everything(store).values, reference(reference(X)))


# Dtypes.


@pytest.mark.parametrize(
    ("values", "kind", "missing", "expected"),
    [
        ([0, 2], "int8", "refuse", "int8"),
        ([-11, 11], "int8", "refuse", "int8"),
        ([-12, 10], "int8", "refuse", "float32"),
        ([0, 11], "int8", "refuse", "int8"),
        ([0, 12], "int8", "refuse", "uint8"),
        ([0, 16], "int8", "refuse", "float32"),
        ([-1, 12], "int8", "refuse", "float32"),
        ([-128, 1], "int8", "refuse", "float32"),
        ([-8, 15], "int8", "refuse", "float32"),
        ([0, 15], "uint8", "refuse", "uint8"),
        ([0, 16], "uint8", "refuse", "float32"),
        ([0, 2], "uint8", "mean", "uint8"),
        ([-16, 8], "int8", "refuse", "float32"),
        ([-128, 0, 2], "int8", "mean", "int8"),
        ([-128, 0, 15], "int8", "mean", "uint8"),
        ([255, 0, 15], "uint8", "mean", "uint8"),
        ([255, 0, 16], "uint8", "mean", "float32"),
        ([-128, -128], "int8", "mean", "int8"),
    ],
)
def test_the_dtype_is_the_narrowest_of_ours_that_cannot_overflow(tmp_path, values, kind, missing, expected):
    X = np.array([values, values[::-1]], kind)
    store = InteractionStore(written(tmp_path / "s.zarr", X, missing=missing))
    assert store.dtype == expected
    if missing == "refuse":
        np.testing.assert_array_equal(everything(store).values, reference(X))


def test_integers_of_the_whole_range_have_exact_products():
    X = table("int8", 12, 40)
    columns = everything(InteractionStore(in_memory(X)))
    assert columns.values.dtype == np.float32
    np.testing.assert_array_equal(columns.values, reference(X))


def test_a_float_product_that_overflows_is_named():
    X = np.array([[1e30, 1], [1e30, 2], [1, 2]], np.float32)
    store = InteractionStore(in_memory(X, names=["one", "two", "three"]))
    with pytest.raises(InvalidDataError, match=r"feature 0 \('one\*two'\) contains infinity"):
        everything(store)


# Missing values.


@pytest.mark.parametrize(("kind", "code"), [("int8", -128), ("uint8", 255)])
@pytest.mark.parametrize("most", [2, 15, 90])
def test_a_product_with_a_missing_factor_is_missing(tmp_path, kind, code, most):
    rng = np.random.default_rng(3)
    X = rng.integers(0, most + 1, (6, 40)).astype(kind)
    X[:, 0] = most
    gone = rng.random(X.shape) < 0.2
    X[gone] = code
    columns = everything(InteractionStore(written(tmp_path / "s.zarr", X, missing="mean")))
    pairs = list(combinations(range(6), 2))
    lost = np.array([gone[a] | gone[b] for a, b in pairs])
    exact = np.ma.array(reference(np.where(gone, 0, X).astype(np.int64)), mask=lost)
    np.testing.assert_allclose(columns.mean, exact.mean(axis=1), rtol=1e-5)
    np.testing.assert_array_equal(columns.values[~lost], exact.compressed())
    assert np.abs(columns.standardised()[lost]).max() < 1e-5
    if columns.missing is not None:
        assert (columns.values[lost] == columns.missing).all()


def test_missing_floats_are_the_mean_of_their_column_in_memory_and_on_disk(tmp_path):
    X = table("float32", 5, 12)
    X[2, 3] = X[4, 7] = np.nan
    base = in_memory(X, missing="mean")
    write_store(base, tmp_path / "s.zarr")
    filled = np.where(np.isnan(X), np.nanmean(X, axis=1, dtype=float)[:, None].astype(np.float32), X)
    found = everything(InteractionStore(base)).values
    np.testing.assert_allclose(found, reference(filled), rtol=1e-6)
    np.testing.assert_array_equal(everything(InteractionStore(ZarrStore(tmp_path / "s.zarr"))).values, found)


# Names.


NAMES = ["rs1", "rs2*G", "*", "a*b", "x", "Ω"]


def test_names_lead_back_even_with_the_sign_that_joins_them():
    store = InteractionStore(in_memory(genotypes(6), names=NAMES))
    ids = np.arange(store.n_features)
    names = store.names(ids)
    assert names == [f"{a}*{b}" for a, b in combinations(NAMES, 2)]
    assert store.named
    np.testing.assert_array_equal(store.find(names), ids)
    np.testing.assert_array_equal(store.find(names[::-1]), ids[::-1])


def test_either_order_of_the_factors_is_found():
    store = InteractionStore(in_memory(genotypes(6), names=NAMES))
    np.testing.assert_array_equal(store.find(["x*rs1", "rs1*x"]), store.find(["rs1*x"] * 2))


def test_a_base_without_names_has_numbered_ones():
    store = InteractionStore(in_memory(genotypes(4)))
    assert store.names(np.array([0, 5])) == ["x0*x1", "x2*x3"]
    assert store.find(["x2*x3", "x0*x1"]).tolist() == [5, 0]


@pytest.mark.parametrize("name", ["x0", "x0*x0", "x0*x9", "x0*x1*x2", "*", ""])
def test_a_name_of_no_pair_is_refused(name):
    with pytest.raises(InvalidDataError, match="lacks 1 of"):
        InteractionStore(in_memory(genotypes(4))).find(["x0*x1", name])


def test_a_name_of_two_pairs_is_refused():
    store = InteractionStore(in_memory(genotypes(4), names=["a", "b*c", "a*b", "c"]))
    with pytest.raises(InvalidDataError, match=r"features 0 and 5 .* are both called 'a\*b\*c'"):
        store.find(["a*b*c"])
    assert store.find(["a*c"]).tolist() == [2]


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
