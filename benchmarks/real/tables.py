"""Results of folds as a Markdown table: mean and standard deviation."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean, median, stdev
from typing import Any

HEAD = "| data | method | folds | {scores} | features | gap | CPU s |"


def table(results: Iterable[dict[str, Any]]) -> str:
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for result in results:
        grouped.setdefault((result["data"], result["method"]), []).append(result)
    every = [result for found in grouped.values() for result in found]
    names = sorted({name for result in every for name in result.get("scores", {})}, reverse=True)
    lines = [HEAD.format(scores=" | ".join(names)), "|---|---|" + "---:|" * (len(names) + 4)]
    return "\n".join([*lines, *(_row(*key, found, names) for key, found in grouped.items())])


def _row(data: str, method: str, every: list[dict[str, Any]], names: list[str]) -> str:
    """Means over the folds that ended, and why others did not."""
    found = [each for each in every if "failed" not in each]
    said = "".join(f"; fold {each['fold']} failed: {each['failed']}" for each in every if "failed" in each)
    if not found:
        return f"| {data} | {method}{said} | 0 |" + " |" * (len(names) + 3)
    scores = " | ".join(
        _spread([each["scores"][name] for each in found if name in each["scores"]], 3) for name in names
    )
    gaps = [each["gap"] for each in found if each["gap"] is not None]
    gap = f"{median(gaps):.1%} (to {max(gaps):.1%})" if gaps else ""
    features = _spread([each["n_features"] for each in found], 1)
    return f"| {data} | {method}{said} | {len(found)} | {scores} | {features} | {gap} | {fmean(_seconds(found)):.1f} |"


def _seconds(found: list[dict[str, Any]]) -> list[float]:
    return [each["seconds"] for each in found]


def _spread(given: list[Any], digits: int) -> str:
    values = [value for value in given if value is not None]
    if not values:
        return ""
    return f"{fmean(values):.{digits}f}" + (f" ± {stdev(values):.{digits}f}" if len(values) > 1 else "")
