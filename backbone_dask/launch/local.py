"""A cluster on this machine: one process and one thread a worker."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

import dask
from distributed import Client, LocalCluster

from backbone_dask.launch.config import require_known
from backbone_dask.launch.listening import EVERYWHERE, LOOPBACK, Listening, listening
from backbone_dask.launch.temporary_tls import temporary_tls
from backbone_dask.launch.worker_settings import NUMBA, ONE_THREAD, SETTINGS
from backbone_dask.runtime.memory import physical_bytes

if TYPE_CHECKING:
    from distributed.security import Security

    from backbone_dask.launch.clusters import Request

# The coordinator and the operating system need memory too.
SHARE_OF_MEMORY = 0.8


@contextmanager
def launch(request: Request) -> Iterator[Client]:
    """One process and one thread a worker, as many as there are cores unless told otherwise."""
    require_known(request.options, {"host", "dashboard"}, "local")
    with local_cluster(request.workers, tls=request.tls, **request.options) as client:
        yield client


@contextmanager
def local_cluster(
    n_workers: int | None = None, *, host: str = LOOPBACK, dashboard: str | int = 0, tls: bool = False
) -> Iterator[Client]:
    """A Client of a LocalCluster; leaving the block ends the workers.

    Parameters
    ----------
    n_workers : worker processes; one per core by default.
    host : the address of this machine on which all parts listen; 0.0.0.0 is every one that it has.
    dashboard : HOST:PORT of the dashboard, or a port of `host`; 0 is any free one.
    tls : encrypt and authenticate all connections with temporary certificates, and serve the dashboard over https.
    """
    count, place = n_workers or available_cores(), listening(host, dashboard)
    with dask.config.set(_settings(place.dashboard_host)), ExitStack() as stack:
        with interrupts_wait():
            security = stack.enter_context(temporary_tls(place.hosts)) if tls else None
            cluster = stack.enter_context(_cluster(count, place, security))
            client = stack.enter_context(Client(cluster))
        yield client


def _settings(dashboard_host: str) -> dict[str, Any]:
    """BLAS counts its threads when it is loaded, so Dask sets those variables in this process while it spawns another.

    Numba in this process would take its own for a change of mind, and refuse it once it has threads; in a worker it
    is in time when it is set after the start.
    """
    return {
        **SETTINGS,
        "distributed.nanny.pre-spawn-environ": {name: "1" for name in ONE_THREAD if name != NUMBA},
        "distributed.nanny.environ": {NUMBA: "1"},
        "distributed.dashboard.link": _link_to(dashboard_host),
    }


def _link_to(host: str) -> str:
    """Dask's template of the link, with the host: Dask itself would put the scheduler's there."""
    template: str = dask.config.get("distributed.dashboard.link")
    return template if host == EVERYWHERE else template.replace("{host}", host)


def _cluster(count: int, place: Listening, security: Security | None) -> LocalCluster:
    return LocalCluster(
        n_workers=count,
        threads_per_worker=1,
        processes=True,
        memory_limit=local_worker_bytes(count),
        host=place.host,
        dashboard_address=place.dashboard,
        security=security,
        # Its last words to a client that left are no concern of the user.
        silence_logs=logging.CRITICAL + 1,
    )


@contextmanager
def interrupts_wait() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM until the cluster stands and can be closed in order.

    Workers inherit the blocked Ctrl-C, which a terminal sends to every process: the coordinator alone decides.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Starting it later, in another thread, would let Ctrl-C through to the workers again.
    resource_tracker.ensure_running()
    came: list[int] = []
    # Blocking is for this thread and what it starts; another thread may still take the signal.
    both = (signal.SIGINT, signal.SIGTERM)
    handlers = {number: signal.signal(number, lambda number, frame: came.append(number)) for number in both}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def local_worker_bytes(count: int) -> int:
    """Memory of each of `count` workers on this machine."""
    return int(SHARE_OF_MEMORY * physical_bytes() / (count + 1))


def available_cores() -> int:
    return len(os.sched_getaffinity(0))
