"""Interactions: every pair once, the same bits however they are read, and names that lead back."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_cases import in_memory, table, written

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import (
    InteractionStore,
    ZarrStore,
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
