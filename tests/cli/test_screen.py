"""backbone-dask screen: the file it writes, its folds and targets, its refusals, and what a killed one leaves."""

from __future__ import annotations

import csv
import os
import re
import signal

import numpy as np
import pytest
import zarr
from test_interruption import wait_until

from backbone_dask import screen
from backbone_dask.screens.catalogue import screens
from backbone_dask.screens.correlation import correlation
from backbone_dask.store import MemoryStore, open_store, write_store


def rows(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


def test_the_best_columns_come_first(demo, tmp_path):
    answer = demo.json("screen", "data.zarr", "--keep", 50, "--out", tmp_path / "s.csv", "--workers", 0)
    assert (answer["kept"], answer["n_features"], answer["n_constant"]) == (50, 5000, 0)
    found = rows(tmp_path / "s.csv")
    store = open_store(demo.folder / "data.zarr")
    utilities = correlation(store.gather(np.arange(5000)), store.target())
    order = np.lexsort((np.arange(5000), -utilities))[:50]
    assert [int(row["id"]) for row in found] == order.tolist()
    assert [float(row["utility"]) for row in found] == utilities[order].tolist()
    assert found[0]["name"] == f"x{order[0]}"
    assert not list(tmp_path.glob("*.partial"))


def test_any_number_of_workers_writes_the_same_file(demo, tmp_path):
    for workers in (0, 1, 2):
        demo.ok("screen", "recipe.json", "--keep", 50, "--out", tmp_path / f"{workers}.csv", "--workers", workers)
    texts = {(tmp_path / f"{workers}.csv").read_text() for workers in (0, 1, 2)}
    assert len(texts) == 1


@pytest.mark.parametrize("name", ["logistic", "logistic-loss", "svm", "entropy"])
def test_screens_of_classes(shell, name):
    shell.ok("simulate", "logistic", "s.json", "--n", 300, "--p", 800, "--k", 3, "--snr", 9, "--virtual")
    shell.ok("screen", "s.json", "--screen", name, "--keep", 20, "--out", "s.csv", "--workers", 0)
    truth = open_store(shell.folder / "s.json").truth.ids
    assert set(truth) <= {int(row["id"]) for row in rows(shell.folder / "s.csv")}


def test_folds_and_targets_from_one_pass(shell):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 200))
    targets = {"a": X[:, 3] + rng.normal(size=90), "b": X[:, 150] + rng.normal(size=90)}
    write_store(MemoryStore(X, targets=targets), shell.folder / "s.zarr")
    asked = ("--target", "a", "--target", "b", "--folds", 3)
    answer = shell.json("screen", "s.zarr", *asked, "--keep", 2, "--out", "s.csv", "--workers", 0)
    assert len(answer["questions"]) == 8
    found = rows(shell.folder / "s.csv")
    assert len(found) == 16
    best = {(row["target"], row["fold"]): row["id"] for row in reversed(found)}
    assert {best[key] for key in best if key[0] == "a"} == {"3"}
    assert {best[key] for key in best if key[0] == "b"} == {"150"}


def test_utilities_of_all_columns(demo, tmp_path):
    demo.ok("screen", "data.zarr", "--out", tmp_path / "s.csv", "--utilities", tmp_path / "u.zarr", "--workers", 0)
    store = open_store(demo.folder / "data.zarr")
    expected = correlation(store.gather(np.arange(5000)), store.target())
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "u.zarr", mode="r")[:], expected[None])


def test_refusals_come_before_the_pass(demo, tmp_path):
    base = ("screen", "data.zarr", "--out", tmp_path / "s.csv", "--workers", 0)
    assert "two" in demo.refused(*base, "--screen", "logistic")
    assert "no target 'z'" in demo.refused(*base, "--target", "z")
    assert not list(tmp_path.iterdir())
    demo.ok(*base)
    assert "exists" in demo.refused(*base)
    assert demo(*base, "--screen", "oracle").returncode == 2
    assert set(screens.names()) == {"correlation", "entropy", "logistic", "logistic-loss", "splines", "svm"}


def test_a_killed_screen_goes_on_to_the_same_file(shell):
    shape = ("--n", 2000, "--p", 300_000, "--k", 5, "--virtual")
    shell.ok("simulate", "linear", "v.json", *shape)
    process = shell.start("screen", "v.json", "--keep", 100, "--out", "s.csv", "--workers", 1)
    parts = shell.folder / "s.csv.partial" / "screen"
    wait_until(lambda: parts.exists() and len(list(parts.glob("*.npz"))) >= 3)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert not (shell.folder / "s.csv").exists()
    before = {path: path.stat().st_mtime_ns for path in parts.glob("screen-*.npz")}
    assert len(before) >= 3
    resumed = shell.start("screen", "v.json", "--keep", 100, "--out", "s.csv", "--workers", 2)
    wait_until(lambda: (shell.folder / "s.csv.partial" / "settings.json").exists())
    wait_until(lambda: not parts.exists() or len(list(parts.glob("*.npz"))) > len(before))
    assert all(not path.exists() or path.stat().st_mtime_ns == before[path] for path in before)
    assert resumed.wait(60) == 0
    resumed.communicate()
    shell.ok("screen", "v.json", "--keep", 100, "--out", "straight.csv", "--workers", 0)
    assert (shell.folder / "s.csv").read_text() == (shell.folder / "straight.csv").read_text()


