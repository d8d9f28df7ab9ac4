"""Disks that are too small, or fill up while a store is written: nothing is lost."""

from __future__ import annotations

import os
import shutil
import sys

import numpy as np
import pytest
from store_cases import fill, schema, table
from test_store_writing import everything

from backbone_dask.errors import DiskSpaceError
from backbone_dask.store import (
    Recipe,
    init_store,
    open_store,
    write_recipe,
)


def test_what_the_disk_cannot_hold_is_refused_before_anything_is_written(tmp_path):
    free = shutil.disk_usage(tmp_path).free
    n_features = free // 4000 + 1000
    huge = schema(np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (n_features, 1000), (0, 0)), chunk=1000)
    with pytest.raises(DiskSpaceError, match=r"s needs .* GiB, .* GiB free; make room, or choose another disk"):
        init_store(tmp_path / "new" / "s", huge)
    assert not os.listdir(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs is a file system of Linux")
@pytest.mark.parametrize("shard", [None, 10])
def test_a_disk_that_is_full_loses_nothing(small_disk, shard):
    place, hog = small_disk / "s", small_disk / "hog"
    wide = table("float64", n_features=40, n_samples=1500)
    draft = init_store(place, schema(wide, shard=shard))
    hog.write_bytes(bytes(750_000))
    with pytest.raises(DiskSpaceError, match=r"no space left while writing .*s.partial; make room and go on") as caught:
        fill(draft, wide)
    assert isinstance(caught.value.__cause__, OSError)
    left = draft.pending()
    assert 0 < len(left) < draft.schema.n_partitions
    assert not place.exists()
    hog.unlink()
    again = init_store(place, draft.schema)
    assert again.pending() == left
    fill(again, wide)
    again.finalise()
    assert everything(open_store(place)) == wide.tobytes()


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs is a file system of Linux")
def test_a_disk_that_fills_up_while_finalising(small_disk):
    place, hog = small_disk / "s", small_disk / "hog"
    wide = table("float64", n_features=2000, n_samples=2)
    draft = init_store(place, schema(wide, chunk=1000))
    fill(draft, wide)
    hog.write_bytes(bytes(shutil.disk_usage(small_disk).free - 8192))
    with pytest.raises(DiskSpaceError, match="no space left while writing"):
        draft.finalise()
    # What zarr had begun and removed may have left a page.
    rest = small_disk / "rest"
    rest.write_bytes(bytes(shutil.disk_usage(small_disk).free))
    with pytest.raises(DiskSpaceError, match="no space left while writing"):
        write_recipe(Recipe(kind="linear", n_samples=5, n_features=5, n_relevant=1), small_disk / "deep" / "recipe")
    hog.unlink()
    rest.unlink()
    draft.finalise()
    assert everything(open_store(place)) == wide.tobytes()
