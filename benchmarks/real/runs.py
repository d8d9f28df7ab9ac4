"""One result for each (data set, method, fold), as a file that a repeated call does not make again."""

from __future__ import annotations

import resource
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.machine import stamp, today
from benchmarks.real.answers import Answer, judged
from benchmarks.real.data import Data
from benchmarks.real.finished import Result, about, kept, place, publish, strict
from benchmarks.real.folds import Fold, split
from benchmarks.real.one_thread import one_thread
from benchmarks.real.ours import Method


def result_of(out: Path, data: Data, name: str, method: Method, fold: Fold) -> Result:
    """From what is finished, or made now."""
    found = kept(out, data, name, method, fold)
    if found is None:
        made = about(data, name, method, fold) | _measured(data, method, fold) | stamp() | {"date": today()}
        publish(place(out, data, name, fold), made)
        found = strict(made)
    return found


def _measured(data: Data, method: Method, fold: Fold) -> Result:
    part = split(data, fold)
    forget_peak()
    began, burnt = time.perf_counter(), time.process_time()
    with one_thread():
        answer: Answer = method(part)
    seconds = time.process_time() - burnt if answer.seconds is None else answer.seconds
    return {
        "scores": judged(data.task, data.y[fold.test], answer),
        "n_features": int(answer.n_features),
        "gap": None if answer.gap is None else float(answer.gap),
        "seconds": seconds,
        "waited": time.perf_counter() - began,
        "peak_megabytes": peak_megabytes(),
        "chosen": answer.chosen,
        "n_train": fold.train.size,
        "n_test": fold.test.size,
    }


def forget_peak() -> None:
    """The most memory that the process ever had is from now on what it has now, where Linux lets us say so."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_megabytes() -> int:
    """The most memory since the peak was forgotten; elsewhere than on Linux, since the process began."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    (line,) = (each for each in status.read_text().splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) // 1024
