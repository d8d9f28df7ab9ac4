"""Running pure functions here, or on a Dask cluster, with the same answers in the same order."""

from __future__ import annotations

import socket
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import repeat
from typing import Any
from uuid import uuid4

from distributed import Client, Future, wait
from distributed.scheduler import KilledWorker

from backbone_dask.errors import ClusterError, WorkerLostError
from backbone_dask.runtime.budget import TASKS_PER_WORKER
from backbone_dask.runtime.connection import (
    CANCELLED,
    LOST,
    ask_scheduler,
    await_scheduler,
    await_workers,
    dashboard_of,
)
from backbone_dask.runtime.handles import Handle, Placed, resolved
from backbone_dask.runtime.ledger import Ledger, entered, name_of
from backbone_dask.runtime.mail import Mail, on_worker
from backbone_dask.runtime.memory import physical_bytes
from backbone_dask.runtime.pacing import telling
from backbone_dask.values import Seat
from backbone_dask.watching import Watcher, nobody

# Of one value, in a row: a scheduler that comes back so often and is lost again will not do better.
MOST_RECOVERIES = 5
# Asking for hundreds of workers costs the scheduler as much as a few tasks.
FRESH_SECONDS = 1.0


HERE = "this process"


class _Accountable:
    """What both executors say about the tasks that they ran."""

    def __init__(self, keeps_blocks: bool) -> None:
        self.keeps_blocks = keeps_blocks
        self.ledger = Ledger()

    def traffic(self) -> dict[str, int]:
        return self.ledger.traffic()

    def peak_bytes(self) -> list[int]:
        return [peak for seat, peak in self.ledger.peaks.items() if seat != HERE]


class SerialExecutor(_Accountable):
    """Everything in this process; handles are the values themselves."""

    n_workers = 1
    dashboard: str | None = None

    def __init__(self, *, keeps_blocks: bool = False) -> None:
        super().__init__(keeps_blocks)

    @property
    def worker_bytes(self) -> int:
        return physical_bytes()

    def seats(self) -> tuple[Seat, ...]:
        return (Seat(HERE),)

    def hostnames(self) -> dict[str, str]:
        return {HERE: socket.gethostname()}

    def share(self, value: Any) -> Any:
        return value

    def place(self, make: Callable[[], Any], home: str | None = None) -> Any:
        return make()

    def submit(self, function: Callable[..., Any], *arguments: Any, home: str | None = None, priority: int = 0) -> Any:
        return entered(self.ledger.add, HERE, home, function, *arguments)

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[tuple[Any, ...]],
        homes: Iterable[str | None] = repeat(None),
    ) -> Iterator[Any]:
        return (self.submit(function, *item, home=home) for item, home in zip(items, homes, strict=False))

    def watching(self, watcher: Watcher) -> AbstractContextManager[None]:
        return telling(watcher)


