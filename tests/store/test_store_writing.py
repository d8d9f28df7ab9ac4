"""Init, partition, finalise: any order, many processes, killed writers, full disks. Nothing half-written has a name."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import time
from itertools import pairwise

import numpy as np
import pytest
from store_cases import contents, fill, finished, in_memory, python, schema, table, written

from backbone_dask.errors import IncompleteStoreError, InvalidDataError, StoreError
from backbone_dask.store import (
    Recipe,
    VirtualStore,
    ZarrStore,
    init_store,
    locate,
    open_store,
    write_recipe,
    write_store,
)
from backbone_dask.values import FeatureBlock

X = table("float32")
HEADER = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
from store_cases import fill, table
draft = pickle.loads(bytes.fromhex(sys.argv[2]))
"""


def child(code, draft, *arguments):
    """A process that has the draft and the cases."""
    return python(HEADER + code, os.path.dirname(__file__), pickle.dumps(draft).hex(), *arguments)


def everything(store):
    return store.read(FeatureBlock(0, 0, store.n_features)).values.tobytes()


@pytest.mark.parametrize("shard", [None, 10])
def test_any_order_gives_the_same_store(tmp_path, shard):
    stores = []
    for name, turn in (("a", 1), ("b", -1)):
        draft = init_store(tmp_path / name, schema(X, shard=shard), targets={"y": np.ones(11)})
        fill(draft, X, order=draft.pending()[::turn])
        draft.finalise()
        stores.append(contents(ZarrStore(tmp_path / name)))
    assert stores[0] == stores[1]
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_several_processes_write_at_once(tmp_path):
    wide = table("float32", n_features=200, n_samples=50)
    draft = init_store(tmp_path / "s.zarr", schema(wide, chunk=3, shard=6))
    code = "fill(draft, table('float32', n_features=200, n_samples=50), order=range(int(sys.argv[3]), 34, 3))"
    processes = [child(code, draft, first) for first in (0, 1)]
    # This process has a share of its own, and repeats another's, as a scheduler may that lost sight of a worker.
    fill(draft, wide, order=[*range(2, 34, 3), *range(0, 34, 3)])
    for process in processes:
        finished(process)
    assert draft.pending() == []
    draft.finalise()
    assert everything(ZarrStore(tmp_path / "s.zarr")) == wide.tobytes()


def test_a_writer_that_is_killed_leaves_no_store_and_the_next_goes_on(tmp_path):
    place = tmp_path / "s.zarr"
    wide = table("float64", n_features=1200, n_samples=50)
    draft = init_store(place, schema(wide, chunk=2), targets={"y": np.ones(50)})
    process = child("fill(draft, table('float64', n_features=1200, n_samples=50))", draft)
    deadline = time.monotonic() + 60
    while len(draft.pending()) > 580 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert os.listdir(tmp_path) == ["s.zarr.partial"]
    with pytest.raises(StoreError, match=r"no store at .*s.zarr.partial is half-written: write the same store again"):
        open_store(place)
    with pytest.raises(IncompleteStoreError, match="never finalised"):
        open_store(f"{place}.partial")

    again = init_store(place, schema(wide, chunk=2), targets={"y": np.ones(50)})
    left = again.pending()
    assert again == draft
    assert 0 < len(left) <= 580
    with pytest.raises(IncompleteStoreError, match=f"lacks {len(left)} of 600 partitions .first: {left[0]}.; write"):
        again.finalise()
    # Of each partition that counts as written every byte is there, so only the pending ones are written now.
    again_written = time.time_ns()
    for index in left[:-1]:
        again.write_partition(index, wide[2 * index : 2 * index + 2])
    again.write_partition(left[-1], wide[2 * left[-1] :])
    again.finalise()
    assert everything(ZarrStore(place)) == wide.tobytes()
    kept = [
        path for path in (place / "X" / "c").rglob("0") if path.is_file() and path.stat().st_mtime_ns < again_written
    ]
    assert len(kept) >= 600 - len(left)
    assert os.listdir(tmp_path) == ["s.zarr"]
    assert not list(place.rglob("*.partial"))


