"""A run that is told to stop shows what is done and leaves nothing behind; a child does not outlive the run."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SET_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of <sys/prctl.h>."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C or SIGTERM: everything that cleans up after Ctrl-C does so after either."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


def heed_signals() -> None:
    """From now on a signal raises `Stopped`; one that a shell has told its background jobs to ignore stays ignored."""
    for each in SIGNALS:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _stop)


def _stop(number: int, frame: FrameType | None) -> None:
    # What cleans up now must not be stopped by a second Ctrl-C.
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def end_with(parent: int) -> None:
    """End when the process that started this one ends, however it does; Linux only, elsewhere nothing happens."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, int(signal.SIGKILL))
    # It may have ended before that call.
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
