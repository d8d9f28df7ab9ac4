"""One experiment of the paper: what is run, how it is counted, and what the paper found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Case = Mapping[str, Any]
"""One fit of one method on one data set: words and numbers only, so that it has a name of its own in the results.

Every case has a `method` and a `seed`; the rest says what the data are and what was asked.
"""
Metrics = Mapping[str, float]
"""A number for each name. "name@value" is the metric `name` where the experiment's `x` is `value`: so one case that is
watched on its way, such as after each subproblem, fills several rows of the table.
"""
Size = Literal["small", "paper"]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure or a table of the paper.

    Attributes
    ----------
    id, title : as in the paper.
    cases : all cases of a size, in the order in which they run.
    run : a case to its metrics. Runs in a process of its own worker, on one core, unless `whole_machine`.
    by : the keys of a case that a row of the table stands for; the rest (seeds, splits) is averaged over.
    metrics : columns of the table, and of the figure.
    x : the key along the figure's axis; None where there is no axis. One of `by`.
    paper : the paper's own values, by the values of `by`, where it gives them.
    whole_machine : whether a case takes the cluster for itself; otherwise cases run side by side.
    """

    id: str
    title: str
    cases: Callable[[Size], list[Case]]
    run: Callable[[Case], Metrics]
    by: tuple[str, ...]
    metrics: tuple[str, ...]
    x: str | None = None
    paper: Mapping[tuple[Any, ...], Metrics] = field(default_factory=dict)
    whole_machine: Callable[[Case], bool] = lambda case: False
