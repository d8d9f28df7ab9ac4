"""One result for each (data set, method, fold), as a file that a repeated call does not make again."""

from __future__ import annotations

import json
import os
import resource
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import stamp, today
from benchmarks.real.answers import Answer, judged
from benchmarks.real.data import Data
from benchmarks.real.folds import Fold, split
from benchmarks.real.ours import Method

Result = dict[str, Any]


def place(out: Path, data: Data, method: str, fold: Fold) -> Path:
    words = "".join(letter if letter.isalnum() else " " for letter in method).split()
    return out / data.name / f"{'-'.join(words)}-{fold.label}.json"


def result_of(out: Path, data: Data, name: str, method: Method, fold: Fold) -> Result:
    """From its file, or made now."""
    path = place(out, data, name, fold)
    if not path.exists():
        made = {"data": data.name, "method": name, "repeat": fold.repeat, "fold": fold.index}
        publish(path, made | _measured(data, method, fold) | stamp() | {"date": today()})
    return dict(json.loads(path.read_text()))


def _measured(data: Data, method: Method, fold: Fold) -> Result:
    part = split(data, fold)
    began, burnt = time.perf_counter(), time.process_time()
    answer: Answer = method(part)
    seconds = time.process_time() - burnt if answer.seconds is None else answer.seconds
    return {
        "scores": judged(data.task, data.y[fold.test], answer),
        "n_features": int(answer.n_features),
        "gap": None if answer.gap is None else float(answer.gap),
        "seconds": seconds,
        "waited": time.perf_counter() - began,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "chosen": answer.chosen,
        "n_train": fold.train.size,
        "n_test": fold.test.size,
    }


def publish(path: Path, content: Any) -> None:
    """A file is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}")
    scratch.write_text(json.dumps(content, indent=1))
    scratch.replace(path)
