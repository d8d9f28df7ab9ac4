"""One result for each (data set, method, fold), as a file that a repeated call does not make again."""

from __future__ import annotations

import json
import math
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import stamp, today
from benchmarks.real.answers import Answer, judged
from benchmarks.real.data import Data
from benchmarks.real.describing import described
from benchmarks.real.folds import Fold, split
from benchmarks.real.one_thread import one_thread
from benchmarks.real.ours import Method

Result = dict[str, Any]


def place(out: Path, data: Data, method: str, fold: Fold) -> Path:
    words = "".join(letter if letter.isalnum() else " " for letter in method).split()
    return out / data.name / f"{'-'.join(words)}-{fold.label}.json"


def result_of(out: Path, data: Data, name: str, method: Method, fold: Fold) -> Result:
    """From its file, or made now."""
    path = place(out, data, name, fold)
    found = kept(path, data, name, method, fold)
    if found is None:
        made = _asked(data, name, method, fold) | _measured(data, method, fold) | stamp() | {"date": today()}
        publish(path, made)
        found = strict(made)
    return found


def kept(path: Path, data: Data, name: str, method: Method, fold: Fold) -> Result | None:
    """What a file has, if it is about this method with these settings on this fold; None, and a word, otherwise."""
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as problem:
        return _passed_over(path, f"cannot be read ({problem})")
    asked = _asked(data, name, method, fold)
    if not isinstance(found, dict) or any(key not in found or found[key] != value for key, value in asked.items()):
        return _passed_over(path, "is of other folds or other settings")
    return found


def _asked(data: Data, name: str, method: Method, fold: Fold) -> Result:
    about = {"data": data.name, "method": name, "repeat": fold.repeat, "fold": fold.index, "n_folds": fold.n_folds}
    return strict(about | {"samples": fold.digest, "settings": described(method)})


def _passed_over(path: Path, why: str) -> None:
    print(f"{path} {why}; it does not count", file=sys.stderr, flush=True)


def _measured(data: Data, method: Method, fold: Fold) -> Result:
    part = split(data, fold)
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
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "chosen": answer.chosen,
        "n_train": fold.train.size,
        "n_test": fold.test.size,
    }


def publish(path: Path, content: Any) -> None:
    """A file is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}")
    scratch.write_text(json.dumps(strict(content), indent=1, allow_nan=False))
    scratch.replace(path)


def strict(content: Any) -> Any:
    """As JSON has it: a number that is not finite is null, a tuple is a list."""
    if isinstance(content, dict):
        return {str(name): strict(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [strict(each) for each in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
