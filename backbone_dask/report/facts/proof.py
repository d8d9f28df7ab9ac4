"""What the exact solve found and proved, at the end and on the way there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backbone_dask.report.numbers import duration, number, percent

_FAR = 3
_CLOSED = 5e-4
"""A share of the objective that looks like nothing in a drawing."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The best objective and the proven bound after so many seconds; no bound before the first is proven."""

    seconds: float
    objective: float
    bound: float | None

    @property
    def gap(self) -> float | None:
        if self.bound is None:
            return None
        return max(0.0, self.objective - self.bound) / max(abs(self.objective), 1e-300)


def trace(result: dict[str, Any]) -> tuple[Moment, ...]:
    """The moments that a run kept, by time; none in older runs."""
    kept = [moment for moment in result.get("trace") or [] if moment.get("objective") is not None]
    found = [Moment(moment["seconds"], moment["objective"], moment.get("bound")) for moment in kept]
    return tuple(sorted(found, key=lambda moment: moment.seconds))


def worth_drawing(moments: tuple[Moment, ...]) -> tuple[Moment, ...]:
    """Without the first guesses that are so far off that the rest would look flat beside them."""
    last = moments[-1]
    bounds = [moment.bound for moment in moments if moment.bound is not None]
    if not bounds:
        return moments
    most = last.objective + _FAR * max(last.objective - min(bounds), 0.0)
    return tuple(moment for moment in moments if moment.objective <= most)


def around(objective: float) -> tuple[float, float]:
    """Heights that keep a gap that is as good as closed from filling the drawing."""
    return objective * (1 - _CLOSED), objective * (1 + _CLOSED)


def trace_words(moments: tuple[Moment, ...]) -> str:
    """How the gap closed."""
    first = next((moment for moment in moments if moment.gap is not None), None)
    if first is None:
        return "No bound was proven on the way."
    last = moments[-1]
    found = next(moment for moment in moments if moment.objective <= last.objective)
    known = f"The best model was found after {duration(found.seconds)}"
    if first is last or last.gap is None:
        return f"{known}; the gap was {percent(first.gap or 0.0)}."
    began, ended = percent(first.gap or 0.0), percent(last.gap)
    return f"{known}; the gap was {began} after {duration(first.seconds)} and {ended} after {duration(last.seconds)}."


def ended_words(result: dict[str, Any]) -> str:
    """Why the exact solve stopped."""
    words = {
        "proven": "It stopped because the proof was complete.",
        "time_limit": f"It stopped at its time limit of {result['settings']['time_limit']:g} s; more time may find a "
        "better model or prove more of this one.",
        "round_limit": "It stopped when its search was over, not because a proof was complete.",
    }
    return words[result["termination"]]


def reach_words(result: dict[str, Any]) -> tuple[str, ...]:
    """Of which models the bound speaks, and of which it does not."""
    last = "A small gap is about these samples; how well the model does on others, only others can tell."
    return (gap_words(result), _beyond(result), last)


def gap_words(result: dict[str, Any]) -> str:
    """What the gap compares the model with, or why it is wide."""
    columns = f"the {len(result['backbone']):,} columns of the backbone"
    if "tree" not in result:
        limits = f", at most {result['n_nonzero']:,} features, and gamma {number(result['gamma'], 3)}"
        return f"The gap compares this model with the best that is possible with {columns}{limits}."
    if result["settings"]["exact"] != "local-search":
        limits = (
            f", for trees whose thresholds are among {result['settings']['n_thresholds']} quantiles of each feature"
        )
        return f"The gap compares this tree with the best that is possible with {columns}{limits}."
    if result["termination"] == "proven":
        return f"A local search found a tree that reaches the bound: with {columns} and these limits none is better."
    return (
        "A local search looks for good trees and proves little: its bound is what is known without a search, and a "
        f"wide gap does not mean that the tree is bad. Both are about {columns}."
    )


def _beyond(result: dict[str, Any]) -> str:
    others = result["store"]["n_features"] - len(result["backbone"])
    if not others:
        return "These are all columns there are."
    if "global" in result:
        return f"It says nothing of the other {others:,} columns; the gap over all columns does."
    return (
        f"It says nothing of the other {others:,} columns: a better model may use one that the screen or the "
        "subproblems dropped, which is what a higher coverage, more survivors and more subproblems guard against."
    )
