"""How many features are left after each phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backbone_dask.report.facts.chance import chance_words
from backbone_dask.report.material import Material


@dataclass(frozen=True, slots=True)
class Stage:
    """What remains, how many of them, and what that means."""

    name: str
    count: int
    meaning: str


def funnel(material: Material) -> tuple[Stage, ...]:
    """From all features to those of the model."""
    result = material.result
    first = result["levels"][0]
    survivors = first["candidates"] if material.screening is None else int(material.screening.candidates.size)
    return (
        Stage("features", result["store"]["n_features"], "columns of the table"),
        Stage("screened", survivors, _screened(result.get("screen", {}))),
        _examined(result["levels"]),
        Stage("backbone", len(result["backbone"]), "found relevant, and given to the exact solve"),
        Stage("support", len(result["support"]["ids"]), "in the model"),
    )


def _screened(screen: dict[str, Any]) -> str:
    if "chance" in screen:
        return chance_words(screen)
    return "survivors of the screen, which looks at each column by itself"


def _examined(levels: Sequence[dict[str, Any]]) -> Stage:
    """A level that extends the backbone of a tree looks at every survivor again."""
    counts = [round(level["coverage"] * level["candidates"]) for level in levels]
    if max(counts) == counts[0]:
        return Stage("sampled", counts[0], "survivors that some subproblem examined together with others")
    return Stage("examined", max(counts), f"{counts[0]:,} by subproblems, the others for what a first tree lacks")
