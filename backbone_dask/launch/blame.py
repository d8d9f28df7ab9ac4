"""Which tasks are blamed when their worker is lost.

Dask ends a task after it was on four workers that died, whatever they died of. A batch job that is cancelled, that
reaches its walltime or whose node fails is no fault of its tasks; a worker that dies under a living nanny, most likely
for want of memory, is. The nanny tells them apart: if it lives, it brings a new worker.
"""

from __future__ import annotations

import asyncio
import pickle
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from time import time
from typing import Any

from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.scheduler import KilledWorker, Scheduler

from backbone_dask.errors import WorkerLostError

DEATHS = 3
"""Workers that a task may survive the death of: Dask's own default for all losses."""
LOSSES = 10
"""Jobs that a task may lose, blameless as it is: Dask's `allowed-failures` on a batch system."""
UNFINISHED = ("processing", "no-worker", "queued")


# The base class is untyped here.
class Blame(SchedulerPlugin):  # type: ignore[misc]
    """Ends tasks whose workers die under living nannies, and those that no job lives long enough for."""

    name = "backbone-dask-blame"

    def __init__(self) -> None:
        self._nannies: dict[str, str] = {}
        self._orphans: dict[str, set[Any]] = defaultdict(set)
        self._deaths: Counter[Any] = Counter()
        self._retirements: Counter[Any] = Counter()
        self._scheduler: Scheduler | None = None

    async def start(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        """A nanny that comes back with a worker has outlived the one before."""
        state = scheduler.workers[worker]
        self._nannies[worker] = state.nanny
        for key in self._orphans.pop(state.nanny, ()):
            self._deaths[key] += 1
            if self._deaths[key] > DEATHS:
                fail(scheduler, [key], KilledWorker(key, state.clean(), DEATHS))

    def log_event(self, topic: str, msg: Any) -> None:
        """The one place where Dask tells a plugin what a worker that leaves was working on."""
        if topic == "all" and isinstance(msg, Mapping) and msg.get("action") == "remove-worker":
            self._left(msg["worker"], msg["processing-tasks"], msg["expected"])

    def _left(self, worker: str, tasks: Iterable[Any], expected: bool) -> None:
        nanny = self._nannies.pop(worker, None)
        if expected:
            self._retired(tasks)
        elif nanny:
            self._orphans[nanny] |= set(tasks)

    def _retired(self, tasks: Iterable[Any]) -> None:
        """A task that is longer than the life of a worker would move from one to the next for ever."""
        if self._scheduler is None:
            return
        known = self._scheduler.tasks
        self._retirements = Counter({key: times for key, times in self._retirements.items() if key in known})
        self._retirements.update(tasks)
        moved = [key for key in tasks if self._retirements[key] > LOSSES]
        if moved:
            message = f"a task was moved {LOSSES + 1} times as its jobs came to their end; ask for a longer walltime"
            # The scheduler is about to release these tasks, and would start an ended one again.
            asyncio.get_running_loop().call_soon(fail, self._scheduler, moved, WorkerLostError(message))


def fail(scheduler: Scheduler, keys: Iterable[Any], error: Exception) -> None:
    """End unfinished tasks with an error, as the scheduler ends those that it blames itself."""
    stimulus = f"backbone-dask-fail-{time()}"
    for key in keys:
        task = scheduler.tasks.get(key)
        if task is None or task.state not in UNFINISHED:
            continue
        ended = scheduler.transition(
            key, "erred", stimulus, cause=key, exception=pickle.dumps(error), exception_text=repr(error)
        )
        scheduler.transitions(ended, stimulus)


def fail_all(scheduler: Scheduler, error: Exception) -> None:
    fail(scheduler, list(scheduler.tasks), error)
