"""Running pure functions here, or on a Dask cluster, with the same answers in the same order."""

from __future__ import annotations

import os
import resource
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, Future, wait
from distributed.client import FutureCancelledError, FuturesCancelledError
from distributed.scheduler import KilledWorker

from backbone_dask.errors import WorkerLostError
from backbone_dask.runtime.budget import TASKS_PER_WORKER


class SerialExecutor:
    """Everything in this process; handles are the values themselves."""

    n_workers = 1

    @property
    def worker_bytes(self) -> int:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def share(self, value: Any) -> Any:
        return value

    def place(self, value: Any) -> Any:
        return value

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return function(*arguments)

    def map(self, function: Callable[..., Any], items: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        return (function(*item) for item in items)

    def peak_bytes(self) -> list[int]:
        return [peak_bytes()]


class DaskExecutor:
    """Tasks on the workers of a cluster. Only ids, seeds and small answers pass through the scheduler."""

    def __init__(self, client: Client) -> None:
        self._client = client
        client.wait_for_workers(1)

    @property
    def n_workers(self) -> int:
        return max(1, len(self._workers()))

    @property
    def worker_bytes(self) -> int:
        return min(int(worker["memory_limit"]) for worker in self._workers().values())

    def share(self, value: Any) -> Any:
        # A task, not scattered data: if every worker that has the value is lost, Dask makes it again.
        return self.submit(_same, value)

    def place(self, value: Any) -> Any:
        return self._client.scatter(value, direct=True, hash=False)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        # Dask returns the old result when a key is reused; an impure task gets a key of its own.
        return self._client.submit(function, *arguments, pure=False)

    def map(self, function: Callable[..., Any], items: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        started: deque[Future] = deque()
        try:
            for item in items:
                started.append(self.submit(function, *item))
                self._wait_for_room(started)
                while started and started[0].done():
                    yield _result(started.popleft())
            while started:
                yield _result(started.popleft())
        finally:
            self._client.cancel(list(started))

    def peak_bytes(self) -> list[int]:
        return [int(peak) for peak in self._client.run(peak_bytes).values()]

    def _wait_for_room(self, started: Iterable[Future]) -> None:
        while True:
            running = [future for future in started if not future.done()]
            if len(running) < TASKS_PER_WORKER * self.n_workers:
                return
            with _losses_explained():
                wait(running, return_when="FIRST_COMPLETED")

    def _workers(self) -> dict[str, Any]:
        return dict(self._client.scheduler_info(n_workers=-1)["workers"])


def _result(future: Future) -> Any:
    with _losses_explained():
        return future.result()


@contextmanager
def _losses_explained() -> Iterator[None]:
    """Turn Dask's words for a lost worker into what happened and what to do."""
    try:
        yield
    except KilledWorker as cause:
        raise WorkerLostError(
            f"a task ended {cause.allowed_failures + 1} workers in a row, most likely for want of memory; "
            "give the workers more memory, or lower screen_size or subproblem_fraction"
        ) from cause
    except (FutureCancelledError, FuturesCancelledError) as cause:
        raise WorkerLostError(
            "a worker was lost with columns of a table in memory that only it had; fit again, or write the table to a "
            "store first (backbone_dask.write_store): workers read that by themselves"
        ) from cause


def _same(value: Any) -> Any:
    return value


def peak_bytes() -> int:
    """The largest resident memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
