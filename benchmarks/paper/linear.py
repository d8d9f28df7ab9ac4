"""The paper's experiments on simulated linear and logistic data: F1, F3, F4, F6, and F8 from its own module.

Small sizes keep the shape: k=10 in place of 50, and a fifth of the samples, survivors and backbone (F6: a tenth).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.paper import sensitivity
from benchmarks.paper.baselines.exact import exact_on_all
from benchmarks.paper.baselines.sis_enet import sis_enet, sis_enet_apart
from benchmarks.paper.experiment import AtMost, Case, Experiment, Metrics, Size, constants
from benchmarks.paper.simulated import backbone

METHODS: dict[str, Callable[[Case], Metrics]] = {
    "backbone": backbone,
    "SIS-ENET": sis_enet,
    "SIS-ENET apart": sis_enet_apart,
    "SR": exact_on_all,
}
USED = {
    "backbone": ("screen", "beta", "M", "B_max", "limit"),
    "SIS-ENET": ("screen",),
    "SIS-ENET apart": ("screen",),
    "SR": ("limit",),
}
"""What a method is told besides the data; the rest is no part of its case."""
SEEDS: dict[Size, range] = {"small": range(1, 4), "paper": range(1, 11)}
MOST_SIDE_BY_SIDE = 10**6
"""Fits of narrower tables do not keep a cluster busy: they run side by side, one core each."""
HOUR = 3600.0

Grid = dict[str, Any]
SMALL: Grid = {"kind": "linear", "k": 10, "beta": 0.5, "B_max": 50, "limit": 10.0}
PAPER: Grid = {"kind": "linear", "k": 50, "beta": 0.5, "B_max": 250, "limit": 300.0}

F1: dict[Size, list[Grid]] = {
    "small": [{**SMALL, "n": 1_000, "p": p, "screen": 4_000, "M": 10} for p in (10_000, 30_000, 100_000, 300_000)],
    "paper": [
        {**PAPER, "n": 5_000, "p": p, "screen": 20_000, "M": 10}
        for p in (10**6, 3 * 10**6, 10**7, 3 * 10**7, 10**8, 3 * 10**8)
    ],
}
F3: dict[Size, list[Grid]] = {
    "small": [{**SMALL, "n": n, "p": 10**5, "screen": 2_000, "M": 15} for n in range(200, 1_801, 400)],
    "paper": [{**PAPER, "n": n, "p": 10**6, "screen": 10**4, "M": 15} for n in range(1_000, 9_001, 2_000)],
}
LOGISTIC: dict[Size, Grid] = {"small": {"kind": "logistic"}, "paper": {"kind": "logistic", "limit": 900.0}}
F4: dict[Size, list[Grid]] = {
    "small": [{**F3["small"][0], **LOGISTIC["small"], "n": n} for n in range(600, 2_201, 400)],
    "paper": [{**F3["paper"][0], **LOGISTIC["paper"], "n": n} for n in range(3_000, 11_001, 2_000)],
}
F6: dict[Size, list[Grid]] = {
    "small": [{**SMALL, "n": n, "p": 2_000, "screen": 500, "beta": 0.4, "M": 10} for n in range(100, 501, 100)],
    "paper": [
        {**PAPER, "n": n, "p": 20_000, "screen": 5_000, "beta": 0.4, "M": 10} for n in range(1_000, 5_001, 1_000)
    ],
}


def cases(grids: dict[Size, list[Grid]], methods: Sequence[str]) -> Callable[[Size], list[Case]]:
    """Every method on every data set of the grid."""

    def of(size: Size) -> list[Case]:
        return [_case(method, grid, seed) for grid in grids[size] for method in methods for seed in SEEDS[size]]

    return of


def _case(method: str, grid: Grid, seed: int) -> Case:
    data = {key: grid[key] for key in ("kind", "n", "p", "k")}
    return {"method": method, **data, **{key: grid[key] for key in USED[method]}, "seed": seed}


def run(case: Case) -> Metrics:
    return METHODS[case["method"]](case)


def whole_machine(case: Case) -> bool:
    return bool(case["p"] >= MOST_SIDE_BY_SIDE)


def settings(case: Case) -> dict[str, Any]:
    """What the data and the method are made with, besides what the case says."""
    return constants(METHODS[case["method"]])


SHOWN = ("accuracy", "false alarms", "features", "{quality}", "in backbone", "gap", "seconds")


def experiment(
    id: str, title: str, grids: dict[Size, list[Grid]], methods: Sequence[str], x: str, paper: dict[Any, Metrics]
) -> Experiment:
    quality = "R2" if grids["paper"][0]["kind"] == "linear" else "AUC"
    return Experiment(
        id,
        title,
        cases(grids, methods),
        run,
        by=("method", x),
        metrics=tuple(name.format(quality=quality) for name in SHOWN),
        x=x,
        paper=paper,
        whole_machine=whole_machine,
        settings=settings,
    )


WITH_NET = ("backbone", "SIS-ENET", "SIS-ENET apart")
# The paper has its curves as pictures alone; in its text there are these times.
EXPERIMENTS: dict[str, Experiment] = {
    "F1": experiment(
        "F1",
        "sparse linear regression, growing p",
        F1,
        WITH_NET,
        "p",
        {("backbone", 10**7): {"seconds": AtMost(HOUR)}, ("backbone", 3 * 10**8): {"seconds": AtMost(10 * HOUR)}},
    ),
    "F3": experiment(
        "F3", "sparse linear regression, growing n", F3, WITH_NET, "n", {("backbone", 9_000): {"seconds": AtMost(HOUR)}}
    ),
    "F4": experiment(
        "F4",
        "sparse logistic regression, growing n",
        F4,
        WITH_NET,
        "n",
        {("backbone", 11_000): {"seconds": AtMost(5 * HOUR)}},
    ),
    "F6": experiment("F6", "against the exact fit on all columns", F6, ("backbone", "SR"), "n", {}),
    **sensitivity.EXPERIMENTS,
}
