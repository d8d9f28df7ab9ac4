"""Real workers that die, with their nanny or under it: who is blamed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import dask
import pytest
from distributed import Client, LocalCluster
from distributed.scheduler import KilledWorker

from backbone_dask.errors import ClusterError, WorkerLostError
from backbone_dask.launch.batch import SETTINGS
from backbone_dask.launch.blame import DEATHS, LOSSES, Blame, fail_all


@contextmanager
def scheduler():
    """No worker; those of the tests are processes of their own, as in a job."""
    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=0, dashboard_address=":0", processes=True, scheduler_kwargs={"plugins": [Blame()]}
        ) as cluster,
        Client(cluster) as client,
    ):
        yield cluster, client


class Job:
    """A nanny and its worker in a process group of their own, as a batch system starts them."""

    def __init__(self, address):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
        # Workers have to find the functions of this file.
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(command, env=environment, start_new_session=True, stdout=quiet, stderr=quiet)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.vanish()

    def vanish(self):
        """What a batch system does at the walltime: the whole group, at once."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def started(path):
    """Takes notes of every start, then stays."""
    with open(path, "a") as file:
        file.write("x")
    time.sleep(100)


def deadly(path):
    with open(path, "a") as file:
        file.write("x")
    os.kill(os.getpid(), signal.SIGKILL)


def starts(path):
    return len(path.read_text()) if path.exists() else 0


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


@pytest.fixture
def notes(tmp_path):
    return tmp_path / "notes"


def test_a_task_survives_more_lost_jobs_than_dask_allows_deaths(notes):
    with scheduler() as (cluster, client), ExitStack() as stack:
        future = client.submit(started, notes)
        for lost in range(DEATHS + 2):
            job = stack.enter_context(Job(cluster.scheduler_address))
            wait_until(lambda before=lost: starts(notes) > before)
            job.vanish()
            wait_until(lambda: not cluster.scheduler.workers)
        assert future.status == "pending"
        assert cluster.scheduler.tasks[future.key].suspicious == DEATHS + 2 <= LOSSES


def test_a_task_that_kills_workers_under_living_nannies_ends_as_ever(notes):
    with scheduler() as (cluster, client), Job(cluster.scheduler_address):
        future = client.submit(deadly, notes)
        with pytest.raises(KilledWorker) as death:
            future.result(timeout=60)
        assert death.value.allowed_failures == DEATHS
        assert starts(notes) == DEATHS + 1


def test_a_task_that_is_moved_on_for_ever_is_ended(notes):
    with scheduler() as (cluster, client), ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(Job(cluster.scheduler_address))
        client.wait_for_workers(2, timeout=60)
        blame = next(plugin for plugin in cluster.scheduler.plugins.values() if isinstance(plugin, Blame))
        future = client.submit(started, notes)
        wait_until(lambda: starts(notes))
        blame._retirements[future.key] = LOSSES
        (busy,) = (address for address, tasks in client.processing().items() if tasks)
        client.retire_workers([busy])
        with pytest.raises(WorkerLostError, match="ask for a longer walltime"):
            future.result(timeout=60)


def test_all_unfinished_tasks_can_be_ended():
    with scheduler() as (cluster, client):
        futures = client.map(abs, range(5))
        total = client.submit(sum, futures)
        wait_until(lambda: total.key in cluster.scheduler.tasks)
        cluster.loop.add_callback(fail_all, cluster.scheduler, ClusterError("no hope"))
        for future in [*futures, total]:
            with pytest.raises(ClusterError, match="no hope"):
                future.result(timeout=30)
