"""What a person sees while a command works: a line per phase on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from rich.console import Console
from rich.live import Live
from rich.text import Text

from backbone_dask.cli.lines import Line, lines
from backbone_dask.cli.logs import informed, log
from backbone_dask.protocols import Executor
from backbone_dask.runtime.events import Event, Listener, together
from backbone_dask.runtime.narration import Narrator
from backbone_dask.runtime.phases import Phase, advanced

REFRESHES = 4


@contextmanager
def display(quiet: bool, executor: Executor | None = None) -> Iterator[Listener]:
    """A listener for the events of a command, and a link to the dashboard of its executor.

    It draws on standard error if that is a terminal, and logs there if it is none. Quiet, it logs only what was asked
    for otherwise.
    """
    console, narrator = Console(stderr=True, highlight=False), Narrator()
    dashboard = executor.dashboard if executor is not None and not quiet else None
    if quiet:
        yield narrator
    elif console.is_terminal and not console.is_dumb_terminal:
        board = Board(console)
        if dashboard:
            console.print(f"dashboard: {dashboard}", soft_wrap=True)
        with Live(board, console=console, refresh_per_second=REFRESHES):
            yield together(narrator, board)
    else:
        with informed():
            if dashboard:
                log.info("dashboard: %s", dashboard)
            yield narrator


class Board:
    """A line for every phase of the run that goes on, drawn anew whenever it is asked for. Any thread may tell it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._phases: dict[str, Phase] = {}
        self._run = ""
        self._lock = Lock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            if event.run != self._run:
                self._run, self._phases = event.run, {}
            self._phases[event.phase] = advanced(self._phases.get(event.phase), event, time.monotonic())

    def __rich__(self) -> Text:
        # The last column stays free: some terminals begin a new line once it is used.
        width = self._console.width - 1
        with self._lock:
            drawn = [Text(self._run[:width], style="bold")] if self._run else []
            drawn += [self._text(each) for each in lines(self._phases, time.monotonic(), width)]
        return Text("\n", no_wrap=True, overflow="crop").join(drawn)

    def _text(self, line: Line) -> Text:
        fancy = self._console.encoding.startswith("utf")
        text = Text(line.characters(*("━─" if fancy else "#-")), no_wrap=True, overflow="crop")
        begin = len(line.title) + 1
        text.stylize("bar.complete", begin, begin + line.done)
        text.stylize("bar.back", begin + line.done, begin + line.bar)
        return text
