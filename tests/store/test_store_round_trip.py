"""What was written is what is read: every dtype, cut and block size, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from store_cases import DTYPES, contents, in_memory, schema, table, written

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import Recipe, VirtualStore, init_store, open_store, plan_schema, write_store
from backbone_dask.store import arrays as layout
from backbone_dask.store.names import LONGEST
from backbone_dask.values import FeatureBlock

ODD_NAMES = ["", "x", "ß-Karotin", "日本語", "rs12345:A/G", "a b\tc\n", "👩🏽‍🔬", " ", "n" * LONGEST]


@pytest.mark.parametrize("shard", [None, 5, 15, 50])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_and_cut_gives_back_the_same_bits(tmp_path, dtype, shard):
    X = table(dtype)
    store = written(tmp_path / "s.zarr", X, shard=shard)
    assert store.dtype == np.dtype(dtype)
    assert (store.n_features, store.n_samples, store.itemsize) == (*X.shape, X.itemsize)
    for size in (1, 3, 5, 7, 36, 37, 1000):
        blocks = store.blocks(size)
        assert [block.index for block in blocks] == list(range(len(blocks)))
        assert b"".join(store.read(block).values.tobytes() for block in blocks) == X.tobytes()


@pytest.mark.parametrize("shard", [None, 15])
@pytest.mark.parametrize("dtype", DTYPES)
def test_mean_scale_and_missing_are_numpys(tmp_path, dtype, shard):
    X = table(dtype, n_features=23)
    X[4] = X[4, 0]
    store = written(tmp_path / "s.zarr", X, shard=shard)
    columns = store.read(store.blocks()[0])
    np.testing.assert_allclose(columns.mean, X.mean(axis=1, dtype=float), rtol=1e-13, atol=1e-13)
    expected = X.astype(float).std(axis=1)
    expected[4] = 0
    np.testing.assert_allclose(columns.scale, expected, rtol=1e-13)
    assert columns.scale[4] == 0
    np.testing.assert_array_equal(store.missing_counts(), np.zeros(23, int))


def test_it_is_plain_zarr_of_whole_features(tmp_path):
    X = table("float32")
    written(tmp_path / "s.zarr", X, shard=15, names=[f"n{j}" for j in range(37)], targets={"y": np.arange(11.0)})
    group = zarr.open_group(tmp_path / "s.zarr", mode="r")
    assert group.metadata.zarr_format == 3
    assert group["X"].chunks == (5, 11)
    assert group["X"].shards == (15, 11)
    np.testing.assert_array_equal(group["X"][:], X)
    np.testing.assert_array_equal(group["targets/y"][:], np.arange(11.0))
    assert bytes(group["names"][7]) == b"n7\0"
    assert "parts" not in group


@given(
    X=arrays.arrays(
        st.sampled_from([np.dtype(dtype) for dtype in ("int8", "uint8")]),
        st.tuples(st.integers(1, 9), st.integers(1, 4)),
        elements=None,
    ),
    data=st.data(),
)
@settings(max_examples=25, deadline=None)
def test_any_integers_with_any_cut(X, data):
    """Columns that consist of zarr's fill value are told from lost ones."""
    chunk = data.draw(st.integers(1, 4))
    shard = data.draw(st.sampled_from([None, chunk, 2 * chunk]))
    store = written("memory://round-trip.zarr", X, chunk=chunk, shard=shard, overwrite=True)
    ids = np.array(sorted(data.draw(st.sets(st.integers(0, len(X) - 1), min_size=1))))
    np.testing.assert_array_equal(store.gather(ids).values, X[ids])
    size = data.draw(st.integers(1, 9))
    assert b"".join(store.read(block).values.tobytes() for block in store.blocks(size)) == X.tobytes()


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("missing", ["refuse", "mean"])
@pytest.mark.parametrize("shard", [None, 10])
def test_whole_chunks_of_the_fill_value_are_data(tmp_path, dtype, missing, shard):
    X = table(dtype)
    X[5:20] = {"int8": -128, "uint8": 255}[dtype]
    store = written(tmp_path / "s.zarr", X, shard=shard, missing=missing)
    assert store.read(FeatureBlock(0, 0, 37)).values.tobytes() == X.tobytes()


