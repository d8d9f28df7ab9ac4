"""What goes wrong on real clusters, done to real processes with real signals: the answer is the same bits."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import dask
import psutil
import pytest
from dask_processes import free_port, scheduler, wait_until, worker
from distributed import Client, LocalCluster

from backbone_dask import cluster
from backbone_dask.errors import WorkerLostError
from backbone_dask.launch.local import local_cluster
from backbone_dask.problems import fitting
from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.runtime.executor import DaskExecutor, SerialExecutor
from backbone_dask.settings import Settings
from backbone_dask.store import Recipe, VirtualStore

RECIPE = Recipe(kind="linear", n_samples=200, n_features=20_000, n_relevant=5, rho=0.7, snr=5.0, seed=2)
SETTINGS = Settings(n_nonzero=5, screen_size=600, n_subproblems=6, patience=None, backbone_max=12, seed=4)


@pytest.fixture(scope="module")
def store():
    return VirtualStore(RECIPE)


@pytest.fixture(scope="module")
def serial(store):
    return fit(store, SerialExecutor())


def fit(store, executor, **more):
    return fit_sparse(prepare(store, store.target(), SETTINGS), executor, **more)


def bits(fitted):
    finding = fitted.finding
    return (
        finding.screening.candidates.tobytes(),
        finding.screening.utilities.tobytes(),
        [answer.relevant.tobytes() for record in finding.levels for answer in record.answers],
        finding.backbone.tobytes(),
        fitted.model.ids.tobytes(),
        fitted.model.coefficients.tobytes(),
        finding.outcome.objective,
        finding.outcome.bound,
    )


class Once:
    """Does something in the middle of a phase: when the first of its units is done."""

    def __init__(self, phase, act):
        self.phase, self.act, self.done = phase, act, False

    def __call__(self, event):
        in_the_middle = event.done > 0 or event.total == 1
        if event.phase == self.phase and in_the_middle and not self.done:
            self.done = True
            self.act()


def pids(client):
    return dict(client.run(_name_and_pid).values())


def _name_and_pid(dask_worker):
    return str(dask_worker.name), os.getpid()


@pytest.mark.parametrize("phase", ["screen", "compact", "levels", "reduced"])
def test_a_worker_killed_in_any_phase(store, serial, phase):
    """In "compact" and after it the worker holds partitions that only it has."""
    with local_cluster(2) as client:
        before = pids(client)
        strike = Once(phase, lambda: os.kill(before["0"], signal.SIGKILL))
        assert bits(fit(store, DaskExecutor(client), listen=strike)) == bits(serial)
        assert strike.done
        wait_until(lambda: len(pids(client)) == 2)
        assert pids(client)["0"] != before["0"]


def test_both_workers_killed_one_after_the_other(store, serial):
    with local_cluster(2) as client:
        before = pids(client)
        first = Once("compact", lambda: os.kill(before["0"], signal.SIGKILL))
        second = Once("levels", lambda: os.kill(before["1"], signal.SIGKILL))

        def strike(event):
            first(event)
            second(event)

        assert bits(fit(store, DaskExecutor(client), listen=strike)) == bits(serial)
        assert first.done
        assert second.done


def test_a_worker_out_of_memory_ends_the_run_with_the_plan_and_advice(monkeypatch):
    """A plan that is wrong, on workers that are too small for the work: they die, and are not restarted for ever."""
    monkeypatch.setattr(fitting, "require_memory", lambda *plan: None)
    wide = VirtualStore(replace(RECIPE, n_samples=3000, n_features=40_000))
    settings = replace(SETTINGS, screen_size=30_000)
    limit = 500 << 20
    quiet = {"distributed.worker.memory.pause": False, "distributed.worker.memory.spill": False}
    shape = {"n_workers": 1, "threads_per_worker": 1, "memory_limit": limit}
    with (
        dask.config.set({**quiet, "distributed.worker.memory.target": False}),
        LocalCluster(**shape, dashboard_address=None, silence_logs=50) as small,
        Client(small) as client,
        pytest.raises(WorkerLostError) as caught,
    ):
        fit_sparse(prepare(wide, wide.target(), settings), DaskExecutor(client))
    text = str(caught.value)
    assert "ended 4 workers in a row, most likely for want of memory" in text
    assert "a worker has 0.49 GiB; give the workers more memory, or lower screen_size" in text


@contextmanager
def commands(folder, address, n_workers=2):
    """Workers as `dask worker` starts them."""
    with ExitStack() as stack:
        started = [stack.enter_context(worker(folder / f"w{at}", address, f"--name=w{at}")) for at in range(n_workers)]
        wait_until(lambda: all("Registered to" in each.text for each in started))
        yield started


@pytest.mark.parametrize("phase", ["screen", "levels"])
def test_the_scheduler_is_restarted(store, serial, tmp_path, phase):
    """Whatever supervises the cluster starts scheduler and workers again; the coordinator only waits."""
    port = free_port()
    with ExitStack() as first, ExitStack() as second:
        running = first.enter_context(scheduler(tmp_path / "one", f"--port={port}"))
        first.enter_context(commands(tmp_path, running.address))

        def restart():
            first.close()
            second.enter_context(scheduler(tmp_path / "two", f"--port={port}"))
            second.enter_context(commands(tmp_path / "again", running.address))

        def kill():
            os.kill(running.process.pid, signal.SIGKILL)
            threads.append(threading.Thread(target=restart))
            threads[-1].start()

        threads: list[threading.Thread] = []
        (tmp_path / "again").mkdir()
        with cluster(running.address, workers=2) as client:
            found = fit(store, DaskExecutor(client), listen=Once(phase, kill))
            threads[0].join()
        assert bits(found) == bits(serial)


def test_a_slow_worker_holds_nobody_up(store, serial):
    """One worker gets a twentieth of a core: the other takes its tasks over."""
    with local_cluster(2) as client:
        process = psutil.Process(pids(client)["1"])
        over = threading.Event()

        def slow_down():
            while not over.is_set():
                process.suspend()
                time.sleep(0.19)
                process.resume()
                time.sleep(0.01)

        thread = threading.Thread(target=slow_down)
        thread.start()
        try:
            executor = DaskExecutor(client)
            assert bits(fit(store, executor)) == bits(serial)
        finally:
            over.set()
            thread.join()
        traffic = executor.traffic()
        assert traffic["tasks_at_home"] < traffic["tasks_placed"]


def test_a_worker_that_hangs_is_given_up(store, serial):
    """A machine that swaps, or lost its disk: its process is there and does nothing."""
    with dask.config.set({"distributed.scheduler.worker-ttl": "4s"}), local_cluster(2) as client:
        victim = psutil.Process(pids(client)["1"])
        strike = Once("levels", victim.suspend)
        assert bits(fit(store, DaskExecutor(client), listen=strike)) == bits(serial)
        assert strike.done
