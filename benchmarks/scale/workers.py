"""One worker against two: the screen of a virtual store and the levels, in turns on the same machine.

    python -m benchmarks.scale.workers [--rounds 5]

Every round runs all cases one after another, and ratios are taken within a round. The last table is what the
scheduler costs: processor time of the coordinator, in which it runs, for every task and second of the workers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import ExitStack

from distributed import Client

from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.problems.questions import inquire
from backbone_dask.problems.screening import screen_store
from backbone_dask.runtime.executor import DaskExecutor
from backbone_dask.settings import Settings
from backbone_dask.store import Recipe, VirtualStore
from benchmarks.timing import Case, in_turns, ratio, speed

SCREENED = Recipe(kind="linear", n_samples=5_000, n_features=1_000_000, n_relevant=50, rho=0.9, snr=2.0, seed=1)
FITTED = Recipe(kind="linear", n_samples=5_000, n_features=30_000, n_relevant=50, rho=0.9, snr=2.0, seed=1)
KEEP = 20_000
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


def scheduler_cost(client: Client) -> tuple[int, float, float]:
    """Tasks of a screen, processor seconds of the coordinator, and seconds that the workers spent in the tasks."""
    store, executor = VirtualStore(SCREENED), DaskExecutor(client)
    began = time.process_time()
    screen_store(store, inquire("correlation", {"y": store.target()}, None), KEEP, executor)
    spent = time.process_time() - began
    return sum(executor.ledger.tasks.values()), spent, sum(executor.ledger.seconds.values())


def compare(name: str, make: Callable[[Client], Case], clients: list[Client], rounds: int) -> None:
    taken = in_turns({f"{at}": make(client) for at, client in enumerate(clients, start=1)}, rounds)
    for workers in ("1", "2"):
        gain = f"{ratio(taken[workers], taken['1']).show(2)}" if workers == "2" else " |"
        print(f"| {name} | {workers} | {speed(1.0, [1 / s for s in taken[workers]]).show(2)} | {gain} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with ExitStack() as stack:
        clients = [stack.enter_context(local_cluster(count)) for count in (1, 2)]
        print("| phase | workers | seconds | range | times one worker | range |\n| :--- |" + " ---: |" * 5)
        compare("screen, 1,000,000 x 5,000 virtual", screen_case, clients, rounds)
        compare("levels, 8 of 10,000 x 5,000", levels_case, clients, rounds)
        n_tasks, spent, work = scheduler_cost(clients[1])
    print("\n| tasks | coordinator ms a task | worker seconds | coordinator / workers |\n|" + " ---: |" * 4)
    print(f"| {n_tasks} | {1e3 * spent / n_tasks:.2f} | {work:.1f} | {spent / work:.2%} |")


if __name__ == "__main__":
    main()
