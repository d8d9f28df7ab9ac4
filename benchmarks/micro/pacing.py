"""A kernel beside what no kernel can beat on the same machine at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.timing import in_turns, ratio, timed

Work = Callable[[], object]
ROUNDS = 9


class Paced:
    """Times a kernel; then in turns with its limit, so that a busy machine slows both."""

    def __init__(self, benchmark: Any) -> None:
        self.benchmark = benchmark

    def __call__(self, work: Work, limit: Work, *, named: str, at_most: float) -> None:
        """Fails if the kernel takes more than `at_most` times as long as its limit in the median of the rounds.

        With --benchmark-disable each of the two runs once, and nothing is judged.
        """
        with threadpool_limits(1):
            limit()
            if self.benchmark.enabled:
                work()
            self.benchmark(work)
            if self.benchmark.disabled:
                return
            taken = in_turns({"work": timed(work), "limit": timed(limit)}, ROUNDS)
        self._judge(taken, named, at_most)

    def _judge(self, taken: dict[str, list[float]], named: str, at_most: float) -> None:
        times = ratio(taken["limit"], taken["work"])
        self.benchmark.extra_info |= {"limit": named, "times": times.middle, "low": times.low, "high": times.high}
        self.benchmark.extra_info["at_most"] = at_most
        assert times.middle <= at_most, f"{times.middle:.2f} times {named}, at most {at_most:g} are allowed"
