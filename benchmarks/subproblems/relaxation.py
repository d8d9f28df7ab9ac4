"""Cost and quality of SR-REL on one subproblem of the paper's size; prints a Markdown page.

Run with ``python -m benchmarks.subproblems.relaxation > benchmarks/subproblems/RESULTS.md``; it takes 2 GiB, a minute.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from unittest import mock

import numba
import numpy as np
import scipy
from threadpoolctl import threadpool_limits

from backbone_dask.subproblems import ascent, forward, polish
from backbone_dask.subproblems.products import correlate
from backbone_dask.subproblems.relaxation import fit_relaxation
from backbone_dask.subproblems.task import Task

SAMPLES, FEATURES, SAMPLED, NONZERO, PRESENT = 5_000, 20_000, 10_000, 50, 35
RHO, SNR = 0.9, 2.0
SEEDS = range(4)


@dataclass(frozen=True)
class Instance:
    """Standardised columns (SAMPLED, SAMPLES), a target, and the positions of the relevant columns among them."""

    X: np.ndarray
    y: np.ndarray
    present: np.ndarray


@dataclass(frozen=True)
class Measured:
    kernel_gbs: float
    numpy_gbs: float
    passes: int
    seconds: float
    in_passes: float
    recovered: int
    against_truth: float


def make_instance(seed: int) -> Instance:
    """Half of a table with correlation RHO^|i-j|, in which PRESENT of the NONZERO relevant features were sampled."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((FEATURES, SAMPLES), dtype=np.float32)
    for j in range(1, FEATURES):
        table[j] = RHO * table[j - 1] + np.float32(math.sqrt(1 - RHO**2)) * table[j]
    relevant = rng.choice(FEATURES, NONZERO, replace=False)
    signal = rng.choice([-1.0, 1.0], NONZERO) @ table[relevant]
    y = signal + rng.standard_normal(SAMPLES) * signal.std() / math.sqrt(SNR)
    others = rng.choice(np.setdiff1d(np.arange(FEATURES), relevant), SAMPLED - PRESENT, replace=False)
    columns = np.sort(np.concatenate([relevant[:PRESENT], others]))
    X = table[columns]
    X -= X.mean(axis=1, keepdims=True)
    X /= X.std(axis=1, keepdims=True)
    return Instance(X, y - y.mean(), np.searchsorted(columns, relevant[:PRESENT]))


def seconds_of(*works: Callable[[], object], times: int) -> list[float]:
    """The median of each over `times` runs, taken in turns, so that a busy machine slows all of them alike."""
    taken = np.empty((times, len(works)))
    for i, j in np.ndindex(taken.shape):
        start = time.perf_counter()
        works[j]()
        taken[i, j] = time.perf_counter() - start
    return [float(median) for median in np.median(taken, axis=0)]


def measure(instance: Instance) -> Measured:
    """Time the pass, numpy's product and the whole fit; count passes; compare with the truth."""
    X, y = instance.X, instance.y
    single = y.astype(np.float32)
    fit = partial(fit_relaxation, X, y, n_nonzero=NONZERO, gamma=None, seed=0)
    counted = mock.Mock(side_effect=correlate)
    with (
        mock.patch.object(ascent, "correlate", counted),
        mock.patch.object(polish, "correlate", counted),
        mock.patch.object(forward, "correlate", counted),
    ):
        found = fit()
    with threadpool_limits(1):
        kernel, by_numpy = seconds_of(lambda: correlate(X, y), lambda: X @ single, times=15)
    seconds, one_pass = seconds_of(fit, lambda: correlate(X, y), times=5)
    return Measured(
        X.nbytes / kernel / 1e9,
        X.nbytes / by_numpy / 1e9,
        counted.call_count,
        seconds,
        seconds / one_pass,
        int(np.isin(instance.present, found.support).sum()),
        found.objective / objective_from_truth(instance),
    )


def objective_from_truth(instance: Instance) -> float:
    """c(S) when the polish starts from the relevant features themselves, which no method can know."""
    task = Task(instance.X, instance.y, NONZERO, 1 / math.sqrt(SAMPLES))
    with threadpool_limits(1):
        truth = task.choose(task.pool(np.sort(instance.present)), np.arange(PRESENT))
        return polish.polish(task, truth).fit.objective


def page(rows: list[Measured]) -> str:
    """The figures as Markdown."""
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}"
    lines = [
        "# One subproblem of SR-REL",
        "",
        f"{SAMPLES:,} samples x {SAMPLED:,} columns (float32), k = {NONZERO}, correlation {RHO}^|i-j|, SNR {SNR:g}, "
        f"gamma = 1/sqrt(n); {PRESENT} of the {NONZERO} relevant features are among the columns.",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}; 2 cores AMD EPYC, 24 GiB; {versions}, numba {numba.__version__}; one thread.",
        "",
        "| seed | kernel GB/s | numpy GB/s | passes | seconds | seconds / pass | found of present | c / c from truth |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for seed, m in zip(SEEDS, rows, strict=True):
        lines.append(
            f"| {seed} | {m.kernel_gbs:.1f} | {m.numpy_gbs:.1f} | {m.passes} | {m.seconds:.2f} | {m.in_passes:.0f} "
            f"| {m.recovered} of {PRESENT} | {m.against_truth:.6f} |"
        )
    return "\n".join([*lines, "", *NOTES])


NOTES = [
    "A pass is one product X'a. `seconds` hold, besides the passes, the product of all columns with the support that",
    "compares every single swap (about 7 passes for 50 columns), and the ridge fits. The last column compares c(S)",
    "with what the polish reaches from the relevant features themselves: at 1 or below, a feature not found is one",
    "that the objective itself gives up for a column that stands in for absent ones.",
]


def main() -> None:
    warm = np.eye(4, 6, dtype=np.float32)
    fit_relaxation(warm, np.arange(6.0), n_nonzero=2, gamma=None, seed=0)
    print(page([measure(make_instance(seed)) for seed in SEEDS]))


if __name__ == "__main__":
    main()
