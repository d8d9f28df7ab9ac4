"""From text to a store: what the parts make together."""

from __future__ import annotations

import numpy as np
import pytest
from row_cases import put

from backbone_dask.errors import InvalidDataError
from backbone_dask.estimators.ingesting import ingest
from backbone_dask.store import ZarrStore


def columns(place):
    store = ZarrStore(place)
    return store.gather(np.arange(store.n_features)).values


def made(source, tmp_path, **how):
    ingest(source, tmp_path / "o.zarr", executor="serial", overwrite=True, **how)
    return columns(tmp_path / "o.zarr")


def test_no_target_is_no_target(tmp_path):
    path = put(tmp_path / "t.csv", "a,b\n1,2\n3,4\n")
    assert made(path, tmp_path, target=()).tolist() == [[1, 3], [2, 4]]
    assert not ZarrStore(tmp_path / "o.zarr").targets


def test_svmlight_files_of_different_width_lie_below_one_another(tmp_path):
    """Also where they have as many samples."""
    paths = [put(tmp_path / "1.svm", "1 1:2 3:1\n0 2:1\n"), put(tmp_path / "2.svm", "1 1:5\n1 2:6\n")]
    assert made(paths, tmp_path, target="y").tolist() == [[2, 0, 5, 0], [0, 1, 0, 6], [1, 0, 0, 0]]
    assert ZarrStore(tmp_path / "o.zarr").target("y").tolist() == [1, 0, 1, 1]


def test_missing_whole_numbers_are_refused_unless_people_say_otherwise(tmp_path):
    path = put(tmp_path / "t.csv", "id,a,b\ns1,0,1\ns2,NA,2\ns3,2,2\n")
    with pytest.raises(InvalidDataError, match=r"feature 0 .'a'.* .--missing mean"):
        made(path, tmp_path, sample_id="id")
    assert made(path, tmp_path, sample_id="id", missing="mean").tolist() == [[0, 1, 2], [1, 2, 2]]
    small = made(path, tmp_path, sample_id="id", missing="mean", dtype="int8")
    assert (small.dtype, small.tolist()) == (np.int8, [[0, -128, 2], [1, 2, 2]])
    assert ZarrStore(tmp_path / "o.zarr").sample_ids == ["s1", "s2", "s3"]


@pytest.mark.parametrize(("option", "name"), [("target", "Y"), ("sample_id", "ib"), ("exclude", "yy")])
def test_unknown_columns(tmp_path, option, name):
    path = put(tmp_path / "t.csv", "ia,y\n1,2\n3,4\n")
    close = {"Y": "y", "ib": "ia", "yy": "y"}[name]
    with pytest.raises(InvalidDataError, match=rf"t.csv has no column '{name}' for --\S+; .*{close}"):
        made(path, tmp_path, **{option: name})
    assert not (tmp_path / "o.zarr").exists()


def test_several_tables_beside_one_another_share_a_target(tmp_path):
    paths = [put(tmp_path / "1.csv", "id,a,y\ns1,1,0.5\ns2,2,1.5\n"), put(tmp_path / "2.csv", "id,b\ns1,3\ns2,4\n")]
    assert made(paths, tmp_path, sample_id="id", target="y").tolist() == [[1, 2], [3, 4]]
    assert ZarrStore(tmp_path / "o.zarr").target("y").tolist() == [0.5, 1.5]
