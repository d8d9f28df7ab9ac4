"""What the ridge does to the coefficients, said where they are shown."""

from __future__ import annotations

from typing import Any

from backbone_dask.report.numbers import number

WITHOUT = "without ridge"


def ridge_words(result: dict[str, Any]) -> str:
    """That coefficients are pulled, by how much, and whether another ridge might suit better."""
    said = f"A ridge of gamma = {number(result['gamma'], 3)} pulls coefficients towards 0; a larger gamma pulls less."
    return " ".join(filter(None, (said, _comparison(result), _end_of_grid(result))))


def _comparison(result: dict[str, Any]) -> str:
    if "unpenalised" not in result or not result["coefficients"]:
        return ""
    if result["unpenalised"] is not None:
        return f'The column "{WITHOUT}" has what the same features get from a fit that has none.'
    apart = " or separate the classes" if result["task"] == "classification" else ""
    kept = f"the features depend on each other{apart}, or were to keep a sign"
    return f"What they would be without it is not known: {kept}."


def _end_of_grid(result: dict[str, Any]) -> str:
    tried = sorted({point["gamma"] for point in result["validation"]})
    if len(tried) < 2:
        return ""
    ends = {tried[0]: ("smallest", "smaller"), tried[-1]: ("largest", "larger")}
    if result["gamma"] not in ends:
        return ""
    end, further = ends[result["gamma"]]
    return f"It is the {end} gamma that was tried: {further} ones might fit better."
