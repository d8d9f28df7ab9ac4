"""How the work is cut, and whether it fits: planned before anything starts."""

from __future__ import annotations

from dataclasses import dataclass

from backbone_dask.errors import MemoryBudgetError
from backbone_dask.protocols import FeatureSource
from backbone_dask.settings import ResolvedSettings

SPAN_BYTES = 128 << 20
PARTITION_BYTES = 64 << 20
# A task costs the scheduler about 2 ms, so a screen is at most a few thousand of them.
MOST_SPANS = 4000
SPANS_PER_WORKER = 4
TASKS_PER_WORKER = 2
IDLE_BYTES = 400 << 20
STANDARDISED_ITEMSIZE = 4


@dataclass(frozen=True, slots=True)
class Budget:
    """The cut of one run: features per screening task and per partition of survivors, and what a worker needs."""

    span_features: int
    n_spans: int
    partition_features: int
    n_partitions: int
    subproblem_features: int
    worker_bytes: int
    read_bytes: int


def plan(source: FeatureSource, settings: ResolvedSettings, *, n_workers: int, subproblem_features: int) -> Budget:
    """Cut the table for these settings and workers. No answer depends on the cut."""
    p, column = source.n_features, source.n_samples * source.itemsize
    standardised = source.n_samples * STANDARDISED_ITEMSIZE
    even = -(-p // (SPANS_PER_WORKER * n_workers))
    span = max(1, min(even, SPAN_BYTES // column), -(-p // MOST_SPANS))
    partition = max(1, PARTITION_BYTES // standardised)
    survivors = settings.screen_size * standardised
    # A worker holds its share of the survivors, the pieces of the subproblems that it was given, the union of the one
    # that it solves, and the interpreter with a block or two.
    copies = TASKS_PER_WORKER + 1
    needed = survivors // n_workers + copies * subproblem_features * standardised + IDLE_BYTES
    return Budget(
        span_features=span,
        n_spans=-(-p // span),
        partition_features=partition,
        n_partitions=-(-settings.screen_size // partition),
        subproblem_features=subproblem_features,
        worker_bytes=needed,
        read_bytes=(p + settings.screen_size) * column,
    )


def require_memory(budget: Budget, n_samples: int, worker_bytes: int) -> None:
    """Refuse early, and say what would work."""
    if not worker_bytes or budget.worker_bytes <= worker_bytes:
        return
    over = budget.worker_bytes - worker_bytes
    fitting = budget.subproblem_features - over // ((TASKS_PER_WORKER + 1) * n_samples * STANDARDISED_ITEMSIZE)
    advice = (
        f"at most {fitting} columns a subproblem (lower subproblem_fraction)" if fitting > 0 else "a lower screen_size"
    )
    raise MemoryBudgetError(
        f"subproblems of {n_samples} x {budget.subproblem_features} need about {gib(budget.worker_bytes)} a worker, "
        f"a worker has {gib(worker_bytes)}; use {advice} or larger workers"
    )


def gib(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:.2f} GiB"
