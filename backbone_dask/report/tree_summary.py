"""The parts of a result's page that only trees have."""

from __future__ import annotations

from typing import Any

from backbone_dask.report.facts.proof import gap_words
from backbone_dask.report.facts.validation import chosen_words, cut_words, measure
from backbone_dask.report.html import distinct

_SHOWN, _LETTERS = 12, 40


def tree_model(result: dict[str, Any]) -> str:
    """The tree in words, and how much each feature has a part in it."""
    names = distinct(result["support"]["names"], result["support"]["ids"], _LETTERS)
    shares = sorted(zip(result["importances"], names, strict=True), reverse=True)
    listed = ", ".join(f"{name} {share:.0%}" for share, name in shares[:_SHOWN])
    more = f" and {len(shares) - _SHOWN} more" if len(shares) > _SHOWN else ""
    words = f"depth {result['depth']}, {result['n_splits']} splits"
    words += f"; by their part in it: {listed}{more}" if shares else ": no split is worth it"
    return f"## Tree\n\n{words}\n\n```\n{result['text']}```"


def tree_validation(result: dict[str, Any]) -> str:
    """The best of what was tried, the least error first."""
    if not result["validation"]:
        return ""
    points = sorted(result["validation"], key=lambda point: float(point["error"]))
    rows = [
        f"| {point['depth']} | {point['min_bucket']:g} | {point['complexity']:.3g} | {point['error']:.4f} |"
        for point in points[:_SHOWN]
    ]
    head = [f"| depth | least leaf | complexity | {measure(result)} |", "| ---: | ---: | ---: | ---: |"]
    counted = f"{len(points)} were tried."
    return "\n".join(["## Validation", "", *head, *rows, "", chosen_words(result), counted, *cut_words(result)])


def tree_proof(result: dict[str, Any]) -> str:
    """What is proven, and of which trees."""
    ended, proven = result["termination"].replace("_", " "), result["reduced"]
    return (
        "## Proof for the reduced problem\n\n"
        f"objective {result['objective']:.6g}, lower bound {proven['bound']:.6g}: certified gap {proven['gap']:.4%} "
        f"({ended}). {gap_words(result)}"
    )
