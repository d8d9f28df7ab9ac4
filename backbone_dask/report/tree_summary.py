"""The parts of a result's page that only trees have."""

from __future__ import annotations

from typing import Any

_SHOWN = 12


def tree_model(result: dict[str, Any]) -> str:
    """The tree in words, and how much each feature has a part in it."""
    shares = sorted(zip(result["importances"], result["support"]["names"], strict=True), reverse=True)
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
    head = ["| depth | least leaf | complexity | error |", "| ---: | ---: | ---: | ---: |"]
    chosen = result["chosen"]
    said = (
        f"Chosen: depth {chosen['depth']}, leaves of at least {chosen['min_bucket']:g}, "
        f"complexity {chosen['complexity']:.3g}"
    )
    cut = sum(point["termination"] == "time_limit" for point in points)
    warned = (
        [f"A time limit cut the search for {cut} of them: on another machine the choice may differ."] if cut else []
    )
    return "\n".join(["## Validation", "", *head, *rows, "", f"{said}; {len(points)} were tried.", *warned])


def tree_proof(result: dict[str, Any]) -> str:
    """What is proven, and of which trees: solvers with a proof have a few thresholds a feature to choose from."""
    exact, thresholds = result["settings"]["exact"], result["settings"]["n_thresholds"]
    among = f" for trees whose thresholds are among {thresholds} quantiles of each feature of the backbone"
    searched = ": a local search, which looks for good trees and proves little"
    return (
        "## Proof for the reduced problem\n\n"
        f"objective {result['objective']:.6g}, lower bound {result['bound']:.6g}: certified gap {result['gap']:.4%} "
        f"({result['termination'].replace('_', ' ')}){searched if exact == 'local-search' else among}"
    )
