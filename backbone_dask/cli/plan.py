"""backbone-dask plan: what a fit would read, hold and take, before anything starts."""

from __future__ import annotations

import time
from typing import Any

import click
import numpy as np

from backbone_dask.cli.certify_options import certify_from, certify_options
from backbone_dask.cli.execution import workers_of
from backbone_dask.cli.options import (
    as_json,
    extras_options,
    missing,
    settings_options,
    target,
    task,
    workers,
)
from backbone_dask.cli.output import show
from backbone_dask.cli.tasks import Prepared, prepared, usual_task
from backbone_dask.cli.tree_options import tree_options
from backbone_dask.launch.local import local_worker_bytes
from backbone_dask.problems.chance import screen_phase
from backbone_dask.problems.tree_fitting import TreePreparation
from backbone_dask.runtime.budget import Budget, cut_screen, gib
from backbone_dask.runtime.scoring import screen_blocks
from backbone_dask.store import open_store
from backbone_dask.store.schema import MissingPolicy

# A subproblem is a few dozen products of its columns with a vector; benchmarks/subproblems measures how many.
PASSES_PER_SUBPROBLEM = 45


@click.command()
@click.argument("store")
@task
@target
@missing
@settings_options
@certify_options
@tree_options
@extras_options
@workers
@as_json
def plan(
    store: str,
    task: str | None,
    target: str | None,
    missing: MissingPolicy | None,
    workers: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Say what `fit` with the same options would need. Reads one block of STORE to measure its speed."""
    source = open_store(store, missing=missing)
    certify_from(options)
    ready = prepared(task, source, source.target_name(target), options)
    count = workers_of(workers)
    content = {"task": task or usual_task(source, target), **planned(ready, ready.budget(count), count)}
    show(content, _words(content), as_json)


def planned(ready: Prepared, budget: Budget, n_workers: int) -> dict[str, Any]:
    """The plan as plain data."""
    available = local_worker_bytes(n_workers)
    subproblems = ready.settings.n_subproblems
    cut = cut_screen(ready.store, ready.settings.screen_size, available, n_workers)
    n_spans = -(-ready.store.n_features // cut.span)
    seconds = _seconds(ready, budget, n_workers)
    return {
        "workers": n_workers,
        "memory_per_worker": budget.worker_bytes,
        "memory_available": available,
        "fits": budget.worker_bytes <= available,
        "bytes_to_read": budget.read_bytes,
        "tasks": n_spans + 2 * budget.n_partitions + (subproblems + 1) * (1 + budget.n_partitions),
        "seconds": {**seconds, "total": sum(seconds.values())},
    }


def _seconds(ready: Prepared, budget: Budget, n_workers: int) -> dict[str, float]:
    """Measured on one block, and scaled up; the exact solve may take all of its limit."""
    store, settings = ready.store, ready.settings
    rate, each = _columns_per_second(ready), _seconds_per_candidate(ready)
    rounds = -(-settings.n_subproblems // n_workers)
    once = {
        "screen": store.n_features / (rate * n_workers),
        "compact": settings.screen_size / (rate * n_workers),
        "levels": rounds * budget.subproblem_features * each,
    }
    if isinstance(ready, TreePreparation):
        # A round of prices counts every survivor as often as half of a subproblem's growths does.
        once["extend"] = ready.settings.pricing_rounds * settings.screen_size * each / (2 * n_workers)
    validation = {"validation": _n_trainings(ready) * sum(once.values())} if settings.has_choice else {}
    return {**validation, **once, "reduced_at_most": settings.time_limit, **_passes(ready, once["screen"])}


def _passes(ready: Prepared, screen: float) -> dict[str, float]:
    """A pass over all columns takes about as long as a screen by correlation, or less than another one."""
    if isinstance(ready, TreePreparation) or ready.settings.certify is None:
        return {}
    return {"certify_at_most": ready.settings.certify.passes * screen}


def _n_trainings(ready: Prepared) -> int:
    """How many times all phases are walked through to choose by validation."""
    validation = ready.settings.validation
    return validation if isinstance(validation, int) else int(isinstance(validation, float))


def _columns_per_second(ready: Prepared) -> float:
    block = ready.store.blocks()[0]
    weights = ready.task.labels.weights if isinstance(ready, TreePreparation) else ready.task.adjusted.weights
    phase = screen_phase(ready.problem.screen, ready.settings, weights)

    def score() -> None:
        screen_blocks(ready.store, [block], phase.panel, ready.settings.screen_size)

    return block.size / _best_of_two(score)


def _seconds_per_candidate(ready: Prepared) -> float:
    """Of a subproblem, measured on one block."""
    block = ready.store.blocks()[0]
    columns = np.asarray(ready.problem.prepare(ready.store.read(block)))
    if isinstance(ready, TreePreparation):
        fit, labels = ready.problem.fit_subproblem, ready.task.labels
        return _best_of_two(lambda: fit(columns, labels, seed=0)) / block.size
    vector = ready.task.response.astype(np.float32)
    return PASSES_PER_SUBPROBLEM * _best_of_two(lambda: columns @ vector) / block.size


def _best_of_two(work: Any) -> float:
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return max(min(seconds), 1e-9)


def _words(content: dict[str, Any]) -> str:
    seconds = content["seconds"]
    fits = "" if content["fits"] else "  (TOO MUCH: lower screen_size or subproblem_fraction, or use fewer workers)"
    return "\n".join(
        [
            f"workers            {content['workers']}",
            f"memory per worker  {gib(content['memory_per_worker'])} of {gib(content['memory_available'])}{fits}",
            f"bytes to read      {gib(content['bytes_to_read'])}",
            f"tasks              {content['tasks']}",
            f"time               about {seconds['total'] - seconds['reduced_at_most']:.0f} s, "
            f"and at most {seconds['reduced_at_most']:.0f} s for the exact solve",
        ]
    )
