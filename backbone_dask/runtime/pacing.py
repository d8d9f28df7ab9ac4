"""Messages about a solve: a few a second, the newest soon, and none that can harm the solve."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from backbone_dask.values import TracePoint
from backbone_dask.watching import Watcher, watched_by

PAUSE = 0.25

log = logging.getLogger(__name__)


@contextmanager
def telling(watcher: Watcher) -> Iterator[None]:
    """Solves in this block tell `watcher` of their progress."""
    with paced(watcher) as told, watched_by(told):
        yield


@contextmanager
def paced(watcher: Watcher, pause: float = PAUSE) -> Iterator[Watcher]:
    """Hands on a point at once, then for `pause` seconds none, and then the newest of those that came meanwhile."""
    pace = _Pace(watcher, pause)
    try:
        yield pace
    finally:
        pace.end()


class _Pace:
    def __init__(self, watcher: Watcher, pause: float) -> None:
        self._watcher, self._pause = watcher, pause
        self._lock = threading.Lock()
        self._newest: TracePoint | None = None
        self._timer: threading.Timer | None = None
        self._free_at = -float("inf")

    def __call__(self, point: TracePoint) -> None:
        with self._lock:
            self._newest = point
            wait = self._free_at - time.monotonic()
            if wait > 0:
                self._start_timer(wait)
                return
        self._hand_on()

    def end(self) -> None:
        with self._lock:
            self._newest = None
            if self._timer is not None:
                self._timer.cancel()

    def _start_timer(self, wait: float) -> None:
        if self._timer is None:
            self._timer = threading.Timer(wait, self._hand_on)
            self._timer.daemon = True
            self._timer.start()

    def _hand_on(self) -> None:
        with self._lock:
            point, self._newest, self._timer = self._newest, None, None
            self._free_at = time.monotonic() + self._pause
        if point is None:
            return
        try:
            self._watcher(point)
        except Exception:
            # Whatever became of the message, the solve goes on.
            log.debug("a message about the solve is lost", exc_info=True)
