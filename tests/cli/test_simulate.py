"""backbone-dask simulate: partitions written by workers, with the bits and the manners of one process."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import psutil
import pytest

from backbone_dask.cli import simulate
from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.store import open_store

# Six partitions of 8 MB.
GENOTYPES = ("--n", 200, "--p", 250_000, "--k", 5, "--rho", 0.8, "--coding", "genotype")
LONG = ("--n", 2000, "--p", 120_000, "--k", 5, "--workers", 2)


def digests(folder):
    """Every file of a store by its content."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def alive(processes):
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("shape", [GENOTYPES, ("--n", 1000, "--p", 8_000, "--k", 5)], ids=["genotype", "gaussian"])
def test_workers_write_the_files_of_one_process(shell, shape):
    shell.ok("simulate", "linear", "one.zarr", *shape, "--workers", 0)
    shell.ok("simulate", "linear", "two.zarr", *shape, "--workers", 2)
    assert digests(shell.folder / "one.zarr") == digests(shell.folder / "two.zarr")
    assert not (shell.folder / "two.zarr.partial").exists()


def test_genotypes_are_small_integers_that_shrink(shell):
    made = shell.json("simulate", "linear", "g.zarr", *GENOTYPES)
    assert made == {"store": "g.zarr", "virtual": False, "n_samples": 200, "n_features": 250_000}
    described = shell.json("info", "g.zarr")
    assert (described["dtype"], len(described["relevant"])) == ("int8", 5)
    on_disk = sum(path.stat().st_size for path in (shell.folder / "g.zarr" / "X").rglob("*") if path.is_file())
    assert on_disk < 250_000 * 200 / 4
    shell.ok("simulate", "linear", "v.json", *GENOTYPES, "--virtual")
    ids = np.arange(0, 250_000, 1_009)
    stored, virtual = open_store(shell.folder / "g.zarr"), open_store(shell.folder / "v.json")
    np.testing.assert_array_equal(stored.gather(ids).values, virtual.gather(ids).values)
    np.testing.assert_array_equal(stored.target(), virtual.target())


@pytest.mark.parametrize(
    ("features", "asked", "given"), [(1_000, (), 0), (10**8, (), None), (1_000, ("--workers", 2), 2)]
)
def test_a_small_store_starts_no_cluster_unless_asked(shell, monkeypatch, features, asked, given):
    seen = []

    @contextmanager
    def executor_of(place):
        seen.append(place.workers)
        yield SerialExecutor()

    monkeypatch.setattr(simulate, "executor_of", executor_of)
    for name in ("draft_of", "write_store"):
        monkeypatch.setattr(simulate, name, lambda *arguments, **options: None)
    shell.ok("simulate", "linear", "s.zarr", "--n", 100, "--p", features, "--k", 3, *asked)
    assert seen == [given]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_run_that_was_ended_goes_on_and_leaves_no_process(shell, number, code):
    process = shell.start("simulate", "linear", "s.zarr", *LONG)
    parts = shell.folder / "s.zarr.partial" / "parts"
    wait_until(lambda: parts.exists() and len(list(parts.glob("0*.npz"))) >= 3)
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # what Ctrl-C in a terminal does
    else:
        os.kill(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    wait_until(lambda: not alive(children))
    assert not (shell.folder / "s.zarr").exists()
    before = {path.name: path.stat().st_mtime_ns for path in parts.glob("0*.npz")}
    chunks = {path: path.stat().st_mtime_ns for path in (parts.parent / "X" / "c").rglob("0") if path.is_file()}
    assert 3 <= len(before) < 115
    assert shell.json("simulate", "linear", "s.zarr", *LONG)["n_features"] == 120_000
    assert not parts.parent.exists()
    after = shell.folder / "s.zarr" / "X" / "c"
    kept = [path for path in chunks if (after / path.parent.name / "0").stat().st_mtime_ns == chunks[path]]
    assert len(kept) >= len(before) - 2
    store = open_store(shell.folder / "s.zarr")
    shell.ok("simulate", "linear", "v.json", *LONG, "--virtual")
    virtual, ids = open_store(shell.folder / "v.json"), np.arange(0, 120_000, 499)
    np.testing.assert_array_equal(store.gather(ids).values, virtual.gather(ids).values)


def test_what_goes_wrong_on_a_worker_is_a_sentence(shell):
    """A real limit of the system: files may not grow past a megabyte."""
    code = "import sys; from backbone_dask.cli.main import main; sys.argv[0] = 'x'; main()"
    command = ["simulate", "linear", "s.zarr", "--n", "1000", "--p", "8000", "--k", "5", "--workers", "2"]
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=shell.folder,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000)),
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: "), done.stderr
    assert "Traceback" not in done.stderr
    assert not (shell.folder / "s.zarr").exists()


def test_refusals_come_before_anything_is_started(shell, monkeypatch):
    shell.ok("simulate", "linear", "s.zarr", "--n", 10, "--p", 10, "--k", 3)
    monkeypatch.setattr(simulate, "executor_of", None)
    assert "exists" in shell.refused("simulate", "linear", "s.zarr", *LONG)
    assert "kind linear or logistic" in shell.refused(
        "simulate", "tree", "t.zarr", "--n", 10, "--p", 10, "--k", 3, "--coding", "genotype"
    )
    assert shell("simulate", "linear", "t.zarr", *GENOTYPES, "--workers", -1).returncode == 2
    assert json.loads(shell.ok("info", "s.zarr", "--json"))["n_features"] == 10
