"""SR-REL with squared loss against abess and the lasso path: relevant features, c(S), seconds; a Markdown table.

    python -m benchmarks.subproblems.peers [--seeds 1 2] [--rhos 0.9 0] [--features 5000]

The columns are all of a virtual store of the paper's linear data. abess (GPL-3) is installed for this alone, into this
environment or into another, whose interpreter ``--abess`` names. It takes 1 GiB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.linear_model import lars_path

from backbone_dask.losses.squared import ridge
from backbone_dask.store.synthetic import Recipe
from backbone_dask.store.virtual import VirtualStore
from backbone_dask.subproblems.relaxation import fit_relaxation
from backbone_dask.threads import one_blas_thread

SAMPLES, NONZERO, SNR = 500, 10, 2.0

ABESS = """
import sys, time
import numpy as np
from abess import LinearRegression
data = np.load(sys.argv[1])
table, y = data["X"].T.astype(np.float64), data["y"]
for ridge in (0.0, float(data["ridge"])):
    start = time.process_time()
    fit = LinearRegression(support_size=[int(data["k"])], alpha=ridge, thread=1).fit(table, y)
    print(time.process_time() - start, *np.flatnonzero(np.ravel(fit.coef_)))
"""


@dataclass(frozen=True)
class Instance:
    """Standardised columns (p, n), a centred target, and the positions of the relevant columns."""

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray

    @property
    def gamma(self) -> float:
        return float(1 / np.sqrt(self.y.size))

    def objective(self, support: np.ndarray) -> float:
        """c(S) in double precision."""
        rows = self.X[support].astype(np.float64)
        return ridge(rows @ rows.T, rows @ self.y, float(self.y @ self.y), self.gamma).objective


@dataclass(frozen=True)
class Found:
    support: np.ndarray
    seconds: float


def make_instance(features: int, rho: float, seed: int) -> Instance:
    recipe = Recipe(
        kind="linear",
        n_samples=SAMPLES,
        n_features=features,
        n_relevant=NONZERO,
        rho=rho,
        snr=SNR,
        seed=seed,
    )
    store = VirtualStore(recipe)
    y = store.targets["y"]
    return Instance(store.gather(np.arange(features)).standardised(), y - y.mean(), store.truth.ids)


def timed(support_of: Callable[[Instance], np.ndarray], instance: Instance) -> Found:
    """With seconds of the processor, which a busy machine does not change much."""
    with one_blas_thread():
        start = time.process_time()
        support = support_of(instance)
        return Found(support, time.process_time() - start)


def relaxation_support(instance: Instance) -> np.ndarray:
    return fit_relaxation(instance.X, instance.y, n_nonzero=NONZERO, gamma=None, seed=0).support


def lasso_support(instance: Instance) -> np.ndarray:
    """The last model of the lasso's path with at most NONZERO features, though larger ones may come before it."""
    table = instance.X.T.astype(np.float64)
    _, _, path = lars_path(table, instance.y, method="lasso", max_iter=3 * NONZERO)
    sizes = (path != 0).sum(axis=0)
    return np.flatnonzero(path[:, np.flatnonzero(sizes <= NONZERO)[-1]])


def abess_supports(python: str, instance: Instance) -> list[Found]:
    """abess at the same size, without a ridge and with ours (its loss is per sample), in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "instance.npz"
        np.savez(path, X=instance.X, y=instance.y, k=NONZERO, ridge=1 / (instance.gamma * instance.y.size))
        done = subprocess.run([python, "-c", ABESS, str(path)], check=True, stdout=subprocess.PIPE, text=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return [Found(np.array(support, np.int64), float(seconds)) for seconds, *support in lines]


def row(python: str, features: int, rho: float, seed: int) -> str:
    """One line: relevant features found, c(S) against ours, seconds."""
    instance = make_instance(features, rho, seed)
    ours = timed(relaxation_support, instance)
    base = instance.objective(ours.support)
    others = [*abess_supports(python, instance), timed(lasso_support, instance)]
    cells = [f"{hits(instance, ours)} | {ours.seconds:.2f}"]
    cells += [f"{hits(instance, f)} | {instance.objective(f.support) / base:.4f} | {f.seconds:.2f}" for f in others]
    truth = instance.objective(instance.relevant) / base
    return f"| {features:,} | {rho:g} | {seed} | {' | '.join(cells)} | {truth:.4f} |"


def hits(instance: Instance, found: Found) -> int:
    return int(np.isin(instance.relevant, found.support).sum())


HEADER = [
    "| p | rho | seed | SR-REL found | s | abess found | c / ours | s | abess, our ridge: found | c / ours | s "
    "| lasso found | c / ours | s | truth: c / ours |",
    "|" + "---|" * 15,
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--rhos", type=float, nargs="+", default=[0.9, 0.0])
    parser.add_argument("--features", type=int, nargs="+", default=[5_000, 20_000])
    parser.add_argument("--abess", default=sys.executable, help="the interpreter that has abess")
    asked = parser.parse_args()
    fit_relaxation(np.eye(4, 6, dtype=np.float32), np.arange(6.0), n_nonzero=2, gamma=None, seed=0)
    print("\n".join(HEADER))
    for features in asked.features:
        for rho in asked.rhos:
            print("\n".join(map(partial(row, asked.abess, features, rho), asked.seeds)), flush=True)


if __name__ == "__main__":
    main()
