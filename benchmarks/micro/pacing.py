"""A kernel beside plain numpy work of about its size, on the same machine at the same moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.timing import Case, in_turns

Work = Callable[[], object]
# A test fails where a kernel takes so many times its usual multiple of the limit.
ALLOWED = 1.5
# Seconds of the processor: of one measurement, and of all turns of a kernel and its limit.
SLICE, BUDGET = 0.002, 2.0
ROUNDS = 9


class Paced:
    """Times a kernel; then in turns with its limit, and judges the best time of the one over the best of the other."""

    def __init__(self, benchmark: Any, usual: float) -> None:
        self.benchmark, self.usual = benchmark, usual

    def __call__(self, work: Work, limit: Work, *, named: str) -> None:
        """Fails if the kernel takes more than `ALLOWED * usual` times as long as its limit.

        With --benchmark-disable each of the two runs once, and nothing is judged.
        """
        with threadpool_limits(1):
            limit()
            if self.benchmark.enabled:
                work()
            self.benchmark(work)
            if self.benchmark.disabled:
                return
            cases = {"work": sliced(work), "limit": sliced(limit)}
            best = {name: min(taken) for name, taken in in_turns(cases, rounds(cases)).items()}
        self._judge(best["work"], best["work"] / best["limit"], named)

    def _judge(self, seconds: float, times: float, named: str) -> None:
        most = ALLOWED * self.usual
        self.benchmark.extra_info |= {"best": seconds, "limit": named, "times": times}
        self.benchmark.extra_info |= {"usual": self.usual, "at_most": most}
        assert times <= most, f"{times:.2f} times {named}, at most {most:.2f} are allowed"


def sliced(work: Work) -> Case:
    """Seconds a call, over as many calls as fill a slice: what takes microseconds is not timed alone."""
    return partial(spent, work, max(1, round(SLICE / max(spent(work, 1), 1e-6))))


def spent(work: Work, calls: int) -> float:
    """Seconds of the processor a call; while other processes have it, this clock stands still."""
    began = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - began) / calls


def rounds(cases: dict[str, Case]) -> int:
    """As many as the budget pays for: the best of many short ones is near the best that there is."""
    one = spent(lambda: [case() for case in cases.values()], 1)
    return max(ROUNDS, round(BUDGET / max(one, SLICE)))
