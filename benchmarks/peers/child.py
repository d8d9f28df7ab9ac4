"""One method on one problem, in a process of its own that ends when PARENT, which started it, does.

    python -m benchmarks.peers.child METHOD FOLDER SECONDS GIB PARENT

Writes `answer.json` into the folder: seconds of the fit that counts and of the first one, of the clock and of the
processor; the peak of memory up to the end of the fits; the features in the model, and its predictions of the test
table. The truth is nowhere in the folder.
"""

from __future__ import annotations

import json
import platform
import resource
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.methods import METHODS, Fit, version_of
from benchmarks.peers.model import Asked, Model
from benchmarks.peers.stopping import end_with

LONG = 0.4
"""A first fit that takes this share of the time limit is not done again."""


@dataclass(frozen=True)
class Answer:
    seconds: float
    cpu: float
    first_seconds: float
    peak_bytes: int
    support: list[int]
    predictions: list[float]
    version: str
    python: str
    numpy: str


def peak_bytes() -> int:
    """Of this program alone: what `getrusage` says may be the peak of the process that started it."""
    (line,) = (each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def timed(fit: Fit, X: np.ndarray, y: np.ndarray, asked: Asked) -> tuple[Model, float, float]:
    began, used = time.perf_counter(), time.process_time()
    model = fit(X, y, asked)
    return model, time.perf_counter() - began, time.process_time() - used


def measure(name: str, folder: Path, seconds: float) -> Answer:
    """The second of two fits, for the first one imports and may compile; the first one if it took very long."""
    method, about = METHODS[name], json.loads((folder / "problem.json").read_text())
    X, y = np.load(folder / "X.npy").T, np.load(folder / "y.npy")
    asked, fit = Asked(about["size"], LONG * seconds), method.fits[about["kind"]]
    model, taken, cpu = timed(fit, X, y, asked)
    first = taken
    if taken < LONG * seconds:
        model, taken, cpu = timed(fit, X, y, asked)
    peak = peak_bytes()
    predictions = np.ravel(model.predict(np.load(folder / "X_test.npy", mmap_mode="r").T))
    versions = version_of(method.module), platform.python_version(), np.__version__
    return Answer(taken, cpu, first, peak, model.support.tolist(), predictions.tolist(), *versions)


def main() -> None:
    name, folder, seconds, gib = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
    end_with(int(sys.argv[5]))
    most = int(gib * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    (folder / "answer.json").write_text(json.dumps(asdict(measure(name, folder, seconds))))


if __name__ == "__main__":
    main()