@pytest.mark.parametrize("shard", [None, 15])
def test_gather_is_fancy_indexing(tmp_path, shard):
    X = table("float64", n_features=200)
    store = written(tmp_path / "s.zarr", X, shard=shard)
    whole = store.read(store.blocks(200)[0])
    rng = np.random.default_rng(1)
    some = [np.sort(rng.choice(200, count, replace=False)) for count in (0, 1, 7, 40, 199, 200)]
    for ids in [*some, rng.permutation(200), np.array([7, 3, 199, 3])]:
        columns = store.gather(ids)
        np.testing.assert_array_equal(columns.values, X[ids])
        np.testing.assert_array_equal(columns.mean, whole.mean[ids])
        np.testing.assert_array_equal(columns.scale, whole.scale[ids])


def test_names_of_all_kinds(tmp_path):
    X = table("float32", n_features=len(ODD_NAMES))
    store = written(tmp_path / "s.zarr", X, names=ODD_NAMES, chunk=2)
    assert store.named
    assert store.names(np.arange(9)) == ODD_NAMES
    assert store.names(np.array([8, 0, 3])) == [ODD_NAMES[8], "", "日本語"]
    assert store.find(["日本語", ""]).tolist() == [3, 0]
    with pytest.raises(InvalidDataError, match="lacks 1 of the model's features: nobody"):
        store.find(["x", "nobody"])


def test_a_store_without_names_numbers_its_features(tmp_path):
    store = written(tmp_path / "s.zarr", table("int8"))
    assert not store.named
    assert store.names(np.array([0, 36])) == ["x0", "x36"]
    assert store.find(["x36", "x2"]).tolist() == [36, 2]
    with pytest.raises(InvalidDataError, match="lacks 2 of the model's features: x37, y"):
        store.find(["x37", "y"])


@pytest.mark.parametrize(
    ("name", "message"),
    [("n" * (LONGEST + 1), "feature 6.*1025 bytes"), ("a\0b", "none of them 0"), ("\ud800", "Unicode"), (3, "strings")],
)
def test_names_that_cannot_be_kept_are_refused(tmp_path, name, message):
    X = table("float32", n_features=8)
    draft = init_store(tmp_path / "s.zarr", schema(X, named=True))
    with pytest.raises(InvalidDataError, match=message):
        draft.write_partition(1, X[5:], ["a", name, "c"])
    assert draft.pending() == [0, 1]


def test_a_name_that_two_features_have_is_not_guessed(tmp_path):
    X = table("float32", n_features=8)
    names = list("abcdefga")
    for store in (written(tmp_path / "s.zarr", X, names=names), in_memory(X, names=names)):
        assert store.find(["b"]).tolist() == [1]
        with pytest.raises(InvalidDataError, match=r"features 0 and 7 of .* are both called 'a'"):
            store.find(["b", "a"])


def test_several_targets(tmp_path):
    X = table("float32")
    targets = {"y": np.arange(11.0), "Größe": np.linspace(-1, 1, 11), "class 2": np.arange(11) % 2}
    store = written(tmp_path / "s.zarr", X, targets=targets)
    assert list(store.targets) == list(targets)
    assert "y" in store.targets
    assert "z" not in store.targets
    for name, values in targets.items():
        np.testing.assert_array_equal(store.target(name), values)
        assert store.targets[name].dtype == np.float64
    assert store.targets["y"] is store.targets["y"]
    with pytest.raises(InvalidDataError, match="3 targets; name one of: Größe, class 2, y"):
        store.target()
    with pytest.raises(InvalidDataError, match="no target 'z'"):
        store.target("z")


def test_the_only_target_needs_no_name_and_none_is_an_error(tmp_path):
    X = table("float32")
    np.testing.assert_array_equal(written(tmp_path / "a", X, targets={"y": np.ones(11)}).target(), np.ones(11))
    with pytest.raises(InvalidDataError, match="has no target; give y, or write the store again with one"):
        written(tmp_path / "b", X).target()


@pytest.mark.parametrize("name", ["", "a/b", ".", "..", ".hidden", "__x", "zarr.json", "n" * 201, "a\0"])
def test_target_names_that_are_no_folder_names(tmp_path, name):
    X = table("float32")
    with pytest.raises(InvalidDataError, match="a target cannot be called"):
        init_store(tmp_path / "s.zarr", schema(X), targets={name: np.ones(11)})
    assert not list(tmp_path.iterdir())


def test_listing_targets_reads_no_values(tmp_path):
    store = written(tmp_path / "s.zarr", table("float32"), targets={"a": np.ones(11), "b": np.ones(11)})
    for chunk in (tmp_path / "s.zarr" / "targets").rglob("c/0"):
        chunk.unlink()
    assert sorted(store.targets) == ["a", "b"]
    assert len(store.targets) == 2


