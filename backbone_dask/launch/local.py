"""A cluster on this machine: one process and one thread a worker."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Client, LocalCluster, WorkerPlugin

# The coordinator and the operating system need memory too.
SHARE_OF_MEMORY = 0.8


@contextmanager
def local_cluster(n_workers: int | None = None) -> Iterator[Client]:
    """A Client of a LocalCluster; leaving the block ends the workers."""
    count = n_workers or available_cores()
    settings = {
        # Two BLAS threads on one core are slower than one.
        "distributed.nanny.pre-spawn-environ": dict.fromkeys(_THREADS, "1"),
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.target": False,
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            memory_limit=int(SHARE_OF_MEMORY * physical_bytes() / (count + 1)),
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        client.register_plugin(_IgnoreInterrupts())
        yield client


class _IgnoreInterrupts(WorkerPlugin):
    """Ctrl-C reaches every process of a terminal; the coordinator alone decides, and ends the workers in order."""

    def setup(self, worker: Any) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def available_cores() -> int:
    return len(os.sched_getaffinity(0))


def physical_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
