"""The figure of an experiment: a panel for each metric, a line for each method, bars where there is no axis.

The paper's values, where it gives them: hatched bars beside ours, or stars of the method's colour; triangles where it
says that it was less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from benchmarks.paper.experiment import AtMost, Experiment
from benchmarks.paper.summary import Row

WIDE = 10
"""Values that spread over more than this factor may stand on a logarithmic axis."""
FEW_DECADES = 100
"""Within this factor a logarithmic axis has less than three powers of ten: it is marked at 2 and 5 times them, too."""
ACROSS = 4
SHARES = ("accuracy", "false alarms", "in backbone", "selected", "sampled", "relevant")
COUNTS = ("features", "backbone size", "depth")
CHANCE = 0.5
"""The AUC of a guess: bars begin there."""
LEAST_GAP = 0.05
"""A smaller gap is drawn as what it is: next to nothing."""
OURS, PAPERS = "ours", "the paper's"
# The first lines are broad with large marks, the later ones narrow, broken and hollow: lines that meet are all seen.
LOOKS: tuple[dict[str, Any], ...] = (
    {"color": "tab:blue", "marker": "o", "markersize": 7.0, "linewidth": 2.6, "linestyle": "-", "alpha": 0.75},
    {"color": "tab:orange", "marker": "s", "markersize": 6.0, "linewidth": 1.5, "linestyle": "--", "mfc": "white"},
    {"color": "tab:green", "marker": "^", "markersize": 4.5, "linewidth": 1.3, "linestyle": "-.", "mfc": "white"},
    {"color": "tab:red", "marker": "x", "markersize": 5.0, "linewidth": 1.1, "linestyle": ":"},
)
Series = dict[str, list[tuple[Any, float, float]]]
Looks = dict[str, dict[str, Any]]


def draw(experiment: Experiment, rows: Sequence[Row], path: Path, size: str) -> None:
    """Write the picture; metrics that no case has are left out."""
    shown = [name for name in experiment.metrics if any(name in row.means for row in rows)]
    across = min(ACROSS, max(len(shown), 1))
    down = max(math.ceil(len(shown) / across), 1)
    figure, panels = plt.subplots(down, across, figsize=(3.7 * across, 3.0 * down), squeeze=False)
    looks = looks_of(experiment, rows)
    for panel, name in zip(panels.flat, shown, strict=False):
        _panel(panel, experiment, name, series(experiment, rows, name), papers(experiment, rows, name), looks)
    for panel in list(panels.flat)[len(shown) :]:
        panel.set_axis_off()
    _legend(figure, panels.flat)
    figure.suptitle(f"{experiment.id}: {experiment.title} ({size} size)", fontsize=11)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def series(experiment: Experiment, rows: Sequence[Row], name: str) -> Series:
    """By the rest of `by`: where on the axis, mean and deviation."""
    found: Series = {}
    for row in rows:
        if name in row.means:
            label, at = _place(experiment, row)
            mean = row.means[name]
            found.setdefault(label, []).append((at, mean.value, mean.deviation or 0.0))
    return found


def papers(experiment: Experiment, rows: Sequence[Row], name: str) -> Series:
    """The paper's values beside ours; it gives no deviation that is comparable."""
    found: Series = {}
    for row in rows:
        if name in experiment.paper.get(row.key, {}):
            label, at = _place(experiment, row)
            found.setdefault(label, []).append((at, experiment.paper[row.key][name], 0.0))
    return found


def looks_of(experiment: Experiment, rows: Sequence[Row]) -> Looks:
    """How each line is drawn, the same in all panels."""
    labels = dict.fromkeys(_place(experiment, row)[0] for row in rows)
    return dict(zip(labels, cycle(LOOKS), strict=False))


def _place(experiment: Experiment, row: Row) -> tuple[str, Any]:
    """The line of a row, and where on the axis."""
    case = dict(zip(experiment.by, row.key, strict=True))
    at = case.pop(experiment.x, None) if experiment.x else None
    return ", ".join(str(value) for value in case.values() if value is not None), at


