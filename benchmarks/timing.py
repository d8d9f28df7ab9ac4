"""Timing that a shared machine cannot easily fool: cases in turns, and ratios of times that were taken side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from distributed import Client

Case = Callable[[], float]
"""Does its work and says how many seconds that took."""
# Jobs that start together are given to their workers this much earlier.
LEAD = 0.3


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some rounds, and their range."""

    middle: float
    low: float
    high: float

    def show(self, digits: int) -> str:
        return f"{self.middle:.{digits}f} | {self.low:.{digits}f}..{self.high:.{digits}f}"


def in_turns(cases: dict[str, Case], rounds: int) -> dict[str, list[float]]:
    """Seconds of every case in every round; the round before the first one compiles and warms up, and is dropped."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds + 1):
        for name, case in cases.items():
            times[name].append(case())
    return {name: taken[1:] for name, taken in times.items()}


def speed(gigabytes: float, seconds: Sequence[float]) -> Spread:
    return _spread([gigabytes / taken for taken in seconds])


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """How many times faster: speeds against the speeds of the same round, so that all see the same machine."""
    return _spread([other / own for own, other in zip(ours, theirs, strict=True)])


def timed(work: Callable[[], object]) -> Case:
    def case() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return case


def at_once(client: Client, jobs: Sequence[Callable[[], object]]) -> Case:
    """One job on each worker, all started at one moment; the time is until the last one ends."""

    def case() -> float:
        workers = sorted(client.scheduler_info(n_workers=-1)["workers"])
        begin = time.monotonic() + LEAD
        started = [
            client.submit(_from, begin, job, workers=[worker], pure=False)
            for job, worker in zip(jobs, workers, strict=True)
        ]
        return float(max(client.gather(started)) - begin)

    return case


def _from(begin: float, job: Callable[[], Any]) -> float:
    """When the job ended, on the clock that all processes of a machine share."""
    wait = begin - time.monotonic()
    if wait < 0:
        raise RuntimeError("a worker was late for the common start; the machine is too busy to measure on")
    time.sleep(wait)
    job()
    return time.monotonic()


def _spread(values: Sequence[float]) -> Spread:
    return Spread(median(values), min(values), max(values))
