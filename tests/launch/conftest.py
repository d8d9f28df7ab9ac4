"""Certificates of two authorities, and clusters that are running already."""

from __future__ import annotations

import pytest
from dask_processes import make_authority, scheduler, wait_until, worker


@pytest.fixture(scope="session")
def ours(tmp_path_factory):
    return make_authority(tmp_path_factory.mktemp("certificates") / "ours")


@pytest.fixture(scope="session")
def theirs(tmp_path_factory):
    return make_authority(tmp_path_factory.mktemp("certificates") / "theirs")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A scheduler with one worker, each started in a folder of its own."""
    folder = tmp_path_factory.mktemp("plain")
    with scheduler(folder / "scheduler") as running, worker(folder / "worker", running.address) as one:
        wait_until(lambda: "Registered to" in one.text)
        yield running


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory, ours):
    """The same with certificates."""
    folder = tmp_path_factory.mktemp("encrypted")
    with (
        scheduler(folder / "scheduler", *ours.flags) as running,
        worker(folder / "worker", running.address, *ours.flags) as one,
    ):
        wait_until(lambda: "Registered to" in one.text)
        yield running