@pytest.mark.parametrize("change", ["targets", "schema", "truth"])
def test_a_draft_of_another_store_is_begun_anew(tmp_path, change):
    fill(init_store(tmp_path / "s", schema(X), targets={"y": np.zeros(11)}), X)
    truth = VirtualStore(Recipe(kind="linear", n_samples=11, n_features=37, n_relevant=2)).truth
    other = {
        "targets": lambda: init_store(tmp_path / "s", schema(X), targets={"y": np.ones(11)}),
        "schema": lambda: init_store(tmp_path / "s", schema(X, missing="mean"), targets={"y": np.zeros(11)}),
        "truth": lambda: init_store(tmp_path / "s", schema(X), targets={"y": np.zeros(11)}, truth=truth),
    }[change]()
    assert len(other.pending()) == 8


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_draft_of_another_table_of_the_same_shape_does_not_leak_in(tmp_path, monkeypatch, dtype):
    """Even if it has the same means and scales: the same samples in another order."""
    monkeypatch.setattr("backbone_dask.store.schema.CHUNK_BYTES", 500)
    old, new = table(dtype), table(dtype)[:, ::-1]
    write_store(in_memory(old), tmp_path / "whole")
    stopped = RuntimeError("enough")

    def listen(done, total):
        if done > 20:
            raise stopped

    with pytest.raises(RuntimeError, match="enough"):
        write_store(in_memory(old), tmp_path / "s", listen=listen)
    write_store(in_memory(new), tmp_path / "s")
    assert everything(open_store(tmp_path / "s")) == new.tobytes()


def test_a_copy_goes_on_with_what_is_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr("backbone_dask.store.schema.CHUNK_BYTES", 500)
    source, stopped = in_memory(X), RuntimeError("enough")

    def listen(done, total):
        if done > 20:
            raise stopped

    with pytest.raises(RuntimeError, match="enough"):
        write_store(source, tmp_path / "s", listen=listen)
    stamps = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "s.partial" / "parts").iterdir()}
    (tmp_path / "s.partial" / "parts" / min(stamps)).write_bytes(b"damaged")
    counted = []
    original = locate.disk_errors
    monkeypatch.setattr(locate, "disk_errors", lambda place: counted.append(place) or original(place))
    write_store(source, tmp_path / "s")
    assert everything(open_store(tmp_path / "s")) == X.tobytes()
    n_partitions = open_store(tmp_path / "s").schema.n_partitions
    assert len(counted) == n_partitions - len(stamps) + 1 + 1


def test_a_killed_finalise_is_done_again(tmp_path, monkeypatch):
    draft = init_store(tmp_path / "s", schema(X), targets={"y": np.ones(11)})
    fill(draft, X)
    with monkeypatch.context() as broken:
        broken.setattr(locate, "publish", lambda scratch, final: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            draft.finalise()
    assert os.listdir(tmp_path) == ["s.partial"]
    again = init_store(tmp_path / "s", schema(X), targets={"y": np.ones(11)})
    assert again.pending() == []
    again.finalise()
    assert everything(open_store(tmp_path / "s")) == X.tobytes()
    assert os.listdir(tmp_path) == ["s"]


def test_a_damaged_part_file_makes_its_partition_pending(tmp_path):
    draft = init_store(tmp_path / "s", schema(X))
    fill(draft, X)
    part = tmp_path / "s.partial" / "parts" / "0000002.npz"
    content = bytearray(part.read_bytes())
    content[content.index(b"NUMPY") + 200] ^= 255
    part.write_bytes(content)
    with pytest.raises(IncompleteStoreError, match=r"0000002.npz was damaged .*; write partition 2 again"):
        draft.finalise()
    assert draft.pending() == [2]
    fill(draft, X)
    draft.finalise()
    assert everything(open_store(tmp_path / "s")) == X.tobytes()


@pytest.mark.parametrize(
    ("index", "values", "names", "message"),
    [
        (8, X[:5], None, "partition 8 does not exist; there are 8, from 0"),
        (-1, X[:5], None, "partition -1 does not exist"),
        (0, X[:4], None, r"partition 0 must be float32 of shape \(5, 11\), not float32 \(4, 11\)"),
        (7, X[:5], None, r"must be float32 of shape \(2, 11\)"),
        (0, X[:5].astype(float), None, "not float64"),
        (0, X[:5], list("abcde"), "needs 0 names, not 5"),
    ],
)
def test_partitions_that_do_not_fit(tmp_path, index, values, names, message):
    draft = init_store(tmp_path / "s", schema(X))
    with pytest.raises(InvalidDataError, match=message):
        draft.write_partition(index, values, names)
    assert len(draft.pending()) == 8


def test_names_must_come_with_their_partition(tmp_path):
    draft = init_store(tmp_path / "s", schema(X, named=True))
    for names in (None, list("abcd")):
        with pytest.raises(InvalidDataError, match="partition 0 needs 5 names"):
            draft.write_partition(0, X[:5], names)


def test_a_draft_that_is_gone(tmp_path):
    draft = init_store(tmp_path / "s", schema(X))
    shutil.rmtree(tmp_path / "s.partial")
    with pytest.raises(StoreError, match="begin the store with init_store"):
        draft.write_partition(0, X[:5])


def test_columns_in_any_memory_order(tmp_path):
    draft = init_store(tmp_path / "s", schema(X))
    fill(draft, np.asfortranarray(X))
    draft.finalise()
    assert everything(open_store(tmp_path / "s")) == X.tobytes()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones(10), r"target 'y' has shape \(10,\), the table has 11 samples"),
        (np.ones((11, 1)), "has shape"),
        (list("abcdefghijk"), "not numeric .*code its classes"),
        (
            np.where(np.arange(11) == 3, np.nan, 1),
            "is nan in sample 3 and not finite in 1 of 11; leave these samples out",
        ),
        (np.where(np.arange(11) > 3, np.inf, 1), "is inf in sample 4 and not finite in 7 of 11"),
    ],
)
def test_targets_that_cannot_be_used(tmp_path, values, message):
    with pytest.raises(InvalidDataError, match=message):
        init_store(tmp_path / "s", schema(X), targets={"y": values})
    with pytest.raises(InvalidDataError, match=message):
        in_memory(X, targets={"y": values})
    assert not os.listdir(tmp_path)