def test_a_nan_stops_the_screen_by_name_and_block_and_missing_mean_imputes_it(shell):
    """What was finished before the bad block stays finished."""
    X = np.random.default_rng(0).normal(size=(40, 60_000)).astype(np.float32)
    y = X[:, 17] + X[:, 58_000]
    write_store(MemoryStore(X, targets={"y": y}), shell.folder / "s.zarr")
    zarr.open_array(shell.folder / "s.zarr" / "X", mode="r+")[58_000, 7] = np.nan
    asked = ("screen", "s.zarr", "--keep", 20, "--out", "s.csv", "--workers", 2)
    answer = shell.refused(*asked)
    assert re.search(r"block \d+ \(features \d+ to \d+\): feature 58000 contains NaN in 1 of 40 samples", answer)
    assert "--missing mean" in answer
    assert list((shell.folder / "s.csv.partial" / "screen").glob("*.npz"))
    shell.refused(*asked, "--missing", "mean", "--folds", 2)
    # Without it the finished blocks could not be scored again.
    (shell.folder / "s.zarr" / "X" / "c" / "0" / "0").unlink()
    shell.ok(*asked, "--missing", "mean")
    X[7, 58_000] = np.delete(X[:, 58_000], 7).mean()
    expected = {question: found.candidates for question, found in screen(X, y, keep=20).items()}
    assert {int(row["id"]) for row in rows(shell.folder / "s.csv")} == set(*expected.values())


def test_utilities_have_no_holes_after_a_screen_that_began_without_them(shell):
    shell.ok("simulate", "linear", "s.json", "--n", 50, "--p", 40_000, "--k", 2, "--virtual")
    asked = ("screen", "s.json", "--keep", 20, "--out", "s.csv", "--workers", 0)
    process = shell.start(*asked[:-1], 1)
    wait_until(lambda: list(shell.folder.glob("s.csv.partial/screen/*.npz")) or process.poll() is not None)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    (shell.folder / "s.csv").unlink(missing_ok=True)
    shell.ok(*asked, "--utilities", "u.zarr")
    assert np.isfinite(zarr.open_array(shell.folder / "u.zarr")[:]).all()
    assert "u.zarr exists" in shell.refused(*asked[:-3], "t.csv", "--workers", 0, "--utilities", "u.zarr")
    shell.ok(*asked[:-3], "t.csv", "--workers", 0, "--utilities", "u.zarr", "--overwrite")
    (shell.folder / "folder").mkdir()
    assert "is a folder" in shell.refused(*asked[:-3], "folder", "--workers", 0, "--overwrite")
    for other in ("folder", "s.json"):
        words = shell.refused(*asked[:-3], "v.csv", "--workers", 0, "--utilities", other)
        assert "something else than utilities" in words
    assert not (shell.folder / "v.csv.partial").exists()


def test_rounds_find_what_is_hidden(shell):
    rng = np.random.default_rng(0)
    z = rng.normal(size=400)
    X = np.sqrt(0.5) * (z[:, None] + rng.normal(size=(400, 2000)))
    X[:, 3] = z
    y = 5 * X[:, :3].sum(axis=1) - 15 * np.sqrt(0.5) * z + rng.normal(size=400)
    write_store(MemoryStore(X, targets={"pheno": y}), shell.folder / "s.zarr")
    asked = ("screen", "s.zarr", "--keep", 60, "--workers", 0)
    shell.ok(*asked, "--out", "one.csv")
    shell.ok(*asked, "--out", "two.csv", "--rounds", 2, "-k", 4)
    assert 3 not in {int(row["id"]) for row in rows(shell.folder / "one.csv")}
    found = rows(shell.folder / "two.csv")
    assert {0, 1, 2, 3} <= {int(row["id"]) for row in found}
    assert len(found) == 60
    assert {row["target"] for row in found} == {"pheno"}
    ((question, same),) = screen(X, y, keep=60, rounds=2, n_nonzero=4).items()
    assert set(same.candidates) == {int(row["id"]) for row in found}
    assert question.fold is None
    assert "correlation and logistic" in shell.refused(*asked, "--out", "x.csv", "--rounds", 2, "--screen", "splines")
    assert shell(*asked, "--out", "x.csv", "--rounds", 2, "--folds", 3).returncode == 2


def test_a_number_of_folds_may_be_numpys():
    X, y = np.random.default_rng(0).normal(size=(60, 30)), np.random.default_rng(1).normal(size=60)
    found, same = (screen(X, y, keep=5, folds=folds) for folds in (np.int64(3), 3))
    assert found.keys() == same.keys()
    for question in found:
        np.testing.assert_array_equal(found[question].utilities, same[question].utilities)


def test_one_class_is_refused_as_such(shell):
    X = np.random.default_rng(0).normal(size=(40, 30))
    write_store(MemoryStore(X, targets={"case": np.ones(40)}), shell.folder / "s.zarr")
    for name in ("logistic", "logistic-loss", "svm", "entropy"):
        words = shell.refused("screen", "s.zarr", "--screen", name, "--out", "s.csv", "--workers", 0)
        assert "one class only (1)" in words
    assert not list(shell.folder.glob("*.partial"))
