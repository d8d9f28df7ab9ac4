"""From measured task times to more workers than this machine has: a simulation of the screen and of the levels.

    python -m benchmarks.scale.scaling

The cut into tasks, their places and their priorities are those of the package itself. Measured here, on one worker:
seconds a column of the screen, of a merge, of a piece and of a subproblem, and what a task costs the coordinator with
the scheduler in it. Assumed: 10 Gbit/s of network for every worker. Rows for one worker are measured, too, as a check.
The bottleneck is what is busy for the largest share of the time, or, where nothing is, the number of tasks.

Left out: that cores of one machine share its memory (benchmarks/scale/workers.py measures that), the time that lists
and answers travel, and what it costs an idle worker to take over another's task.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from distributed import Client

from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.problems.questions import inquire
from backbone_dask.problems.screening import screen_store
from backbone_dask.runtime.budget import TASKS_PER_WORKER, Budget, cut_screen, plan
from backbone_dask.runtime.executor import DaskExecutor
from backbone_dask.runtime.placement import in_turns, place
from backbone_dask.store import VirtualStore
from backbone_dask.values import Seat
from benchmarks.scale.event_simulation import Cluster
from benchmarks.scale.workers import FITTED, KEEP, SCREENED, SETTINGS

NETWORK, WORKER_BYTES = 1.25e9, 4 << 30
COUNTS = (1, 2, 8, 64, 512)
PROBES = 2_000


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds on one core; `screen` and `levels` are whole phases on one worker."""

    column: float
    merge: float
    piece_byte: float
    subproblem: float
    task: float
    screen: float
    levels: float


def screened(n_features: int, n_workers: int, costs: Costs) -> Cluster:
    """Spans run where they are placed; a group's lists merge when its last span is done, and make room for another."""
    store = VirtualStore(replace(SCREENED, n_features=n_features))
    cut = cut_screen(store, KEEP, WORKER_BYTES, n_workers)
    placement = place(n_features, cut.unit, [Seat(str(at)) for at in range(n_workers)])
    groups = cut.groups(n_features)
    waiting = deque(in_turns(groups, [placement.home(start) for start, _ in groups]))
    cluster = Cluster(n_workers, costs.task, NETWORK)

    def begin() -> None:
        if not waiting:
            return
        spans = placement.runs(*waiting.popleft(), longest=cut.span)
        left = [len(spans)]

        def scored(now: float, worker: int) -> None:
            left[0] -= 1
            if not left[0]:
                cluster.submit(worker, costs.merge, lambda now, worker: begin())

        for start, stop in spans:
            cluster.submit(int(placement.home(start)), (stop - start) * costs.column, scored)

    for _ in range(TASKS_PER_WORKER * n_workers):
        begin()
    return cluster


@dataclass(slots=True)
class Levels:
    """A subproblem gets what its worker lacks, pieces of partitions or partitions that stay there, and then runs."""

    cluster: Cluster
    costs: Costs
    budget: Budget
    waiting: deque[int]
    lacking: dict[int, int] = field(default_factory=dict)
    """For a worker that partitions are on their way to: how many are missing."""
    queued: dict[int, int] = field(default_factory=dict)
    """Subproblems that wait for them."""

    def begin(self) -> None:
        if self.waiting:
            home = self.waiting.popleft() % self.cluster.n_workers
            self._share(home) if self.budget.everywhere else self._pieces(home)

    def _share(self, home: int) -> None:
        if home not in self.lacking:
            others = self._others(home)
            self.lacking[home], self.queued[home] = len(others), 0
            for at in others:
                self.cluster.send(at % self.cluster.n_workers, home, 2 * self._piece_bytes, partial(self._came, home))
        if self.lacking[home]:
            self.queued[home] += 1
        else:
            self._solve(home)

    def _came(self, home: int, now: float) -> None:
        self.lacking[home] -= 1
        if not self.lacking[home]:
            for _ in range(self.queued[home]):
                self._solve(home)

    def _pieces(self, home: int) -> None:
        others = self._others(home)
        left = [len(others)]

        def here(now: float) -> None:
            left[0] -= 1
            if left[0] <= 0:
                self._solve(home)

        for at in others:
            taken = partial(self._taken, home, here)
            seconds = self._piece_bytes * self.costs.piece_byte
            self.cluster.submit(at % self.cluster.n_workers, seconds, taken, priority=1)
        if not others:
            self._solve(home)

    def _taken(self, home: int, here: Callable[[float], None], now: float, worker: int) -> None:
        self.cluster.send(worker, home, self._piece_bytes, here)

    def _solve(self, home: int) -> None:
        """Gathering its columns is part of a subproblem."""
        gathering = self.budget.n_partitions * self._piece_bytes * self.costs.piece_byte
        self.cluster.submit(home, self.costs.subproblem + gathering, lambda now, worker: self.begin())

    def _others(self, home: int) -> list[int]:
        return [at for at in range(self.budget.n_partitions) if at % self.cluster.n_workers != home]

    @property
    def _piece_bytes(self) -> float:
        """A subproblem takes half of every partition."""
        return KEEP // 2 * self.budget.column_bytes / self.budget.n_partitions


