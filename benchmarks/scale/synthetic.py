"""How fast a virtual table is made: in a stream, in a scattered gather, and against numpy's own normals.

    python benchmarks/scale/synthetic.py

Every figure is a median over rounds of one run, and the rounds go through all cases in turn: read the ratios.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from backbone_dask.store.synthetic import Recipe, columns, gather
from backbone_dask.store.synthetic.gaussian import halvings

SAMPLES, FEATURES, COUNT, ROUNDS = 5_000, 10**8, 2_000, 9
RHOS = (0.0, 0.6, 0.9, 0.99, 0.9999)


def seconds(cases: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The median time of each case; the first round, which compiles, is not counted."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS + 1):
        for name, case in cases.items():
            begin = time.perf_counter()
            case()
            times[name].append(time.perf_counter() - begin)
    return {name: median(values[1:]) for name, values in times.items()}


def recipe(rho: float) -> Recipe:
    return Recipe(kind="linear", n_samples=SAMPLES, n_features=FEATURES, n_relevant=50, rho=rho)


def cases() -> dict[str, Callable[[], object]]:
    scattered = np.unique(np.random.default_rng(1).integers(0, FEATURES, COUNT))
    rng = np.random.default_rng(0)
    found: dict[str, Callable[[], object]] = {
        "numpy": lambda: rng.standard_normal((COUNT, SAMPLES), dtype=np.float32),
        "fresh memory": lambda: np.empty((COUNT, SAMPLES), np.float32).fill(1),
    }
    for rho in RHOS:
        made = recipe(rho)
        found[f"block {rho}"] = lambda made=made: columns(made, FEATURES // 2 + 3, FEATURES // 2 + 3 + COUNT)
        found[f"gather {rho}"] = lambda made=made: gather(made, scattered)
    return found


def main() -> None:
    taken = seconds(cases())
    normals = COUNT * SAMPLES / 1e6
    print(f"{COUNT} columns of {SAMPLES} samples, of a table with {FEATURES} columns; one core")
    print(f"numpy standard_normal float32: {normals / taken['numpy']:6.0f} million/s")
    print(f"filling fresh memory alone:    {normals / taken['fresh memory']:6.0f} million/s")
    print("   rho  ancestors  block million/s  times numpy  block / block at rho 0  scattered gather / block")
    for rho in RHOS:
        block, gathered = taken[f"block {rho}"], taken[f"gather {rho}"]
        print(
            f"{rho:6}  {halvings(rho):9d}  {normals / block:15.0f}  {taken['numpy'] / block:11.1f}"
            f"  {block / taken['block 0.0']:22.2f}  {gathered / block:24.2f}"
        )


if __name__ == "__main__":
    main()
