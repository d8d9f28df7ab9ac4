"""Keeps as many batch jobs as were asked for: a lost one is replaced as long as the cluster is open."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

from backbone_dask.errors import ClusterError
from backbone_dask.launch.blame import fail_all
from backbone_dask.launch.jobs import Order
from backbone_dask.launch.keeping import Crew, Job, seen, without_lost
from backbone_dask.launch.queues import QUEUES, States, ask

logger = logging.getLogger(__name__)


class Keeper:
    """Lives in the event loop of the cluster, beside its scheduler.

    Dask itself never notices the loss of a job with several processes, and submits no other job for a lost one.
    """

    def __init__(self, cluster: Any, kind: str, order: Order) -> None:
        self.crew = Crew(order.jobs)
        self._names = [f"job-{number}" for number in range(order.jobs)]
        self._cluster, self._kind, self._order = cluster, kind, order
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Submit the first jobs, and keep them from then on."""
        await self._submit(self.crew.missing)
        self._task = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Submissions that are under way are waited for, so that no job escapes."""
        self._closing.set()
        if self._task is not None:
            await self._task

    @property
    def connected(self) -> set[str]:
        """Jobs with at least one worker. A job's processes have its name and a number behind it."""
        # A copy: other threads ask, too.
        names = [str(worker.name) for worker in list(self._cluster.scheduler.workers.values())]
        several = self._order.keywords["processes"] > 1
        return {name.rpartition("-")[0] if several else name for name in names}

    async def queue(self) -> States | None:
        return await ask(QUEUES[self._kind])

    @property
    def problem(self) -> str | None:
        """Why no more jobs are submitted."""
        if not self.crew.is_hopeless:
            return None
        return (
            f"{self.crew.failures} {self._kind} jobs in a row ended before they worked, so no more are submitted; "
            f"their logs are in {self._order.logs}"
        )

    async def _keep(self) -> None:
        while not self._closing.is_set():
            try:
                await self._look()
            except Exception:
                # Jobs that run need not suffer from what goes wrong here.
                logger.exception("the %s jobs could not be looked after; trying again", self._kind)
            try:
                await asyncio.wait_for(self._closing.wait(), self._order.poll)
            except TimeoutError:
                continue

    async def _look(self) -> None:
        self.crew = seen(self.crew, self.connected, _now())
        hopeless = self.crew.is_hopeless
        if self.crew.absent(self.connected):
            await self._drop_lost(await self.queue())
        if self.crew.missing and not self._closing.is_set():
            await self._replace(self.crew.missing)
        if self.problem and not hopeless:
            logger.error(self.problem)
        if self.problem and not self.connected:
            fail_all(self._cluster.scheduler, ClusterError(self.problem))

    async def _drop_lost(self, queue: States | None) -> None:
        self.crew, lost = without_lost(self.crew, self.connected, queue, _now())
        for job in lost:
            logger.warning("%s job %s is lost", self._kind, job.number)
            del self._cluster.worker_spec[job.name]
        if lost:
            await self._cluster

    async def _replace(self, number: int) -> None:
        try:
            await self._submit(number)
        except (RuntimeError, ValueError, OSError) as cause:
            logger.warning("%s took no job: %s", self._kind, cause)
            # A batch system that is out of reach for a while has refused nothing.
            if await self.queue() is not None:
                self.crew = self.crew.after_failures(number)

    async def _submit(self, number: int) -> None:
        # A replacement takes over the name, and with it the place in the order of work.
        names = [name for name in self._names if name not in self._cluster.worker_spec][:number]
        self._cluster.worker_spec.update(dict.fromkeys(names, self._cluster.new_spec))
        try:
            await self._cluster
        finally:
            self.crew = self.crew.joined_by(tuple(self._submitted(names)))

    def _submitted(self, names: list[str]) -> Iterator[Job]:
        """Those that the batch system took; the others are forgotten."""
        for name in names:
            job = self._cluster.workers.get(name)
            if job is None or not job.job_id:
                del self._cluster.worker_spec[name]
                continue
            logger.info("%s job %s is submitted", self._kind, job.job_id)
            yield Job(name, str(job.job_id))


def _now() -> float:
    return asyncio.get_running_loop().time()
