"""How the work is cut, and whether it fits: planned before anything starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from backbone_dask.errors import MemoryBudgetError, WorkerLostError
from backbone_dask.protocols import FeatureSource, SpineSettings
from backbone_dask.values import FeatureBlock

UNIT_BYTES, MOST_UNITS = 64 << 20, 16_384
SPAN_BYTES = 2 << 30
PARTITION_BYTES = 64 << 20
# A task costs the coordinator, with the scheduler in it, one to three milliseconds: a screen is a thousand at the most.
MOST_SPANS, MOST_FOR_FEW_WORKERS = 1000, 400
SPANS_PER_WORKER = 8
# A small table is still cut into enough tasks for a few dozen workers; each costs as much as scoring tens of MB.
FEWEST_SPANS = 32
# A group's list is at most a sixteenth of the group, so that a small part of the p utilities reaches the coordinator.
GROUP_LISTS = 16
# Every subproblem takes a piece from every partition: fewer would share the network of too few workers, more would
# keep the scheduler busy (benchmarks/scale/scaling.py).
MOST_HOLDERS = 16
FEWEST_GROUPS, MOST_GROUPS = 8, 64
# A worker has one block in hand, one coming, and needs room for its share of everything else.
BLOCKS_PER_WORKER = 32
TASKS_PER_WORKER = 2
IDLE_BYTES = 400 << 20
STANDARDISED_ITEMSIZE = 4


@dataclass(frozen=True, slots=True)
class ScreenCut:
    """Blocks within units (placed on a worker) within spans (one task each) within groups (one list each), in features.

    Groups are what an interrupted screen goes on from: they and units do not depend on the number of workers.
    """

    block: int
    unit: int
    span: int
    group: int

    def groups(self, n_features: int) -> list[tuple[int, int]]:
        return _ranges(0, n_features, self.group)

    def blocks(self, start: int, stop: int) -> list[FeatureBlock]:
        return [FeatureBlock(first // self.block, first, last) for first, last in _ranges(start, stop, self.block)]


def cut_screen(source: FeatureSource, keep: int, worker_bytes: int, n_workers: int = 1) -> ScreenCut:
    """Cut a table by its shape and the memory of a worker; more workers only get shorter spans."""
    p, column = source.n_features, source.n_samples * source.itemsize
    few = -(-p // FEWEST_SPANS)
    block = max(1, min(source.block_features, worker_bytes // BLOCKS_PER_WORKER // column or 1))
    unit = _multiple(block, max(min(UNIT_BYTES // column, few), -(-p // MOST_UNITS)))
    longest = _multiple(unit, max(min(SPAN_BYTES // column, few), -(-p // MOST_FOR_FEW_WORKERS)))
    n_spans = min(SPANS_PER_WORKER * n_workers, MOST_SPANS)
    span = _multiple(unit, -(-p // n_spans) + unit - 1)
    group = _multiple(longest, max(min(GROUP_LISTS * keep, -(-p // FEWEST_GROUPS)), -(-p // MOST_GROUPS)))
    return ScreenCut(block, unit, min(span, longest), group)


def _multiple(step: int, wanted: int) -> int:
    return max(1, wanted // step) * step


@dataclass(frozen=True, slots=True)
class Budget:
    """What the phases after the screen hold and read: partitions of survivors, subproblems, and a worker's need.

    `worker_bytes` is the most of any phase, `certificate_bytes` that of pricing all columns.
    """

    partition_features: int
    n_partitions: int
    subproblem_features: int
    worker_bytes: int
    read_bytes: int
    column_bytes: int
    everywhere: bool
    certificate_bytes: int = 0


def plan(
    source: FeatureSource,
    settings: SpineSettings,
    *,
    n_workers: int,
    subproblem_features: int,
    itemsize: int = STANDARDISED_ITEMSIZE,
    available: int = 0,
) -> Budget:
    """What a fit needs that holds survivors in `itemsize` bytes a value. No answer depends on it.

    Where `available` bytes of a worker hold all survivors, and a worker's subproblems together ask for more columns
    than there are, every worker gets all of them: less travels than if each subproblem got its own.
    """
    column = source.n_samples * itemsize
    # Every worker holds some, for memory and network to be shared; beyond that a partition is only more tasks.
    share = -(-settings.screen_size // min(n_workers, MOST_HOLDERS))
    partition = max(1, min(PARTITION_BYTES // column, share))
    n_partitions = -(-settings.screen_size // partition)
    held = -(-n_partitions // n_workers) * partition * column
    # A worker holds its share of the survivors, the pieces of the subproblems that it was given, the union of the one
    # that it solves, and the interpreter with a block or two.
    copies = TASKS_PER_WORKER + 1
    needed = held + copies * subproblem_features * column + IDLE_BYTES
    more = n_partitions * partition * column - held
    repeats = settings.n_subproblems * subproblem_features > n_workers * settings.screen_size
    everywhere = repeats and needed + more <= available
    return Budget(
        partition_features=partition,
        n_partitions=n_partitions,
        subproblem_features=subproblem_features,
        worker_bytes=needed + more * everywhere,
        read_bytes=(source.n_features + settings.screen_size) * source.n_samples * source.itemsize,
        column_bytes=column,
        everywhere=everywhere,
    )


def with_passes(budget: Budget, source: FeatureSource, *, columns: int, passes: int) -> Budget:
    """The budget with passes over all columns, and a relaxation on at most so many of them."""
    # They are there as they came, joined, and in float64, with the products of all pairs.
    needed = columns * source.n_samples * (2 * STANDARDISED_ITEMSIZE + 8) + 2 * 8 * columns**2 + IDLE_BYTES
    more = passes * source.n_features * source.n_samples * source.itemsize
    return replace(
        budget,
        worker_bytes=max(budget.worker_bytes, needed),
        read_bytes=budget.read_bytes + more,
        certificate_bytes=needed,
    )


def require_memory(budget: Budget, n_samples: int, worker_bytes: int) -> None:
    """Refuse early, and say what would work."""
    if not worker_bytes or budget.worker_bytes <= worker_bytes:
        return
    if budget.certificate_bytes > worker_bytes:
        raise MemoryBudgetError(
            f"certify needs about {gib(budget.certificate_bytes)} a worker for {n_samples} samples, a worker has "
            f"{gib(worker_bytes)}; price in fewer columns (certify={{'columns': 500}}), lower backbone_max or use "
            "larger workers"
        )
    over = budget.worker_bytes - worker_bytes
    fitting = budget.subproblem_features - over // ((TASKS_PER_WORKER + 1) * budget.column_bytes)
    advice = (
        f"at most {fitting} columns a subproblem (lower subproblem_fraction)" if fitting > 0 else "a lower screen_size"
    )
    raise MemoryBudgetError(
        f"subproblems of {n_samples} x {budget.subproblem_features} need about {gib(budget.worker_bytes)} a worker, "
        f"a worker has {gib(worker_bytes)}; use {advice} or larger workers"
    )


@contextmanager
def losses_advised(budget: Budget, worker_bytes: int) -> Iterator[None]:
    """Say of a task that ended its workers what was planned for it, and what to do."""
    try:
        yield
    except WorkerLostError as cause:
        raise WorkerLostError(
            f"{cause}: the plan is about {gib(budget.worker_bytes)} a worker, a worker has {gib(worker_bytes)}; give "
            "the workers more memory, or lower screen_size or subproblem_fraction"
        ) from cause


def gib(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:.2f} GiB"


def _ranges(start: int, stop: int, step: int) -> list[tuple[int, int]]:
    return [(first, min(first + step, stop)) for first in range(start, stop, step)]
