"""A coordinator that is lost, and a disk that fills up, seen from the command line: the result is the same."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack

import pytest
from dask_processes import scheduler, wait_until, worker
from distributed import Client

SHAPE = ("--n", 500, "--p", 400_000, "--k", 8, "--rho", 0.5, "--snr", 3, "--virtual")
FIT = ("fit", "v.json", "-k", 8)
FOUND = ("support", "coefficients", "intercept", "backbone", "objective", "reduced", "termination", "levels")


def found(result):
    return {name: result[name] for name in FOUND}


def test_a_coordinator_is_killed_and_the_next_goes_on_on_the_same_cluster(shell):
    shell.ok("simulate", "linear", "v.json", *SHAPE)
    with ExitStack() as stack:
        running = stack.enter_context(scheduler(shell.folder / "s"))
        workers = [stack.enter_context(worker(shell.folder / f"w{at}", running.address)) for at in range(2)]
        wait_until(lambda: all("Registered to" in each.text for each in workers))
        asked = (*FIT, "--out", "run", "--cluster", running.address)
        process = shell.start(*asked)
        wait_until(lambda: list((shell.folder / "run").glob("screen/*.npz")))
        process.kill()
        process.communicate()
        assert not (shell.folder / "run" / "result.json").exists()
        with Client(running.address) as client:
            # The scheduler drops what nobody waits for any more.
            wait_until(lambda: not any(client.processing().values()))
        resumed = shell.json(*asked, "--resume")
    straight = shell.json(*FIT, "--out", "other", "--workers", 0)
    assert found(resumed) == found(straight)
    assert resumed["traffic"]["bytes_read"] < straight["traffic"]["bytes_read"]


@pytest.mark.parametrize("option", ["--overwrite", "--resume"])
def test_a_cluster_that_is_not_there_costs_no_earlier_run(shell, option):
    shell.ok("simulate", "linear", "s.zarr", "--n", 100, "--p", 500, "--k", 3)
    asked = ("fit", "s.zarr", "-k", 3, "--out", "run")
    before = shell.json(*asked, "--workers", 0)
    if option == "--resume":
        (shell.folder / "run" / "result.json").unlink()
    error = shell.refused(*asked, "--cluster", "tcp://127.0.0.1:1", option)
    assert "127.0.0.1:1" in error
    assert (shell.folder / "run" / "screening.npz").exists()
    assert found(shell.json(*asked, "--workers", 0, "--resume")) == found(before)


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as cause:
        pytest.skip(f"mounting a small file system is not permitted here: {cause}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize(
    ("free", "file"), [(0, "settings.json"), (100_000, "screen/"), (505_000, "screening.npz"), (535_000, "levels/0/")]
)
def test_a_full_disk_loses_nothing(shell, small_disk, free, file):
    shell.ok("simulate", "linear", "v.json", *SHAPE)
    hog = small_disk / "hog"
    hog.write_bytes(bytes((1 << 20) - free))
    asked = (*FIT, "--screen-size", 2000, "--out", "disk/run", "--workers", 0)
    error = shell.refused(*asked)
    assert f"no space left while writing disk/run/{file}" in error
    assert "make room and use --resume" in error
    assert not (small_disk / "run" / "result.json").exists()
    hog.unlink()
    again = shell.json(*asked, "--resume")
    assert found(again) == found(shell.json(*asked[:-3], "other", "--workers", 0))
