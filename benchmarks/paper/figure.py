"""The figure of an experiment: a panel for each metric, a line for each method, bars where there is no axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from benchmarks.paper.experiment import Experiment
from benchmarks.paper.summary import Row

WIDE = 10
"""Values that spread over more than this factor may stand on a logarithmic axis."""
ACROSS = 4
SHARES = ("accuracy", "false alarms", "in backbone", "selected", "sampled", "relevant")
LEAST_GAP = 0.05
"""A smaller gap is drawn as what it is: next to nothing."""
Series = dict[str, list[tuple[Any, float, float]]]


def draw(experiment: Experiment, rows: Sequence[Row], path: Path) -> None:
    """Write the picture; metrics that no case has are left out."""
    shown = [name for name in experiment.metrics if any(name in row.means for row in rows)]
    across = min(ACROSS, max(len(shown), 1))
    down = max(math.ceil(len(shown) / across), 1)
    figure, panels = plt.subplots(down, across, figsize=(3.7 * across, 3.0 * down), squeeze=False)
    for panel, name in zip(panels.flat, shown, strict=False):
        _panel(panel, experiment, name, series(experiment, rows, name))
    for panel in list(panels.flat)[len(shown) :]:
        panel.set_axis_off()
    _legend(figure, panels.flat[0])
    figure.suptitle(f"{experiment.id}: {experiment.title}", fontsize=11)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def series(experiment: Experiment, rows: Sequence[Row], name: str) -> Series:
    """By the rest of `by`: where on the axis, mean and deviation."""
    found: Series = {}
    for row in rows:
        case = dict(zip(experiment.by, row.key, strict=True))
        at = case.pop(experiment.x, None) if experiment.x else None
        if name in row.means:
            label = ", ".join(str(value) for value in case.values() if value is not None)
            mean = row.means[name]
            found.setdefault(label, []).append((at, mean.value, mean.deviation or 0.0))
    return found


def _panel(panel: Axes, experiment: Experiment, name: str, lines: Series) -> None:
    panel.set_title(name, fontsize=10)
    panel.grid(alpha=0.3)
    if experiment.x is None:
        _bars(panel, lines)
        _from_nothing(panel, name)
        return
    for label, points in lines.items():
        x, y, spread = zip(*sorted(points), strict=True)
        panel.errorbar(x, y, spread, label=label, marker="o", markersize=3.5, capsize=2, linewidth=1.3)
    panel.set_xlabel(experiment.x, fontsize=9)
    if is_geometric([at for points in lines.values() for at, _, _ in points]):
        panel.set_xscale("log")
    if "seconds" in name and _is_wide([y for points in lines.values() for _, y, _ in points]):
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(NullFormatter())
    else:
        panel.ticklabel_format(axis="y", scilimits=(-2, 5), useOffset=False)
    _from_nothing(panel, name)


def _from_nothing(panel: Axes, name: str) -> None:
    """Shares stand between 0 and 1, so that small differences look small."""
    if name.startswith(SHARES):
        panel.set_ylim(-0.03, 1.05)
    elif name == "gap":
        panel.set_ylim(0.0, max(LEAST_GAP, panel.get_ylim()[1]))


def _bars(panel: Axes, lines: Series) -> None:
    means, spreads = zip(*(points[0][1:] for points in lines.values()), strict=True)
    panel.bar(list(lines), means, yerr=spreads, capsize=3, color="tab:blue", alpha=0.8)
    panel.tick_params(axis="x", rotation=30, labelsize=8)


def is_geometric(values: list[float]) -> bool:
    """Whether the middle of wide values is nearer to the geometric mean of their ends than to the arithmetic one."""
    if not _is_wide(values):
        return False
    middle, low, high = median(values), min(values), max(values)
    return bool(abs(middle - math.sqrt(low * high)) < abs(middle - (low + high) / 2))


def _is_wide(values: list[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) / min(values) > WIDE


def _legend(figure: Any, panel: Axes) -> None:
    handles, labels = panel.get_legend_handles_labels()
    if labels and labels != [""]:
        figure.legend(handles, labels, loc="lower center", ncols=min(len(labels), 5), fontsize=9, frameon=False)