def levelled(n_subproblems: int, n_workers: int, costs: Costs) -> Cluster:
    store = VirtualStore(FITTED)
    settings = replace(SETTINGS, n_subproblems=n_subproblems).resolve(
        n_samples=store.n_samples, n_features=store.n_features, total=float(store.n_samples)
    )
    budget = plan(store, settings, n_workers=n_workers, subproblem_features=KEEP // 2, available=WORKER_BYTES)
    levels = Levels(Cluster(n_workers, costs.task, NETWORK), costs, budget, deque(range(n_subproblems)))
    for _ in range(TASKS_PER_WORKER * n_workers):
        levels.begin()
    return levels.cluster


def measured(client: Client) -> Costs:
    """On one worker; the second of two runs, when everything is compiled."""
    wide, narrow = VirtualStore(SCREENED), VirtualStore(FITTED)
    inquiry, ready = inquire("correlation", {"y": wide.target()}, None), prepare(narrow, narrow.target(), SETTINGS)
    for _ in range(2):
        screen, fit = DaskExecutor(client), DaskExecutor(client)
        began = time.perf_counter()
        screen_store(wide, inquiry, KEEP, screen)
        taken = time.perf_counter() - began
        levels = fit_sparse(ready, fit).finding.seconds["levels"]
    mean = {name: total / fit.ledger.tasks[name] for name, total in fit.ledger.seconds.items()}
    gathered = gather_seconds()
    return Costs(
        column=screen.ledger.seconds["screen_span"] / SCREENED.n_features,
        merge=screen.ledger.seconds["merge_rankings"] / screen.ledger.tasks["merge_rankings"],
        piece_byte=gathered / (KEEP // 2 * FITTED.n_samples * 4),
        subproblem=mean["solve_subproblem"] - gathered,
        task=task_seconds(client),
        screen=taken,
        levels=levels,
    )


def gather_seconds() -> float:
    """Taking the columns of a subproblem out of a table in memory."""
    table, ids = np.ones((KEEP, FITTED.n_samples), np.float32), np.arange(0, KEEP, 2)
    began = time.perf_counter()
    table[ids]
    return time.perf_counter() - began


def task_seconds(client: Client) -> float:
    """Processor time of the coordinator for a task that does nothing."""
    executor = DaskExecutor(client)
    began = time.process_time()
    handles = [executor.submit(abs, at) for at in range(PROBES)]
    list(executor.map(len, [(handles,)]))
    return (time.process_time() - began) / PROBES


def bottleneck(cluster: Cluster, seconds: float) -> str:
    shares = {
        "workers": cluster.work / cluster.n_workers / seconds,
        "scheduler": cluster.scheduler.busy / seconds,
        "network": max(link.busy for link in cluster.links) / seconds,
    }
    name = max(shares, key=lambda each: shares[each])
    words = f"{name} busy {shares[name]:.0%}"
    return words if shares[name] > 0.5 else f"too few tasks ({words})"


def show(name: str, begun: Callable[[int], Cluster], check: float | None) -> None:
    alone = begun(1).run()
    for count in COUNTS:
        cluster = begun(count)
        seconds = cluster.run()
        real = f"{check:.2f}" if count == 1 and check else ""
        gain = alone / seconds
        print(
            f"| {name} | {count} | {seconds:.2f} | {real} | {gain:.1f} | {gain / count:.0%} "
            f"| {bottleneck(cluster, seconds)} |"
        )


def main() -> None:
    with local_cluster(1) as client:
        costs = measured(client)
    print(
        f"a column {1e6 * costs.column:.1f} us, a merge {1e3 * costs.merge:.1f} ms, pieces "
        f"{1e-9 / costs.piece_byte:.1f} GB/s, a subproblem {costs.subproblem:.2f} s, "
        f"a task {1e3 * costs.task:.2f} ms of the coordinator\n"
    )
    print("| phase | workers | seconds | measured | speed-up | efficiency | bottleneck |")
    print("| :--- |" + " ---: |" * 5 + " :--- |")
    for p in (SCREENED.n_features, 10**7, 10**8):
        begun = partial(screened, p, costs=costs)
        show(f"screen, p={p:,}", begun, costs.screen if p == SCREENED.n_features else None)
    for size in (SETTINGS.n_subproblems, 64, 512):
        begun = partial(levelled, size, costs=costs)
        show(f"levels, {size} subproblems", begun, costs.levels if size == SETTINGS.n_subproblems else None)


if __name__ == "__main__":
    main()
