"""From finished cases to the rows of a table: means and standard deviations over seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from benchmarks.paper.experiment import Case, Experiment, Metrics
from benchmarks.paper.results import Record


@dataclass(frozen=True, slots=True)
class Mean:
    """Over the runs that have the metric; one run has no deviation."""

    value: float
    deviation: float | None

    @classmethod
    def of(cls, values: list[float]) -> Mean:
        return cls(fmean(values), stdev(values) if len(values) > 1 else None)


@dataclass(frozen=True, slots=True)
class Row:
    """What the values of `by` have in common."""

    key: tuple[Any, ...]
    runs: int
    means: dict[str, Mean]


def rows(experiment: Experiment, records: Iterable[Record]) -> list[Row]:
    """One row for each combination of `by`, in the order in which they first occur."""
    grouped: dict[tuple[Any, ...], list[Metrics]] = {}
    for record in records:
        for case, metrics in unfolded(record["case"], record["metrics"], experiment.x):
            grouped.setdefault(tuple(case.get(key) for key in experiment.by), []).append(metrics)
    return [Row(key, len(several), _means(several, experiment.metrics)) for key, several in grouped.items()]


def unfolded(case: Case, metrics: Metrics, x: str | None) -> Iterator[tuple[Case, Metrics]]:
    """A case for each value in "name@value"; metrics without one stand by themselves."""
    parts: dict[str, dict[str, float]] = {}
    for name, value in metrics.items():
        own, _, at = name.partition("@")
        parts.setdefault(at, {})[own] = value
    for at, few in parts.items():
        if at == "" or x is not None:
            yield (case if at == "" else {**case, str(x): _number(at)}), few


def _number(text: str) -> float | int:
    value = float(text)
    return int(value) if value.is_integer() else value


def _means(several: list[Metrics], names: Iterable[str]) -> dict[str, Mean]:
    known = {name: [each[name] for each in several if not math.isnan(each.get(name, math.nan))] for name in names}
    return {name: Mean.of(values) for name, values in known.items() if values}
