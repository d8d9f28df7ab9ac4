"""Cost and quality of SR-REL with logistic loss on one subproblem; prints a section of RESULTS.md.

Run with ``python -m benchmarks.subproblems.logistic``; it takes 3 GiB and some minutes. abess (GPL-3) and python-glmnet
(GPL-2) are compared with where they are installed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from unittest import mock

import numpy as np
from threadpoolctl import threadpool_limits

from backbone_dask.losses.logistic import Margin, fit
from backbone_dask.subproblems import logistic_task
from backbone_dask.subproblems.logistic_polish import polish
from backbone_dask.subproblems.logistic_relaxation import fit_logistic_relaxation
from backbone_dask.subproblems.logistic_swaps import Curved
from backbone_dask.subproblems.logistic_task import Task
from backbone_dask.subproblems.products import correlate

FEATURES, SAMPLED, NONZERO = 20_000, 10_000, 50
RHO, SNR = 0.9, 2.0
SIZES = {3_500: range(4), 9_000: range(4)}
PEERS_AT = 3_500


@dataclass(frozen=True)
class Instance:
    """Standardised columns (SAMPLED, n), labels, and the positions of the relevant columns among them."""

    X: np.ndarray
    margin: Margin
    present: np.ndarray
    gamma: float

    def objective(self, support: np.ndarray) -> float:
        """c(S) of any support."""
        with threadpool_limits(1):
            return fit(self.margin, self.X[support].astype(np.float64), self.gamma).objective


def make_instance(n_samples: int, seed: int) -> Instance:
    """A random half of a table with correlation RHO^|i-j|; labels are the sign of a noisy signal on NONZERO of it."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((FEATURES, n_samples), dtype=np.float32)
    for j in range(1, FEATURES):
        table[j] = RHO * table[j - 1] + np.float32(math.sqrt(1 - RHO**2)) * table[j]
    relevant = rng.choice(FEATURES, NONZERO, replace=False)
    signal = rng.choice([-1.0, 1.0], NONZERO) @ table[relevant]
    noisy = signal + rng.standard_normal(n_samples) * signal.std() / math.sqrt(SNR)
    columns = np.sort(rng.choice(FEATURES, SAMPLED, replace=False))
    X = table[columns]
    X -= X.mean(axis=1, keepdims=True)
    X /= X.std(axis=1, keepdims=True)
    margin = Margin.of(np.where(noisy >= 0, 1.0, -1.0))
    return Instance(X, margin, np.flatnonzero(np.isin(columns, relevant)), 1 / math.sqrt(n_samples))


def seconds_of(*works: Callable[[], object], times: int) -> list[float]:
    """The median of each in seconds of the processor, over `times` runs that are taken in turns."""
    taken = np.empty((times, len(works)))
    for i, j in np.ndindex(taken.shape):
        start = time.process_time()
        works[j]()
        taken[i, j] = time.process_time() - start
    return [float(median) for median in np.median(taken, axis=0)]


def row(instance: Instance, seed: int) -> str:
    """One line of the table."""
    X, margin = instance.X, instance.margin
    solve = partial(fit_logistic_relaxation, X, margin, n_nonzero=NONZERO, gamma=None, seed=0)
    counted = mock.Mock(side_effect=correlate)
    with mock.patch.object(logistic_task, "correlate", counted):
        found = solve()
    seconds, one_pass = seconds_of(solve, lambda: correlate(X, margin.y), times=5)
    recovered = np.isin(instance.present, found.support).sum()
    cells = [
        f"{margin.y.size:,}",
        str(seed),
        str(counted.call_count),
        f"{seconds:.2f}",
        f"{seconds / one_pass:.0f}",
        f"{recovered} of {instance.present.size}",
        f"{found.objective / from_truth(instance):.6f}",
        *peers(instance, found.objective),
    ]
    return f"| {' | '.join(cells)} |"


def from_truth(instance: Instance) -> float:
    """c(S) when the polish starts from the relevant features themselves, which no method can know."""
    task = Task(instance.X, instance.margin, NONZERO, instance.gamma)
    with threadpool_limits(1):
        return polish(task, [task.choose(instance.present, task.nothing())], partial(Curved.at, task)).fit.objective


def peers(instance: Instance, objective: float) -> list[str]:
    """c(S) of other methods' supports, refitted at our gamma, relative to ours."""
    if instance.margin.y.size != PEERS_AT:
        return ["", ""]
    return [compared(by, instance, objective) for by in (lasso_support, abess_support)]


def compared(by: Callable[[Instance], np.ndarray], instance: Instance, objective: float) -> str:
    start = time.process_time()
    try:
        support = by(instance)
    except ImportError:
        return "not installed"
    seconds = time.process_time() - start
    return f"{instance.objective(support) / objective:.4f} ({seconds:.1f} s)"


def lasso_support(instance: Instance) -> np.ndarray:
    """The last model of glmnet's l1 path with at most NONZERO features."""
    from glmnet import LogitNet

    path = LogitNet(alpha=1, n_splits=0, n_lambda=200, min_lambda_ratio=0.01, max_features=NONZERO + 30)
    path.fit(instance.X.T.astype(np.float64), instance.margin.y)
    sizes = (path.coef_path_[0] != 0).sum(axis=0)
    return np.flatnonzero(path.coef_path_[0][:, np.flatnonzero(sizes <= NONZERO)[-1]])


def abess_support(instance: Instance) -> np.ndarray:
    """abess at the same size, without a ridge and with ours; the better of the two."""
    from abess import LogisticRegression

    table, labels = instance.X.T.astype(np.float64), (instance.margin.y > 0).astype(int)
    ridges = (0.0, 1 / instance.gamma)
    fits = [LogisticRegression(support_size=[NONZERO], alpha=ridge, thread=1).fit(table, labels) for ridge in ridges]
    return min((np.flatnonzero(np.ravel(one.coef_)) for one in fits), key=instance.objective)


def main() -> None:
    warm = np.eye(4, 6, dtype=np.float32)
    fit_logistic_relaxation(warm, Margin.of(np.array([1.0, -1, 1, -1, 1, -1])), n_nonzero=2, gamma=None, seed=0)
    print("\n".join(HEADER))
    for n_samples, seeds in SIZES.items():
        for seed in seeds:
            print(row(make_instance(n_samples, seed), seed), flush=True)
    print("\n" + "\n".join(NOTES))


HEADER = [
    "# One subproblem of SR-REL with logistic loss",
    "",
    f"n samples x {SAMPLED:,} columns (float32) sampled from {FEATURES:,}, k = {NONZERO}, correlation {RHO}^|i-j|, "
    f"labels sign(Xw + noise) at SNR {SNR:g}, gamma = 1/sqrt(n), an intercept. {datetime.now(UTC):%Y-%m-%d}; "
    "2 cores AMD EPYC, 24 GiB; one thread.",
    "",
    "| n | seed | passes | seconds | seconds / pass | found of present | c / c from truth | l1 path, refitted: "
    "c / ours | abess, refitted: c / ours |",
    "|---|---|---|---|---|---|---|---|---|",
]
NOTES = [
    "A pass is one product X'a. `seconds` are the processor's: those of the passes, of the Newton fits, and of the",
    "product of all columns with the support that compares every single swap. Supports of the l1 path (glmnet, the",
    "last with at most k features) and of abess (the better of no ridge and ours) are refitted at our gamma: above 1,",
    "ours is lower; their seconds are those of one path and of both fits of abess.",
]


if __name__ == "__main__":
    main()
