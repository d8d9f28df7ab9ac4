"""Which batch jobs are lost, and when to stop replacing them: decisions without a clock or a batch system."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from backbone_dask.launch.queues import States

STEADY = 3
"""Looks at which a job was connected, after which it counts as one that works."""
GRACE = 60.0
"""Seconds that a running job may be without a worker: a nanny starts a new one after a crash."""
FAILURES_A_JOB = 3


@dataclass(frozen=True, slots=True)
class Job:
    """A job by its name and its number in the batch system; how often a worker of it was seen, and when last."""

    name: str
    number: str
    looks: int = 0
    seen: float | None = None

    @property
    def is_steady(self) -> bool:
        return self.looks >= STEADY

    def at(self, now: float, connected: Set[str]) -> Job:
        return replace(self, looks=self.looks + 1, seen=now) if self.name in connected else self


@dataclass(frozen=True, slots=True)
class Crew:
    """The jobs of a cluster, and how many in a row were lost before they worked."""

    wanted: int
    jobs: tuple[Job, ...] = ()
    failures: int = 0

    @property
    def is_hopeless(self) -> bool:
        """Whether jobs die again and again right after they start."""
        return self.failures >= FAILURES_A_JOB * self.wanted

    @property
    def missing(self) -> int:
        """How many jobs to submit."""
        return 0 if self.is_hopeless else self.wanted - len(self.jobs)

    def after_failures(self, number: int) -> Crew:
        return replace(self, failures=self.failures + number)

    def joined_by(self, jobs: tuple[Job, ...]) -> Crew:
        return replace(self, jobs=self.jobs + jobs)

    def absent(self, connected: Set[str]) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if job.name not in connected)


def seen(crew: Crew, connected: Set[str], now: float) -> Crew:
    """The crew after a look at who is connected; a job that proves to work makes up for all failures before it."""
    jobs = tuple(job.at(now, connected) for job in crew.jobs)
    proved = any(job.is_steady and not before.is_steady for job, before in zip(jobs, crew.jobs, strict=True))
    return replace(crew, jobs=jobs, failures=0 if proved else crew.failures)


def without_lost(crew: Crew, connected: Set[str], queue: States | None, now: float) -> tuple[Crew, tuple[Job, ...]]:
    """The crew without the jobs that are lost, and these; `queue` is None where the batch system gave no answer."""
    lost = tuple(job for job in crew.absent(connected) if _is_lost(job, queue, now))
    kept = tuple(job for job in crew.jobs if job not in lost)
    return replace(crew, jobs=kept).after_failures(sum(not job.is_steady for job in lost)), lost


def _is_lost(job: Job, queue: States | None, now: float) -> bool:
    """Of a job without a worker. One that waits in the queue, or has just started, is not."""
    if queue is not None and job.number not in queue:
        return True
    if queue is not None and queue[job.number] == "pending":
        return False
    return job.seen is not None and now - job.seen > GRACE
