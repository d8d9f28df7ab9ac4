"""Bytes that changed, files that are short or gone: an error that says which, or an answer that is still right."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import zarr
from store_cases import contents, files, table, written

from backbone_dask.errors import CorruptBlockError, FormatVersionError, IncompleteStoreError, StoreError
from backbone_dask.store import ZarrStore, open_store
from backbone_dask.values import FeatureBlock

NAMES = [f"name {j}" for j in range(17)]
TARGETS = {"y": np.arange(11.0), "z": np.arange(11.0) ** 2}
KINDS = [("float32", None), ("float64", 10), ("int8", None), ("uint8", 10)]


@pytest.fixture(scope="module", params=KINDS, ids=[f"{dtype}-{shard}" for dtype, shard in KINDS])
def sound(request, tmp_path_factory):
    """A finished store that tests copy before they break it."""
    dtype, shard = request.param
    place = tmp_path_factory.mktemp("sound") / "s.zarr"
    written(place, table(dtype, n_features=17), names=NAMES, targets=TARGETS, shard=shard)
    return place


def copy(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "copy.zarr")


def spoken(place, path):
    """The words by which an error may name a file: the file itself, or the array and what it is."""
    array = str(path.relative_to(place)).split("/c/")[0].removesuffix("/zarr.json")
    return [str(path.relative_to(place)), f"'{array.removeprefix('targets/')}'", f"{array} of"]


def complaint(place):
    """The error that reading everything gives, or everything."""
    try:
        return None, contents(open_store(place))
    except StoreError as error:
        return error, None


def detected_or_harmless(place, path, expected):
    """Whether reading everything gives a clear error; if not, everything must be as it was."""
    error, found = complaint(place)
    if error is None:
        assert found == expected
        return False
    message = str(error)
    assert any(advice in message for advice in ("write the store again", "finalise", "not a feature store")), message
    assert str(place) in message
    if path.name != "zarr.json":
        assert isinstance(error, CorruptBlockError)
        assert any(word in message for word in spoken(place, path)), message
    return True


def is_idle(place, path):
    """The document of the group `targets` is for other readers; ours never opens it."""
    return path == place / "targets" / "zarr.json"


def test_a_flipped_byte_anywhere(sound, tmp_path):
    """Every file, several places in each."""
    place = copy(sound, tmp_path)
    expected = contents(ZarrStore(place))
    rng = np.random.default_rng(0)
    for path in files(place):
        content = path.read_bytes()
        for at in {0, len(content) - 5, len(content) - 1, *rng.integers(0, len(content), 2).tolist()}:
            broken = bytearray(content)
            broken[at] ^= int(rng.integers(1, 256))
            path.write_bytes(broken)
            assert detected_or_harmless(place, path, expected) != is_idle(place, path), f"byte {at} of {path}"
        path.write_bytes(content)
    assert contents(ZarrStore(place)) == expected


def test_every_byte_of_the_documents(tmp_path):
    """A digit changed in zarr.json is valid JSON and another store: the seal sees it."""
    place = tmp_path / "s.zarr"
    written(place, table("int8", n_features=6), targets={"y": np.arange(11.0)})
    expected = contents(ZarrStore(place))
    silent = []
    for path, step in ((place / "zarr.json", 1), (place / "X" / "zarr.json", 7)):
        content = path.read_bytes()
        for at in [at for at, byte in enumerate(content) if not chr(byte).isspace()][::step]:
            path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
            if not detected_or_harmless(place, path, expected):
                silent.append(content[at - 12 : at + 12])
        path.write_bytes(content)
    assert not silent


@pytest.mark.parametrize("kept", [0, 3, 0.5, -1])
def test_a_truncated_file(sound, tmp_path, kept):
    place = copy(sound, tmp_path)
    expected = contents(ZarrStore(place))
    for path in files(place):
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * kept) if isinstance(kept, float) else kept])
        assert detected_or_harmless(place, path, expected) != is_idle(place, path), path
        path.write_bytes(content)


def test_a_file_with_something_after_its_end(sound, tmp_path):
    place = copy(sound, tmp_path)
    expected = contents(ZarrStore(place))
    for path in files(place):
        content = path.read_bytes()
        path.write_bytes(content + b"more")
        assert detected_or_harmless(place, path, expected) != is_idle(place, path), path
        path.write_bytes(content)


def test_a_deleted_file(sound, tmp_path):
    place = copy(sound, tmp_path)
    expected = contents(ZarrStore(place))
    for path in files(place)[1:]:
        content = path.read_bytes()
        path.unlink()
        assert detected_or_harmless(place, path, expected) != is_idle(place, path), path
        path.write_bytes(content)


def test_the_error_names_block_features_and_file(tmp_path):
    place = tmp_path / "s.zarr"
    store = written(place, table("float32"))
    path = place / "X" / "c" / "3" / "0"
    content = path.read_bytes()
    path.write_bytes(b"?" + content[1:])
    blocks = store.blocks(10)
    assert store.read(blocks[0]).n_features == 10
    with pytest.raises(CorruptBlockError, match=r"block 1, features 15 to 19 \(file X/c/3/0\) of .*s.zarr .*checksum"):
        store.read(blocks[1])
    with pytest.raises(CorruptBlockError, match=r"features 15 to 19 \(file X/c/3/0\)"):
        store.gather(np.array([1, 16, 30]))
    assert store.gather(np.array([1, 14, 20])).n_features == 3
    path.unlink()
    with pytest.raises(CorruptBlockError, match=r"block 1, feature 15 of .*: the file X/c/3/0 is missing"):
        store.read(blocks[1])
    with pytest.raises(CorruptBlockError, match=r"feature 16 of .*: the file X/c/3/0 is missing"):
        store.gather(np.array([1, 16, 30]))


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8"])
@pytest.mark.parametrize("missing", ["refuse", "mean"])
def test_a_hole_inside_a_shard(tmp_path, dtype, missing):
    """The shard is there and its index is sound, but one of its chunks was never written."""
    place = tmp_path / "s.zarr"
    X = table(dtype)
    X[:, 0] = 1
    store = written(place, X, shard=15, missing=missing)
    matrix = zarr.open_array(place / "X", mode="r+")
    (place / "X" / "c" / "1" / "0").unlink()
    matrix[15:20], matrix[25:30] = X[15:20], X[25:30]
    assert store.read(FeatureBlock(3, 15, 20)).values.tobytes() == X[15:20].tobytes()
    with pytest.raises(CorruptBlockError, match=r"block 0, feature 20 of .*the file X/c/1/0 is missing or has a hole"):
        store.read(FeatureBlock(0, 0, 37))
    with pytest.raises(CorruptBlockError, match="feature 24"):
        store.gather(np.array([3, 24]))


def edit(place, change):
    """Write another root document."""
    document = json.loads((place / "zarr.json").read_text())
    change(document["attributes"])
    (place / "zarr.json").write_text(json.dumps(document))


def test_a_format_of_the_future(tmp_path):
    place = tmp_path / "s.zarr"
    written(place, table("float32"))
    edit(place, lambda attributes: attributes["backbone_dask"].update(format=2, unheard_of=True))
    with pytest.raises(
        FormatVersionError, match="has store format 2, this version reads format 1; write the store again"
    ):
        open_store(place)


def test_a_changed_schema(tmp_path):
    place = tmp_path / "s.zarr"
    written(place, table("int8"))
    edit(place, lambda attributes: attributes["backbone_dask"].update(missing="mean"))
    with pytest.raises(CorruptBlockError, match=r"zarr.json of .*s.zarr is damaged"):
        open_store(place)


def test_attributes_of_others_do_no_harm(tmp_path):
    place = tmp_path / "s.zarr"
    written(place, table("int8"))
    edit(place, lambda attributes: attributes.update(remark="from the clinic"))
    assert open_store(place).n_features == 37


def test_a_store_without_a_seal(tmp_path):
    place = tmp_path / "s.zarr"
    written(place, table("int8"))
    edit(place, lambda attributes: attributes["backbone_dask"].pop("seal"))
    with pytest.raises(IncompleteStoreError, match="never finalised"):
        open_store(place)


def test_what_is_no_store(tmp_path):
    zarr.open_group(tmp_path / "group.zarr", mode="w").create_array("X", shape=(3, 4), dtype="f4")
    zarr.open_group(tmp_path / "two.zarr", mode="w", zarr_format=2)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.txt").write_text("hello")
    (tmp_path / "bytes.bin").write_bytes(b"\xff\xfe\x00")
    for name, message in {
        "group.zarr": "a zarr group, but not a feature store",
        "group.zarr/X": "not a zarr group",
        "two.zarr": "there is no store at",
        "folder": "there is no store at",
        "nowhere": "there is no store at",
        "file.txt": "neither a feature store nor a recipe",
        "file.txt/below": "there is no store at",
        "bytes.bin": "neither a feature store nor a recipe",
    }.items():
        with pytest.raises(StoreError, match=message) as caught:
            open_store(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)