def _panel(panel: Axes, experiment: Experiment, name: str, ours: Series, theirs: Series, looks: Looks) -> None:
    panel.set_title(name, fontsize=10)
    panel.grid(alpha=0.3)
    if experiment.x is None:
        _bars(panel, ours, theirs)
    else:
        _lines(panel, ours, theirs, looks)
        panel.set_xlabel(experiment.x, fontsize=9)
    heights = [y for lines in (ours, theirs) for points in lines.values() for _, y, _ in points]
    _scale(panel, name, heights)
    _from_nothing(panel, name)
    if name == "AUC" and experiment.x is None and min(heights) > CHANCE:
        panel.set_ylim(bottom=CHANCE)


def _lines(panel: Axes, ours: Series, theirs: Series, looks: Looks) -> None:
    for label, points in ours.items():
        x, y, spread = zip(*sorted(points), strict=True)
        panel.errorbar(x, y, spread, label=label, capsize=2, elinewidth=1.0, **looks[label])
    for label, points in theirs.items():
        x, y, _ = zip(*sorted(points), strict=True)
        less = any(isinstance(value, AtMost) for value in y)
        look = {"marker": "v" if less else "*", "color": looks[label]["color"], "edgecolor": "black", "zorder": 3}
        panel.scatter(x, y, 90, label=f"{label}, {PAPERS}{' (less than)' * less}", **look)
    if is_geometric([at for points in ours.values() for at, _, _ in points]):
        panel.set_xscale("log")


def _bars(panel: Axes, ours: Series, theirs: Series) -> None:
    """A pair for each method; one of the two may be missing."""
    labels = list(dict.fromkeys([*ours, *theirs]))
    width = 0.4 if theirs else 0.8
    at = {label: place - width / 2 if theirs else place for place, label in enumerate(labels)}
    means, spreads = zip(*(points[0][1:] for points in ours.values()), strict=True)
    panel.bar([at[each] for each in ours], means, width, yerr=spreads, capsize=3, color="tab:blue", label=OURS)
    if theirs:
        values = [points[0][1] for points in theirs.values()]
        look = {"color": "white", "edgecolor": "tab:gray", "hatch": "////", "label": PAPERS}
        panel.bar([at[each] + width for each in theirs], values, width, **look)
    panel.set_axisbelow(True)
    panel.set_xticks(range(len(labels)), labels, rotation=30, ha="right", rotation_mode="anchor", fontsize=8)


def _scale(panel: Axes, name: str, values: list[float]) -> None:
    """Seconds that differ much stand on a logarithmic axis, with numbers at more than one place."""
    if "seconds" not in name or not _is_wide(values):
        panel.ticklabel_format(axis="y", scilimits=(-2, 5), useOffset=False)
        return
    panel.set_yscale("log")
    if max(values) / min(values) < FEW_DECADES:
        panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.yaxis.set_major_formatter("{x:g}")
    panel.yaxis.set_minor_formatter(NullFormatter())


def _from_nothing(panel: Axes, name: str) -> None:
    """Shares stand between 0 and 1, and counts above 0, so that small differences look small."""
    if name.startswith(SHARES):
        panel.set_ylim(-0.03, 1.05)
    elif name in COUNTS:
        panel.set_ylim(bottom=0)
    elif name == "gap":
        panel.set_ylim(0.0, max(LEAST_GAP, panel.get_ylim()[1]))


def is_geometric(values: list[float]) -> bool:
    """Whether the middle of wide values is nearer to the geometric mean of their ends than to the arithmetic one."""
    if not _is_wide(values):
        return False
    middle, low, high = median(values), min(values), max(values)
    return bool(abs(middle - math.sqrt(low * high)) < abs(middle - (low + high) / 2))


def _is_wide(values: list[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) / min(values) > WIDE


def _legend(figure: Any, panels: Sequence[Axes]) -> None:
    """Of what stands in any of the panels, once."""
    found = [panel.get_legend_handles_labels() for panel in panels]
    known = {label: handle for handles, labels in found for handle, label in zip(handles, labels, strict=True)}
    if set(known) - {"", OURS}:
        look = {"loc": "lower center", "ncols": min(len(known), 5), "fontsize": 9, "frameon": False}
        figure.legend(known.values(), known.keys(), **look)
