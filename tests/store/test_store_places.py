"""The same store at any address: a path, a URL, a web server, another process."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import time
import urllib.request

import fsspec
import numpy as np
import pytest
from dask_processes import free_port
from store_cases import contents, fill, finished, in_memory, python, schema, table, written

from backbone_dask.errors import CorruptBlockError, IncompleteStoreError, StoreError
from backbone_dask.store import Recipe, VirtualStore, as_store, init_store, open_store, write_recipe, write_store
from backbone_dask.values import FeatureBlock

X = table("float32")
NAMES = [f"n{j}" for j in range(37)]
TARGETS = {"y": np.arange(11.0), "z": np.ones(11)}
RECIPE = Recipe(kind="linear", n_samples=11, n_features=37, n_relevant=2)


def everything(store):
    return store.read(FeatureBlock(0, 0, store.n_features)).values.tobytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    place = tmp_path_factory.mktemp("reference") / "s.zarr"
    written(place, X, names=NAMES, targets=TARGETS, shard=10)
    return place


@pytest.fixture(params=["memory://{name}", "file://{folder}/{name}", "local://{folder}/{name}", "{folder}/{name}/"])
def address(request, tmp_path):
    name = f"store-{time.monotonic_ns()}.zarr"
    return request.param.format(folder=tmp_path, name=name)


def test_every_address_holds_the_same(address, reference):
    written(address, X, names=NAMES, targets=TARGETS, shard=10)
    assert contents(open_store(address)) == contents(open_store(reference))
    assert everything(as_store(address)) == X.tobytes()


def test_overwriting_at_every_address(address):
    old = written(address, X, targets=TARGETS)
    assert everything(old) == X.tobytes()
    with pytest.raises(StoreError, match="exists"):
        init_store(address, schema(X))
    draft = init_store(address, schema(-X), overwrite=True)
    fill(draft, -X)
    assert everything(open_store(address)) == X.tobytes()
    draft.finalise()
    assert everything(open_store(address)) == (-X).tobytes()
    assert len(open_store(address).targets) == 0
    system, path = fsspec.core.url_to_fs(address)
    assert not any(system.exists(path.rstrip("/") + suffix) for suffix in (".partial", ".replaced", "/parts"))


def test_going_on_at_every_address(address):
    fill(init_store(address, schema(X)), X, order=[5, 1])
    draft = init_store(address, schema(X))
    assert draft.pending() == [0, 2, 3, 4, 6, 7]
    with pytest.raises(IncompleteStoreError):
        draft.finalise()
    with pytest.raises(StoreError, match="partial is half-written"):
        open_store(address)
    fill(draft, X)
    draft.finalise()
    assert everything(open_store(address)) == X.tobytes()


def test_recipes_at_every_address(address):
    write_recipe(RECIPE, address)
    assert everything(open_store(address)) == everything(VirtualStore(RECIPE))
    with pytest.raises(StoreError, match="exists"):
        write_recipe(RECIPE, address)
    write_store(in_memory(X), address, overwrite=True)
    assert everything(open_store(address)) == X.tobytes()
    write_recipe(RECIPE, address, overwrite=True)
    assert isinstance(open_store(address), VirtualStore)


def test_a_move_that_broke_off_is_done_again():
    """Where nothing can be renamed, files are copied; a reader never meets a mixture."""
    address, memory = "memory://broken-off.zarr", fsspec.filesystem("memory")
    written(address, X)
    draft = init_store(address, schema(-X), overwrite=True)
    fill(draft, -X)
    memory.rm("/broken-off.zarr/zarr.json")
    with pytest.raises(StoreError, match="there is no store at"):
        open_store(address)
    draft.finalise()
    assert everything(open_store(address)) == (-X).tobytes()


def test_a_flipped_byte_and_a_lost_chunk_behind_a_url():
    memory = fsspec.filesystem("memory")
    store = written("memory://flipped.zarr", X)
    content = bytearray(memory.cat("/flipped.zarr/X/c/2/0"))
    content[7] ^= 1
    memory.pipe("/flipped.zarr/X/c/2/0", bytes(content))
    with pytest.raises(CorruptBlockError, match=r"features 10 to 14 \(file X/c/2/0\) of memory://flipped.zarr"):
        everything(store)
    memory.rm("/flipped.zarr/X/c/2/0")
    with pytest.raises(CorruptBlockError, match="X/c/2/0 is missing"):
        everything(store)


@pytest.mark.parametrize("address", ["memory://nowhere.zarr", "/nowhere/at/all.zarr", "memory://a/b/../nothing"])
def test_nothing_is_there(address):
    with pytest.raises(StoreError, match="there is no store at"):
        open_store(address)


def test_a_scheme_that_nobody_knows():
    with pytest.raises(StoreError, match=r"gopher://x.zarr cannot be opened: Protocol not known: gopher"):
        open_store("gopher://x.zarr")


def test_home_and_working_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    written("~/home.zarr", X)
    assert everything(open_store(tmp_path / "home.zarr")) == X.tobytes()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = open_store("home.zarr")
    draft = init_store("relative.zarr", schema(X))
    assert store.location == "home.zarr"
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert everything(store) == X.tobytes()
    assert everything(pickle.loads(pickle.dumps(store))) == X.tobytes()
    fill(pickle.loads(pickle.dumps(draft)), X)
    draft.finalise()
    assert everything(open_store(tmp_path / "relative.zarr")) == X.tobytes()
    assert not os.listdir(tmp_path / "elsewhere")


def wait_for(url):
    for _ in range(200):
        try:
            return urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"{url} does not answer")


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A real web server of a folder, and the folder."""
    folder, port = tmp_path_factory.mktemp("web"), free_port()
    code = "import runpy; runpy.run_module('http.server', run_name='__main__')"
    server = python(code, port, "--bind", "127.0.0.1", "--directory", folder)
    try:
        wait_for(f"http://127.0.0.1:{port}/")
        yield f"http://127.0.0.1:{port}", folder
    finally:
        server.kill()
        server.communicate()