def test_a_name_that_is_taken(tmp_path):
    written(tmp_path / "s", X)
    with pytest.raises(StoreError, match="exists; choose another name, or ask to overwrite it"):
        init_store(tmp_path / "s", schema(X))
    with pytest.raises(StoreError, match="exists"):
        write_store(in_memory(X), tmp_path / "s")


def test_the_old_store_is_there_until_the_new_one_is_whole(tmp_path):
    place = tmp_path / "s"
    new = table("int8", n_features=12, n_samples=4)
    written(place, X, targets={"y": np.ones(11)})
    draft = init_store(place, schema(new), overwrite=True)
    for index, (start, stop) in enumerate(pairwise([0, 5, 10, 12])):
        assert everything(open_store(place)) == X.tobytes()
        with pytest.raises(IncompleteStoreError):
            draft.finalise()
        draft.write_partition(index, new[start:stop])
    assert everything(open_store(place)) == X.tobytes()
    draft.finalise()
    assert everything(open_store(place)) == new.tobytes()
    assert not open_store(place).targets
    assert os.listdir(tmp_path) == ["s"]


def test_a_rename_that_fails_gives_the_old_store_its_name_back(tmp_path, monkeypatch):
    place, rename = tmp_path / "s", os.rename
    written(place, X)
    draft = init_store(place, schema(X + 1), overwrite=True)
    fill(draft, X + 1)

    def refuse(source, target):
        if str(source).endswith(".partial"):
            raise PermissionError("no")
        rename(source, target)

    with monkeypatch.context() as broken:
        broken.setattr(os, "rename", refuse)
        with pytest.raises(PermissionError):
            draft.finalise()
    assert everything(open_store(place)) == X.tobytes()
    draft.finalise()
    assert everything(open_store(place)) == (X + 1).tobytes()


def test_killed_between_the_two_renames_both_stores_are_whole(tmp_path):
    place = tmp_path / "s"
    written(place, X)
    draft = init_store(place, schema(X + 1), overwrite=True)
    fill(draft, X + 1)
    os.rename(place, f"{place}.replaced")
    with pytest.raises(StoreError, match=r"s.replaced is the one it was to replace, whole: rename it to have it back"):
        open_store(place)
    assert everything(open_store(f"{place}.replaced")) == X.tobytes()
    init_store(place, schema(X + 1)).finalise()
    assert everything(open_store(place)) == (X + 1).tobytes()
    assert os.listdir(tmp_path) == ["s"]


def test_overwriting_never_removes_what_is_no_store(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years of work")
    (tmp_path / "notes.txt").write_text("more")
    recipe = Recipe(kind="linear", n_samples=11, n_features=37, n_relevant=2)
    for name in ("thesis", "notes.txt"):
        with pytest.raises(StoreError, match="is not a feature store, so it is not overwritten"):
            write_store(in_memory(X), tmp_path / name, overwrite=True)
        with pytest.raises(StoreError, match="is not a feature store, so it is not overwritten"):
            write_recipe(recipe, tmp_path / name, overwrite=True)
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years of work"
    assert sorted(os.listdir(tmp_path)) == ["notes.txt", "thesis"]


def test_a_store_and_a_recipe_take_each_others_place(tmp_path):
    recipe = Recipe(kind="linear", n_samples=11, n_features=37, n_relevant=2)
    place = tmp_path / "deep" / "down" / "s"
    write_recipe(recipe, place)
    assert everything(open_store(place)) == everything(VirtualStore(recipe))
    with pytest.raises(StoreError, match="exists"):
        write_recipe(recipe, place)
    write_store(in_memory(X), place, overwrite=True)
    assert everything(open_store(place)) == X.tobytes()
    write_recipe(recipe, place, overwrite=True)
    assert isinstance(open_store(place), VirtualStore)
    assert os.listdir(place.parent) == ["s"]
