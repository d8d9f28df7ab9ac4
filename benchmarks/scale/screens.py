"""What every screen costs a column, as a multiple of the correlation screen, in turns in one run.

python -m benchmarks.scale.screens
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from backbone_dask.columns import Columns, measured
from backbone_dask.protocols import Screen
from backbone_dask.screens.catalogue import screens
from backbone_dask.values import Target

FEATURES, SAMPLES, REPEATS = 4_000, 5_000, 7
CLASSES = {"correlation": None, "splines": None, "logistic": 2, "logistic-loss": 2, "svm": 3, "entropy": 2}
"""How many classes of equal size a screen's target has; None for the response itself."""


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def tables() -> dict[str, tuple[Columns, Target]]:
    """One feature of a hundred is relevant; the genotypes 0, 1 and 2 are cut from the same Gaussian columns."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((FEATURES, SAMPLES), dtype=np.float32)
    signal = values[::100].sum(axis=0, dtype=np.float64)
    response = signal + signal.std() * rng.standard_normal(SAMPLES)
    genotypes = (values > -0.674).astype(np.int8) + (values > 0.674)
    return {
        "float32 Gaussian": (measured(values)[0], response),
        "int8 0/1/2": (measured(genotypes.astype(np.int8))[0], response),
        "float64 Gaussian": (measured(values.astype(np.float64))[0], response),
    }


def questions(response: Target) -> dict[str, tuple[Screen, Target]]:
    rank = np.argsort(np.argsort(response))
    chosen = {}
    for name, count in CLASSES.items():
        y = response if count is None else (rank * count // response.size).astype(np.float64)
        chosen[name] = (screens[name].score, screens[name].check(y))
    return chosen


def microseconds(columns: Columns, response: Target) -> dict[str, float]:
    """The best time of a column, over rounds in which every screen has its turn."""
    asked = questions(response)
    for score, y in asked.values():
        score(columns[:10], y)
    times: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(REPEATS):
        for name, (score, y) in asked.items():
            times[name].append(seconds_of(lambda score=score, y=y: score(columns, y)))
    return {name: 1e6 * min(taken) / columns.n_features for name, taken in times.items()}


def main() -> None:
    print("| columns | screen | microseconds a column | times correlation |\n| :--- | :--- | ---: | ---: |")
    with threadpool_limits(1):
        for kind, (columns, response) in tables().items():
            taken = microseconds(columns, response)
            for name, time_taken in taken.items():
                print(f"| {kind} | {name} | {time_taken:.1f} | {time_taken / taken['correlation']:.1f} |")


if __name__ == "__main__":
    main()
