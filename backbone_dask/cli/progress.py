"""A line per phase while a run goes on; nothing where nobody watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from backbone_dask.runtime.events import Event, Listener, silent


@contextmanager
def display(quiet: bool) -> Iterator[Listener]:
    """A listener that draws on the terminal, if standard error is one."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield silent
        return
    columns = (
        TextColumn("{task.description:8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}"),
        _Rate(),
        TimeElapsedColumn(),
        _Remaining(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console) as progress:
        yield _Display(progress)


class _Rate(ProgressColumn):
    """Units per second, and bytes per second where a unit has a size."""

    def render(self, task: Task) -> Text:
        speed = _speed(task)
        size = speed * task.fields["unit_bytes"]
        return Text(f"{speed:,.0f}/s" + (f" {size / 1e9:.2f} GB/s" if size else ""))


class _Remaining(ProgressColumn):
    """Time left at the speed so far."""

    def render(self, task: Task) -> Text:
        speed, left = _speed(task), task.remaining or 0.0
        return Text(str(timedelta(seconds=round(left / speed))) if speed else "-:--:--")


def _speed(task: Task) -> float:
    """Since the phase began: groups end together, so that the last few of them say little."""
    done = task.completed - float(task.fields["begun"])
    return done / task.elapsed if task.elapsed else 0.0


class _Display:
    """Keeps one bar per phase."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bars: dict[str, TaskID] = {}

    def __call__(self, event: Event) -> None:
        if event.phase not in self._bars:
            # What is done already when a phase begins was done by an earlier run: it says nothing about the speed.
            self._bars[event.phase] = self._progress.add_task(event.phase, begun=event.done, **_fields(event))
        self._progress.update(self._bars[event.phase], completed=event.done, **_fields(event))


def _fields(event: Event) -> dict[str, Any]:
    return {"total": event.total, "unit": event.unit, "unit_bytes": event.unit_bytes, "note": event.note}