def test_reading_from_a_web_server(web, reference):
    url, folder = web
    shutil.copytree(reference, folder / "s.zarr")
    store = open_store(f"{url}/s.zarr")
    assert contents(store) == contents(open_store(reference))
    # http.server answers with the whole shard when a part of it is asked for.
    assert store.read(FeatureBlock(0, 6, 9)).values.tobytes() == X[6:9].tobytes()
    np.testing.assert_array_equal(store.gather(np.array([1, 17, 36])).values, X[[1, 17, 36]])
    assert store.find(["n30"]).tolist() == [30]
    again = pickle.loads(pickle.dumps(store))
    assert everything(again) == X.tobytes()


def test_what_is_wrong_on_a_web_server(web, reference):
    url, folder = web
    with pytest.raises(StoreError, match="there is no store at http"):
        open_store(f"{url}/nothing.zarr")
    shutil.copytree(reference, folder / "broken.zarr")
    path = folder / "broken.zarr" / "X" / "c" / "1" / "0"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(CorruptBlockError, match=r"features 10 to 14 \(file X/c/1/0\) of http"):
        everything(open_store(f"{url}/broken.zarr"))
    path.unlink()
    with pytest.raises(CorruptBlockError, match="X/c/1/0 is missing"):
        everything(open_store(f"{url}/broken.zarr"))
    (folder / "broken.zarr" / "targets" / "y" / "c" / "0").unlink()
    with pytest.raises(CorruptBlockError, match=r"values of http.*: the file targets/y/c/0 is missing"):
        open_store(f"{url}/broken.zarr").target("y")


def test_a_recipe_on_a_web_server(web):
    url, folder = web
    write_recipe(RECIPE, folder / "recipe.json")
    assert everything(open_store(f"{url}/recipe.json")) == everything(VirtualStore(RECIPE))


def test_a_web_server_that_does_not_answer():
    with pytest.raises(StoreError, match=r"127.0.0.1"):
        open_store(f"http://127.0.0.1:{free_port()}/s.zarr")


def test_a_zip_archive(tmp_path, reference):
    archive = shutil.make_archive(str(tmp_path / "s"), "zip", reference)
    assert everything(open_store(f"zip://::{archive}")) == X.tobytes()


def test_a_store_in_another_process(reference):
    store = open_store(reference)
    code = """
import pickle, sys
store = pickle.loads(bytes.fromhex(sys.argv[1]))
print(store.read(store.blocks(10)[2]).values.tobytes().hex())
"""
    assert len(pickle.dumps(store)) < 300
    assert bytes.fromhex(finished(python(code, pickle.dumps(store).hex()))) == X[20:30].tobytes()


def test_a_store_survives_a_pool_of_processes(reference):
    store = open_store(reference)
    with multiprocessing.get_context("forkserver").Pool(2) as pool:
        parts = pool.map(store.read, store.blocks(10))
    assert b"".join(part.values.tobytes() for part in parts) == X.tobytes()


@pytest.mark.parametrize("address", ["memory://again.zarr", "{folder}/again.zarr"])
def test_a_store_written_again_is_not_answered_from_a_cache(address, tmp_path):
    address = address.format(folder=tmp_path)
    old = written(address, X, targets={"y": np.zeros(11)}, names=NAMES)
    assert everything(old) == X.tobytes()
    old_mean = old.gather(np.arange(37)).mean
    written(address, 2 * X, targets={"y": np.ones(11)}, names=NAMES[::-1], overwrite=True)
    new = open_store(address)
    assert everything(new) == (2 * X).tobytes()
    np.testing.assert_allclose(new.gather(np.arange(37)).mean, 2 * old_mean)
    np.testing.assert_array_equal(new.target(), np.ones(11))
    assert new.names(np.array([0])) == ["n36"]
    assert everything(pickle.loads(pickle.dumps(old))) == (2 * X).tobytes()


def test_a_store_that_is_overwritten_while_it_is_read(tmp_path):
    """Its new columns would go with the means of the old ones."""
    old = written(tmp_path / "s.zarr", X, targets={"y": np.zeros(11)})
    assert everything(old) == X.tobytes()
    written(tmp_path / "s.zarr", table("int8", n_features=12), overwrite=True)
    for ask in (lambda: everything(old), lambda: old.gather(np.array([1])), lambda: old.target()):
        with pytest.raises(StoreError, match=r"s.zarr was written again after it was opened; open it again"):
            ask()


def test_a_store_that_cannot_be_read(tmp_path):
    written(tmp_path / "s.zarr", X)
    (tmp_path / "s.zarr" / "zarr.json").unlink()
    (tmp_path / "s.zarr" / "zarr.json").mkdir()
    with pytest.raises(StoreError, match=r"s.zarr cannot be read: .*Is a directory"):
        open_store(tmp_path / "s.zarr")
