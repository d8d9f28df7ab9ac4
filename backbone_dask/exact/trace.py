"""The history of one solve: objective and bound over time, for every exact solver."""

from __future__ import annotations

import time

import numpy as np

from backbone_dask.values import TracePoint
from backbone_dask.watching import current_watcher

MOST_POINTS = 200
_NOTICED = 0.01
"""What comes off the width between objective and bound, as a share of it, makes a point."""


class Recorder:
    """Begins with the solve; keeps a point whenever objective and bound have come noticeably closer.

    Solvers tell it what they have as often as they like, and it is cheap where there is nothing new. Whoever watches
    the solve is told every point that is kept.
    """

    def __init__(self) -> None:
        self.began = time.monotonic()
        self._points: list[TracePoint] = []
        self._objective, self._bound = np.inf, -np.inf
        self._share = 1 - _NOTICED
        self._noticed_width = np.inf
        self._tell = current_watcher()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def note(self, objective: float, bound: float) -> None:
        """The best objective and the best bound so far."""
        if objective - bound < self._noticed_width:
            self._keep(objective, bound)

    def _keep(self, objective: float, bound: float) -> None:
        self._objective, self._bound = min(self._objective, objective), max(self._bound, bound)
        point = TracePoint(self.seconds, float(self._objective), float(self._bound))
        self._points.append(point)
        if len(self._points) > MOST_POINTS:
            self._points = self._points[::2]
            self._share **= 2
        self._noticed_width = self._share * (self._objective - self._bound)
        self._tell(point)

    def trace(self, objective: float, bound: float, seconds: float) -> tuple[TracePoint, ...]:
        """All points, with the outcome as the last.

        An outcome is computed with more care than what the search goes by: no point before it is better than it.
        """
        before = (
            TracePoint(point.seconds, max(point.objective, objective), min(point.bound, bound))
            for point in self._points
        )
        return (*before, TracePoint(seconds, objective, bound))
