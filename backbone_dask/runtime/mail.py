"""What tasks say about themselves, from a worker to where the run is steered: through a topic of the scheduler's."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, fields
from typing import Any

from distributed import get_worker

from backbone_dask.runtime.ledger import Entry, Ledger, entered
from backbone_dask.runtime.pacing import telling
from backbone_dask.values import TracePoint
from backbone_dask.watching import Watcher, nobody

log = logging.getLogger(__name__)


class Mail:
    """What tasks say while they run and when they end. It comes in a thread of the client's."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.watcher: Watcher = nobody

    def __call__(self, event: tuple[float, dict[str, Any]]) -> None:
        message = event[1]
        if "function" in message:
            self._ledger.add(entry_of(message))
            return
        # That thread carries the answers too: a listener that fails must not end it.
        try:
            self.watcher(TracePoint(*(message[field.name] for field in fields(TracePoint))))
        except Exception:
            log.debug("a message about the solve is lost", exc_info=True)


def on_worker(topic: str, watched: bool, home: str | None, function: Callable[..., Any], *arguments: Any) -> Any:
    worker = get_worker()

    def enter(entry: Entry) -> None:
        worker.log_event(topic, asdict(entry))

    with telling(lambda point: worker.log_event(topic, asdict(point))) if watched else nullcontext():
        return entered(enter, str(worker.name), home, function, *arguments)


def entry_of(message: dict[str, Any]) -> Entry:
    """Dask adds to a message which worker it came from."""
    return Entry(**{field.name: message[field.name] for field in fields(Entry)})
