"""Events as lines of the standard library's logging: when a phase begins and ends, and now and then between."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Lock

from backbone_dask.runtime.events import Event
from backbone_dask.runtime.phases import Phase, advanced, amount, clock, fact_words, is_end, rate
from backbone_dask.values import Termination

log = logging.getLogger(__name__)

PAUSE = 10.0
LOW_COVERAGE = 0.5
"""Below it a level examined so few of its candidates that people should know."""


class Narrator:
    """A listener that logs: INFO for phases, WARNING for what people should know. Events may come from any thread."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._phases: dict[tuple[str, str], Phase] = {}
        self._said = -float("inf")
        self._lock = Lock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            now, key = self._now(), (event.run, event.phase)
            before = self._phases.get(key)
            phase = self._phases[key] = advanced(before, event, now)
            if before is None or is_end(event) or (now >= self._said + PAUSE and not phase.over):
                self._said = now
                log.info("%s", sentence(phase, now))
            for complaint in complaints(event):
                log.warning("%s", complaint)


def sentence(phase: Phase, now: float) -> str:
    """One line about a phase: what is done, what was found, and how long it took or will take."""
    event = phase.event
    title = f"{event.run}: {event.phase}" if event.run else event.phase
    left = phase.seconds_left(now)
    parts = [amount(phase), *(words for _, words in fact_words(phase)), rate(phase, now), event.note]
    if phase.elapsed(now) > 0:
        parts.append(f"in {clock(phase.elapsed(now))}" if is_end(event) else clock(phase.elapsed(now)))
    if left is not None and not is_end(event):
        parts.append(f"{clock(left)} left")
    return f"{title}: {', '.join(filter(None, parts))}"


def complaints(event: Event) -> list[str]:
    """What people should know about the answer."""
    facts, found = event.facts, []
    if facts.get("termination") == Termination.TIME_LIMIT.value:
        gap = facts["reduced gap"] if "reduced gap" in facts else facts["gap"]
        found.append(
            f"the time limit ended the exact solve at a gap of {float(gap):.2%}; "
            "more time may find a better model, or prove this one"
        )
    if float(facts.get("coverage", 1.0)) < LOW_COVERAGE:
        found.append(
            f"level {facts['level']} examined {float(facts['coverage']):.0%} of its candidates: relevant features may "
            "be lost; use more subproblems, or larger ones"
        )
    return found
