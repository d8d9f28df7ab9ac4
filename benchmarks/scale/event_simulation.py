"""A discrete-event simulation of tasks on workers: one scheduler, one queue a worker, one network link a worker."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

Then = Callable[[float, int], None]
"""What follows when a task is done: from the time and the worker that it ran on."""


@dataclass(order=True, slots=True)
class Task:
    """Higher priority first, then older first."""

    key: tuple[int, int]
    seconds: float = field(compare=False)
    then: Then = field(compare=False)


@dataclass(slots=True)
class Part:
    """Something that does one thing at a time."""

    free: float = 0.0
    busy: float = 0.0

    def run(self, ready: float, seconds: float) -> float:
        self.free = max(self.free, ready) + seconds
        self.busy += seconds
        return self.free


class Cluster:
    """Workers that take their own tasks by priority, and those of the longest queue when they have none."""

    def __init__(self, n_workers: int, task_seconds: float, network: float) -> None:
        self.n_workers, self.network = n_workers, network
        self.scheduler, self.task_seconds = Part(), task_seconds
        self.queues: list[list[Task]] = [[] for _ in range(n_workers)]
        self.links = [Part() for _ in range(n_workers)]
        self.idle, self.work, self.now = set(range(n_workers)), 0.0, 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    def submit(self, worker: int, seconds: float, then: Then, priority: int = 0) -> None:
        """Through the scheduler, one after another, into the queue of a worker."""
        task = Task((-priority, next(self._order)), seconds, then)
        self.at(self.scheduler.run(self.now, self.task_seconds), lambda: self._arrive(worker, task))

    def send(self, source: int, target: int, n_bytes: float, then: Callable[[float], None]) -> None:
        """From a worker to another, over the links of both."""
        if source == target:
            then(self.now)
            return
        sent = self.links[source].run(self.now, n_bytes / self.network)
        done = max(sent, self.links[target].run(self.now, n_bytes / self.network))
        self.at(done, lambda: then(done))

    def at(self, moment: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, (moment, next(self._order), act))

    def run(self) -> float:
        while self._events:
            self.now, _, act = heapq.heappop(self._events)
            act()
        return self.now

    def _arrive(self, worker: int, task: Task) -> None:
        heapq.heappush(self.queues[worker], task)
        if worker in self.idle:
            self._next(worker)
        elif self.idle and len(self.queues[worker]) > 1:
            self._next(min(self.idle))

    def _next(self, worker: int) -> None:
        queue = self.queues[worker] or max(self.queues, key=len)
        if not queue or (queue is not self.queues[worker] and len(queue) < 2):
            self.idle.add(worker)
            return
        self.idle.discard(worker)
        task = heapq.heappop(queue)
        self.work += task.seconds
        self.at(self.now + task.seconds, lambda: self._done(worker, task))

    def _done(self, worker: int, task: Task) -> None:
        task.then(self.now, worker)
        self._next(worker)
