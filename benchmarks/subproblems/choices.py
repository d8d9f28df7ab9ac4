"""Ways to solve one subproblem, side by side: time in passes over X, and relevant features; prints a Markdown section.

    python -m benchmarks.subproblems.choices [--seeds 1 2] [--rhos 0.9 0] [--steps]

The columns are half of a virtual store of the paper's linear data, 3,500 samples x 10,000 columns; 1 GiB. ``--steps``
prints the validation errors of all sizes instead, and what the incremental scheme makes of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from backbone_dask.store.synthetic import Recipe
from backbone_dask.store.virtual import VirtualStore
from backbone_dask.subproblems.elastic_net import fit_elastic_net
from backbone_dask.subproblems.gammas import GammaGrid
from backbone_dask.subproblems.holdout import SquaredLearner, draw_split
from backbone_dask.subproblems.products import correlate
from backbone_dask.subproblems.rounding import fit_rounding
from backbone_dask.subproblems.support_size import (
    Attempt,
    FitChosenSize,
    FixedSize,
    IncrementalSize,
    SizeGrid,
    holdout_trial,
)
from backbone_dask.values import SparseFit

NONZERO, SNR = 50, 2.0
RHOS = (0.9, 0.5, 0.0)
TOLERANCES = (0.0, 0.005, 0.01, 0.02, 0.05)

SOLVERS: dict[str, Callable[..., SparseFit]] = {
    "fixed k": FitChosenSize(FixedSize(NONZERO)),
    "k/3, 2k/3, k": FitChosenSize(SizeGrid.thirds(NONZERO)),
    "incremental, steps of k/5": FitChosenSize(IncrementalSize.up_to(NONZERO)),
    "incremental, steps of k/10": FitChosenSize(IncrementalSize(5, 5, NONZERO)),
    "fixed k, 5 gammas": FitChosenSize(FixedSize(NONZERO), GammaGrid(5)),
    "fixed k, half the samples": FitChosenSize(FixedSize(NONZERO), sample_fraction=0.5),
    "elastic net, 5 mixes": partial(fit_elastic_net, n_nonzero=NONZERO),
    "lasso": partial(fit_elastic_net, n_nonzero=NONZERO, mixes=(1.0,)),
    "rounding": partial(fit_rounding, n_nonzero=NONZERO, gamma=None),
    "rounding, 2k kept": partial(fit_rounding, n_nonzero=NONZERO, gamma=None, keep=2 * NONZERO),
}


@dataclass(frozen=True)
class Shape:
    """Samples, sampled columns out of twice as many, and relevant ones among those."""

    n: int
    p: int
    k: int


PAPER, SMALL = Shape(3_500, 10_000, NONZERO), Shape(500, 3_000, 20)


@dataclass(frozen=True)
class Instance:
    """Standardised columns (p, n), a centred target, and the positions of the relevant columns."""

    X: np.ndarray
    y: np.ndarray
    present: np.ndarray


def make_instance(shape: Shape, rho: float, seed: int) -> Instance:
    """A random half of the columns of a store, and so about half of the relevant ones."""
    recipe = Recipe(
        kind="linear",
        n_samples=shape.n,
        n_features=2 * shape.p,
        n_relevant=shape.k,
        rho=rho,
        snr=SNR,
        seed=seed,
    )
    store = VirtualStore(recipe)
    ids = np.sort(np.random.default_rng(seed).choice(2 * shape.p, shape.p, replace=False))
    y = store.targets["y"]
    return Instance(store.gather(ids).standardised(), y - y.mean(), np.flatnonzero(np.isin(ids, store.truth.ids)))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, which a busy machine does not change much, and the result."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def pass_seconds(instance: Instance, times: int = 5) -> list[float]:
    return [timed(lambda: correlate(instance.X, instance.y))[0] for _ in range(times)]


def measure(instance: Instance, solver: Callable[..., SparseFit]) -> tuple[float, SparseFit]:
    """Passes that a fit takes as long as, against passes just before and after it, and the fit."""
    before = pass_seconds(instance)
    seconds, fit = timed(partial(solver, instance.X, instance.y, seed=0))
    return seconds / float(np.median(before + pass_seconds(instance))), fit


def print_rows(rho: float, seeds: list[int]) -> None:
    """One line a solver: the range of its time, and what it found for each seed."""
    instances = [make_instance(PAPER, rho, seed) for seed in seeds]
    for name, solver in SOLVERS.items():
        passes, fits = zip(*(measure(instance, solver) for instance in instances), strict=True)
        each = list(zip(instances, fits, strict=True))
        hits = ", ".join(f"{np.isin(one.present, fit.support).sum()}/{one.present.size}" for one, fit in each)
        sizes = ", ".join(str(fit.support.size) for fit in fits)
        values = ", ".join(f"{2 * fit.objective / float(one.y @ one.y):.3f}" for one, fit in each)
        print(f"| {rho:g} | {name} | {min(passes):.0f}-{max(passes):.0f} | {hits} | {sizes} | {values} |", flush=True)


def steps(shape: Shape, rho: float, seed: int) -> None:
    """Validation errors of all sizes, and the size that each tolerance stops at."""
    instance, tenth = make_instance(shape, rho, seed), shape.k // 10
    split = draw_split(shape.n, 0)
    trial = partial(holdout_trial(SquaredLearner(), instance.X, instance.y, split, 0), 1 / np.sqrt(shape.n))
    tried: dict[int, Attempt] = {}
    for size in range(tenth, shape.k + 1, tenth):
        tried[size] = trial(size, tried[size - tenth].support if tried else None)
    spread = float(np.mean(instance.y[split.validation] ** 2))
    errors = " ".join(f"{attempt.error / spread:.3f}" for attempt in tried.values())
    for tolerance in TOLERANCES:
        for step in (tenth, 2 * tenth):
            chosen = IncrementalSize(step, step, shape.k, tolerance).choose(lambda size, _: tried[size])
            hits = f"{np.isin(instance.present, chosen.support).sum()}/{instance.present.size}"
            print(f"| {shape.n} | {rho:g} | {seed} | {tolerance:g} | {step} | {chosen.n_nonzero} | {hits} |")
    print(f"errors at {tenth}, {2 * tenth}, ...: {errors}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--rhos", type=float, nargs="+", default=RHOS)
    parser.add_argument("--steps", action="store_true")
    arguments = parser.parse_args()
    small = np.eye(6, 8, dtype=np.float32)
    for solver in SOLVERS.values():
        solver(small, np.arange(8.0) - 3.5, seed=0)
    if arguments.steps:
        print("| n | rho | seed | negligible | step | size | found |\n|---|---|---|---|---|---|---|")
        for shape, rho, seed in product((PAPER, SMALL), arguments.rhos, arguments.seeds):
            steps(shape, rho, seed)
        return
    print("| rho | solver | passes | found of present | size | 2 c / y'y |\n|---|---|---|---|---|---|")
    for rho in arguments.rhos:
        print_rows(rho, arguments.seeds)


if __name__ == "__main__":
    main()
