"""What validation tried, as curves over one setting for each value of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backbone_dask.report.numbers import number

Point = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Series:
    """Errors for one value of the setting that tells curves apart; None where nothing was tried."""

    value: float
    errors: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """`over` is the setting along the axis with `values`, `by` the one that tells curves apart; `chosen` is a place.

    Of trees with several least sizes of a leaf, the curves are those of the chosen one.
    """

    over: str
    values: tuple[float, ...]
    by: str
    series: tuple[Series, ...]
    chosen: tuple[int, int]
    measure: str

    @property
    def chosen_error(self) -> float | None:
        series, at = self.chosen
        return self.series[series].errors[at]


_NAMES = {"n_nonzero": "features (k)", "gamma": "gamma", "depth": "depth", "complexity": "complexity"}


def validation_curves(result: dict[str, Any]) -> Curves | None:
    """None where nothing was to choose."""
    points = result["validation"]
    if not points:
        return None
    first, second, chosen = "n_nonzero", "gamma", result
    if "tree" in result:
        first, second, chosen = "complexity", "depth", result["chosen"]
        points = [point for point in points if point["min_bucket"] == chosen["min_bucket"]]
    # The setting with more values is easier to read along an axis.
    if len(_values(points, second)) > len(_values(points, first)):
        first, second = second, first
    over, by = _values(points, first), _values(points, second)
    series = tuple(Series(value, _errors(points, first, over, second, value)) for value in by)
    place = (_nearest(by, chosen[second]), _nearest(over, chosen[first]))
    return Curves(_NAMES[first], over, _NAMES[second], series, place, measure(result))


def measure(result: dict[str, Any]) -> str:
    """What an error is."""
    if isinstance(result["settings"].get("validation"), str):
        return "criterion (EBIC)"
    if "tree" in result:
        return "share of validation samples classified wrongly"
    return "mean squared error" if result["task"] == "regression" else "logistic loss"


def chosen_words(result: dict[str, Any]) -> str:
    """What was chosen, and by which rule."""
    if "tree" not in result:
        return f"Chosen: {result['n_nonzero']} features, gamma {number(result['gamma'], 3)}: {_rule(result)}."
    chosen = result["chosen"]
    return (
        f"Chosen: depth {chosen['depth']}, leaves of at least {chosen['min_bucket']:g}, complexity "
        f"{number(chosen['complexity'], 3)}: the simplest whose error is within one standard error of the least."
    )


def _rule(result: dict[str, Any]) -> str:
    if isinstance(result["settings"].get("validation"), int):
        return "the strongest ridge within one standard error of the least error, and there the least"
    return "the least error"


def cut_words(result: dict[str, Any]) -> list[str]:
    """A warning where a time limit had a say in the choice."""
    points = result["validation"]
    cut = sum(point["termination"] == "time_limit" for point in points)
    if not cut:
        return []
    return [
        f"A time limit cut {cut} of {len(points)} points: another machine, or another run, may choose otherwise; a "
        "longer time limit or fewer points make the choice repeatable."
    ]


def curve_name(curves: Curves, series: Series) -> str:
    """As it stands at the end of a curve."""
    short = {"features (k)": "k", "gamma": "gamma", "depth": "depth", "complexity": "cost"}[curves.by]
    return f"{short} {number(series.value, 2)}"


def _values(points: Sequence[Point], setting: str) -> tuple[float, ...]:
    return tuple(sorted({point[setting] for point in points}))


def _errors(
    points: Sequence[Point], over: str, values: Sequence[float], by: str, value: float
) -> tuple[float | None, ...]:
    mine = [point for point in points if point[by] == value]
    return tuple(min((point["error"] for point in mine if point[over] == each), default=None) for each in values)


def _nearest(values: Sequence[float], wanted: float) -> int:
    return min(range(len(values)), key=lambda at: abs(values[at] - wanted))