def test_vectors_longer_than_their_chunks(tmp_path, monkeypatch):
    """Pieces that do not end where the partitions do."""
    monkeypatch.setattr(layout, "VECTOR_CHUNK", 8)
    monkeypatch.setattr("backbone_dask.store.reader.VECTOR_CHUNK", 8)
    monkeypatch.setattr(layout, "NAME_CHUNK_BYTES", 40)
    X = table("int8", n_features=53)
    X[:, 3] = -128
    names = [f"name {j}" * (1 + j % 2) for j in range(53)]
    store = written(tmp_path / "s.zarr", X, names=names, missing="mean", chunk=3)
    ids = np.array([0, 7, 8, 30, 52])
    np.testing.assert_array_equal(store.missing_counts(), (X == -128).sum(axis=1))
    present = np.ma.masked_equal(X[ids], -128)
    np.testing.assert_allclose(store.gather(ids).mean, present.mean(axis=1))
    assert store.names(ids) == [names[j] for j in ids]
    assert store.find([names[50]]).tolist() == [50]
    assert len(list((tmp_path / "s.zarr" / "mean" / "c").iterdir())) == 7


def test_a_copy_of_a_store_is_the_store(tmp_path):
    names = [f"n{j}" for j in range(37)]
    first = written(
        tmp_path / "a", table("uint8"), names=names, targets={"y": np.arange(11.0)}, missing="mean", shard=10
    )
    write_store(first, tmp_path / "b")
    copy = contents(open_store(tmp_path / "b"))
    assert {**contents(first), "schema": None} == {**copy, "schema": None}


def test_a_virtual_store_is_the_store_written_from_it(tmp_path):
    virtual = VirtualStore(Recipe(kind="linear", n_samples=20, n_features=300, n_relevant=4, seed=3))
    seen = []
    write_store(virtual, tmp_path / "s.zarr", listen=lambda done, total: seen.append((done, total)))
    store = open_store(tmp_path / "s.zarr")
    block = FeatureBlock(0, 0, 300)
    assert store.read(block).values.tobytes() == virtual.read(block).values.tobytes()
    np.testing.assert_array_equal(store.read(block).scale, virtual.read(block).scale)
    np.testing.assert_array_equal(store.target(), virtual.target())
    np.testing.assert_array_equal(store.truth.ids, virtual.truth.ids)
    assert seen == [(300, 300)]


@pytest.mark.parametrize("block", [(0, 38), (-1, 3), (5, 5), (37, 40)])
def test_blocks_of_another_table_are_refused(tmp_path, block):
    X = table("float32")
    for store in (written(tmp_path / "s.zarr", X), in_memory(X)):
        with pytest.raises(InvalidDataError, match="has no block of features"):
            store.read(FeatureBlock(0, *block))


@pytest.mark.parametrize("ids", [[-1], [3, 37]])
def test_ids_that_do_not_exist_are_refused(tmp_path, ids):
    X = table("float32")
    for store in (written(tmp_path / "s.zarr", X), in_memory(X)):
        for ask in (store.gather, store.names):
            with pytest.raises(InvalidDataError, match=f"has no feature {ids[-1]}; its 37 features"):
                ask(np.array(ids))


def test_plans_chunk_by_whole_features_and_shard_when_files_are_many():
    small = plan_schema(1000, 500, "float32")
    assert (small.chunk_features, small.shard_features, small.n_partitions) == (1000, None, 1)
    wide = plan_schema(10**8, 5_000, "float32")
    assert wide.chunk_features * 5_000 * 4 <= 8 << 20 < (wide.chunk_features + 1) * 5_000 * 4
    assert wide.shard_features == 16 * wide.chunk_features
    assert wide.n_partitions * wide.shard_features >= 10**8
    assert plan_schema(3, 10**8, "float64").chunk_features == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 10, "float16"), "cannot hold float16; convert to one of float32"),
        ((10, 10, "object"), "cannot hold object"),
        ((0, 10, "int8"), "at least one feature"),
        ((10, 0, "int8"), "at least one feature"),
    ],
)
def test_plans_that_make_no_sense(arguments, message):
    with pytest.raises(InvalidDataError, match=message):
        plan_schema(*arguments)


def test_a_policy_that_nobody_knows():
    with pytest.raises(InvalidDataError, match="'drop' is unknown; use one of refuse, mean"):
        plan_schema(10, 10, "int8", missing="drop")
    with pytest.raises(InvalidDataError, match="'drop' is unknown"):
        in_memory(table("int8"), missing="drop")
