"""Runs the cases of an experiment that are not finished: side by side as Dask tasks, or one after the other."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from distributed import Client, as_completed

from benchmarks.machine import INSTALL, stamp, today
from benchmarks.paper.experiment import Case, Experiment, Metrics
from benchmarks.paper.results import Record, Results, Tell, name, require_names


def run_cases(experiment: Experiment, cases: Sequence[Case], results: Results, client: Client, tell: Tell) -> None:
    """Run what is not finished; a case that fails is recorded, and the others go on."""
    require_names(cases)
    todo = [case for case in cases if not results.has(case)]
    measured_on = {"experiment": experiment.id, **stamp()}
    done = len(cases) - len(todo)
    for case, answer in _answers(experiment, todo, client):
        done += 1
        tell(f"{experiment.id} {done}/{len(cases)} {name(case)}: {_kept(results, case, answer, measured_on)}")


def _answers(experiment: Experiment, cases: Sequence[Case], client: Client) -> Iterator[tuple[Case, Record]]:
    """Cases in their order, those that follow each other side by side, unless they take the machine for themselves."""
    for alone, group in groupby(cases, experiment.whole_machine):
        several = list(group)
        yield from _alone(experiment, several) if alone else _side_by_side(experiment, several, client)


def _alone(experiment: Experiment, cases: Sequence[Case]) -> Iterator[tuple[Case, Record]]:
    """In this process, whose fits find the active client."""
    for case in cases:
        yield case, attempt(experiment.run, case)


def _side_by_side(experiment: Experiment, cases: Sequence[Case], client: Client) -> Iterator[tuple[Case, Record]]:
    started = {client.submit(attempt, experiment.run, case, pure=False): case for case in cases}
    for future in as_completed(started):
        lost = future.exception()
        yield started[future], {"error": f"{type(lost).__name__}: {lost}"} if lost else future.result()
        future.release()


def attempt(run: Callable[[Case], Metrics], case: Case) -> Record:
    """The metrics that a case has and how long it took in all, or why it failed."""
    began = time.perf_counter()
    try:
        metrics = {key: float(value) for key, value in run(case).items() if not math.isnan(value)}
    except ImportError as missing:
        return {"error": f"{traceback.format_exc()}{missing}; {INSTALL}"}
    except Exception:
        return {"error": traceback.format_exc()}
    return {"metrics": metrics, "wall_seconds": time.perf_counter() - began}


def _kept(results: Results, case: Case, answer: Record, measured_on: Record) -> str:
    if "error" in answer:
        results.keep_failure(case, answer["error"])
        return f"failed: {answer['error'].strip().splitlines()[-1]}"
    results.keep(case, {**answer, **measured_on, "date": today()})
    return f"{answer['wall_seconds']:.1f} s"
