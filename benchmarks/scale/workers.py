"""One worker against two: the screen of a virtual store and the levels, in turns on the same machine.

    python -m benchmarks.scale.workers [--rounds 5]
    python -m benchmarks.scale.workers --wide 100000000

Every round runs all cases one after another, and ratios are taken within a round. "Bare" rows are the limit of the
machine: the same kernels in one process and in two at once, on data that each has, without Dask. The last table is what
the scheduler costs: processor time of the coordinator, in which it runs, beyond what it spends while nothing runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from distributed import Client

from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.problems.questions import inquire
from backbone_dask.problems.screening import screen_store
from backbone_dask.runtime.executor import DaskExecutor
from backbone_dask.runtime.scoring import screen_blocks
from backbone_dask.screens.correlation import correlation
from backbone_dask.screens.panels import OneQuestion
from backbone_dask.settings import Settings
from backbone_dask.store import Recipe, VirtualStore
from benchmarks.timing import Case, at_once, in_turns, ratio, speed

SCREENED = Recipe(kind="linear", n_samples=5_000, n_features=1_000_000, n_relevant=50, rho=0.9, snr=2.0, seed=1)
FITTED = Recipe(kind="linear", n_samples=5_000, n_features=30_000, n_relevant=50, rho=0.9, snr=2.0, seed=1)
KEEP, IDLE_SECONDS = 20_000, 5.0
SETTINGS = Settings(
    n_nonzero=50, screen_size=KEEP, n_subproblems=8, patience=None, backbone_max=1_000, time_limit=1.0, seed=1
)


def screen_case(client: Client) -> Case:
    store = VirtualStore(SCREENED)
    inquiry = inquire("correlation", {"y": store.target()}, None)

    def case() -> float:
        began = time.perf_counter()
        screen_store(store, inquiry, KEEP, DaskExecutor(client))
        return time.perf_counter() - began

    return case


def levels_case(client: Client) -> Case:
    store = VirtualStore(FITTED)

    def case() -> float:
        return fit_sparse(prepare(store, store.target(), SETTINGS), DaskExecutor(client)).finding.seconds["levels"]

    return case


@lru_cache(maxsize=1)
def survivors() -> tuple[Any, Any, Any]:
    """Columns as workers hold them, with a solver and what it explains; once in every process."""
    store = VirtualStore(FITTED)
    ready = prepare(store, store.target(), SETTINGS)
    columns = ready.problem.prepare(store.read(store.blocks(KEEP)[0]))
    return columns, ready.problem.fit_subproblem, ready.task.response


def solve_some(seed: int) -> None:
    """Half of the subproblems of the levels, on columns of this process."""
    columns, fit, y = survivors()
    rng = np.random.default_rng(seed)
    for _ in range(SETTINGS.n_subproblems // 2):
        fit(columns[np.sort(rng.choice(KEEP, KEEP // 2, replace=False))], y, seed=0)


def screen_some(half: int) -> None:
    """Half of the table."""
    store = VirtualStore(SCREENED)
    blocks = store.blocks()[half::2]
    screen_blocks(store, blocks, OneQuestion(correlation, store.target()), KEEP)


def bare_cases(clients: list[Client], job: Callable[[int], None]) -> dict[str, Case]:
    """Both halves one after the other in one process, and at once in two."""
    first, second = (at_once(clients[0], [partial(job, half)]) for half in range(2))
    return {"1": lambda: first() + second(), "2": at_once(clients[1], [partial(job, half) for half in range(2)])}


def scheduler_cost(client: Client, n_features: int) -> tuple[int, float, float, float]:
    """Of a screen: tasks, seconds, processor seconds of the coordinator for it, and seconds of the workers in tasks."""
    store, executor = VirtualStore(replace(SCREENED, n_features=n_features)), DaskExecutor(client)
    idle = time.process_time()
    time.sleep(IDLE_SECONDS)
    idle = (time.process_time() - idle) / IDLE_SECONDS
    began, spent = time.perf_counter(), time.process_time()
    screen_store(store, inquire("correlation", {"y": store.target()}, None), KEEP, executor)
    taken, spent = time.perf_counter() - began, time.process_time() - spent
    return sum(executor.ledger.tasks.values()), taken, spent - idle * taken, sum(executor.ledger.seconds.values())


def each(make: Callable[[Client], Case], clients: list[Client]) -> dict[str, Case]:
    return {f"{count}": make(client) for count, client in enumerate(clients, start=1)}


def compare(name: str, cases: dict[str, Case], rounds: int) -> None:
    taken = in_turns(cases, rounds)
    for workers in ("1", "2"):
        gain = f"{ratio(taken[workers], taken['1']).show(2)}" if workers == "2" else " |"
        print(f"| {name} | {workers} | {speed(1.0, [1 / s for s in taken[workers]]).show(2)} | {gain} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--wide", type=int, help="Only what the scheduler costs, at this many columns.")
    asked = parser.parse_args()
    with ExitStack() as stack:
        clients = [stack.enter_context(local_cluster(count)) for count in (1, 2)]
        if not asked.wide:
            print("| phase | workers | seconds | range | times one worker | range |\n| :--- |" + " ---: |" * 5)
            compare("screen, 1,000,000 x 5,000 virtual", each(screen_case, clients), asked.rounds)
            compare("bare screen", bare_cases(clients, screen_some), asked.rounds)
            compare("levels, 8 of 10,000 x 5,000", each(levels_case, clients), asked.rounds)
            compare("bare levels", bare_cases(clients, solve_some), asked.rounds)
        n_tasks, taken, spent, work = scheduler_cost(clients[1], asked.wide or SCREENED.n_features)
    print("\n| tasks | seconds | coordinator s | ms a task | worker s | coordinator / workers |\n|" + " ---: |" * 6)
    print(f"| {n_tasks} | {taken:.0f} | {spent:.2f} | {1e3 * spent / n_tasks:.2f} | {work:.1f} | {spent / work:.2%} |")


if __name__ == "__main__":
    main()