class DaskExecutor(_Accountable):
    """Tasks on the workers of a cluster. Only ids, seeds and small answers pass through the scheduler.

    What a task is made from is remembered until its answer is here: tasks that went down with the scheduler, or with
    the only worker that had their data, are sent again.
    """

    def __init__(self, client: Client, *, keeps_blocks: bool = False) -> None:
        super().__init__(keeps_blocks)
        self._client = client
        self._addresses: dict[str, str] = {}
        self._known: dict[str, Any] = {}
        self._asked = -FRESH_SECONDS
        self._epoch = 0
        self._topic = f"backbone-{uuid4().hex}"
        self._mail = Mail(self.ledger)
        await_workers(client)
        self._listen()
        weakref.finalize(self, _stop_listening, client, self._topic)

    @property
    def n_workers(self) -> int:
        return max(1, len(self._workers()))

    @property
    def worker_bytes(self) -> int:
        """Of the smallest; a worker without a limit counts as one that has all of this machine."""
        return min(int(worker["memory_limit"]) or physical_bytes() for worker in self._some_workers().values())

    @property
    def dashboard(self) -> str | None:
        return dashboard_of(self._client)

    def seats(self) -> tuple[Seat, ...]:
        """The workers by name, so that the same workers always come in the same order."""
        workers = sorted(self._workers().values(), key=lambda worker: str(worker["name"]))
        return tuple(
            Seat(str(worker["name"]), frozenset({worker["host"]}), int(worker["nthreads"])) for worker in workers
        )

    def hostnames(self) -> dict[str, str]:
        """What the host of every worker calls itself."""
        return dict(self._client.run(_name_and_host).values())

    def share(self, value: Any) -> Any:
        # A task, not scattered data: if every worker that has the value is lost, Dask makes it again.
        return Handle(lambda: self._client.submit(_same, value, pure=False))

    def place(self, make: Callable[[], Any], home: str | None = None) -> Any:
        return Placed(lambda: self._scatter(make(), home))

    def submit(self, function: Callable[..., Any], *arguments: Any, home: str | None = None, priority: int = 0) -> Any:
        handle = Handle(lambda: self._send(function, arguments, home, priority))
        handle.future(self._epoch)
        return handle

    def map(
        self,
        function: Callable[..., Any],
        items: Iterable[tuple[Any, ...]],
        homes: Iterable[str | None] = repeat(None),
    ) -> Iterator[Any]:
        started: deque[Handle] = deque()
        try:
            for item, home in zip(items, homes, strict=False):
                started.append(self.submit(function, *item, home=home))
                self._wait_for_room(started)
                while started and started[0].future(self._epoch).done():
                    yield self._result(started.popleft())
            while started:
                yield self._result(started.popleft())
        finally:
            self._client.cancel([future for handle in started for future in handle.sent])

    @contextmanager
    def watching(self, watcher: Watcher) -> Iterator[None]:
        self._mail.watcher = watcher
        try:
            yield
        finally:
            self._mail.watcher = nobody

    def _send(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], home: str | None, priority: int
    ) -> Future:
        # Dask returns the old result when a key is reused.
        how = {"key": f"{name_of(function)}-{uuid4().hex}", "priority": priority, "pure": False}
        # A hint: a task whose worker is gone, or busy while others are idle, may run elsewhere.
        pin = {"workers": [self._addresses[home]], "allow_other_workers": True} if home in self._addresses else {}
        values = resolved(arguments, self._epoch)
        watched = self._mail.watcher is not nobody
        return self._client.submit(on_worker, self._topic, watched, home, function, *values, **how, **pin)

    def _scatter(self, value: Any, home: str | None) -> Future:
        self._asked = -FRESH_SECONDS
        self._workers()
        if home in self._addresses:
            # The worker may be gone since it was asked for.
            with suppress(OSError, ValueError):
                return self._client.scatter(value, direct=True, hash=False, workers=[self._addresses[home]])
        await_workers(self._client)
        return self._client.scatter(value, direct=True, hash=False)

    def _result(self, handle: Handle) -> Any:
        for _ in range(MOST_RECOVERIES):
            try:
                return handle.future(self._epoch).result()
            except LOST:
                self._recover()
            except KilledWorker as cause:
                raise WorkerLostError(
                    f"the task {name_of_key(cause.task)} ended {cause.allowed_failures + 1} workers in a row, most "
                    "likely for want of memory"
                ) from cause
        raise ClusterError("the cluster lost the same task again and again; see the log of its scheduler")

    def _recover(self) -> None:
        """Go on with what is left of the cluster: every handle makes its value again when it is asked for it."""
        await_scheduler(self._client)
        await_workers(self._client)
        self._epoch += 1
        self._asked = -FRESH_SECONDS
        self._listen()

    def _wait_for_room(self, started: Iterable[Handle]) -> None:
        while True:
            running = [each for each in (handle.future(self._epoch) for handle in started) if not each.done()]
            if len(running) < TASKS_PER_WORKER * self.n_workers:
                return
            # Where there are several clients, Dask would wait with the newest.
            with suppress(*CANCELLED, KilledWorker), self._client.as_current():
                wait(running, return_when="FIRST_COMPLETED")

    def _listen(self) -> None:
        self._client.subscribe_topic(self._topic, self._mail)

    def _some_workers(self) -> dict[str, Any]:
        """Those that are there, or the first that comes."""
        if not self._workers():
            await_workers(self._client)
            self._asked = -FRESH_SECONDS
        return self._workers()

    def _workers(self) -> dict[str, Any]:
        """Those that are there, as of a second ago. A worker that was restarted has the same name, not the address."""
        if time.monotonic() < self._asked + FRESH_SECONDS:
            return self._known
        found = ask_scheduler(self._client, lambda: self._client.scheduler_info(n_workers=-1)["workers"])
        self._known, self._asked = dict(found), time.monotonic()
        self._addresses = {str(worker["name"]): address for address, worker in found.items()}
        return self._known


def _stop_listening(client: Client, topic: str) -> None:
    if client.status == "running":
        client.unsubscribe_topic(topic)


def _name_and_host(dask_worker: Any) -> tuple[str, str]:
    return str(dask_worker.name), socket.gethostname()


def name_of_key(key: Any) -> str:
    return str(key).rpartition("-")[0] or str(key)


def _same(value: Any) -> Any:
    return value
