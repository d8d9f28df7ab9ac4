"""Whether the samples are enough for the theorem, and whether the run can be made again."""

from __future__ import annotations

from typing import Any


def advice_words(result: dict[str, Any]) -> str:
    """The theorem's advice; it speaks of linear regression only."""
    if result["task"] != "regression" or not result.get("advice"):
        return ""
    needed, n = result["advice"]["needed_samples"], result["store"]["n_samples"]
    verdict = "enough" if result["advice"]["enough_samples"] else "fewer than that"
    return (
        f"The support recovery theorem of the backbone method (Bertsimas and Digalakis) asks for {needed:,} samples at "
        f"a signal to noise ratio of 2, which is assumed here and not estimated; {n:,} are {verdict}."
    )


def again_words(result: dict[str, Any]) -> str:
    """Whether the same data, settings, seed and versions give the same model: not if a clock ended a search."""
    ended = [result["termination"], *(point["termination"] for point in result["validation"])]
    if "time_limit" not in ended:
        return "The same data, settings, seed and versions give the same model."
    return (
        "A time limit ended a search, so that the same data, settings, seed and versions may give another model on "
        "another machine, or on this one when it is busy; a longer time limit makes it repeatable."
    )
