"""Memory and traffic in words."""

from __future__ import annotations

from typing import Any

from backbone_dask.report.numbers import number, size


def memory_words(result: dict[str, Any]) -> str:
    """What the processes held at their peaks; a run without workers is one process."""
    peaks = result["peak_bytes"]
    held, workers = size(peaks["coordinator"]), peaks.get("workers") or []
    if not workers:
        return f"At its peak the one process that did everything held {held}."
    return f"At its peak the coordinator held {held}, the largest worker {size(max(workers))}."


def traffic_words(result: dict[str, Any]) -> str:
    """How far the columns travelled; empty where the run did not count."""
    known = result.get("traffic")
    if not known:
        return ""
    kept = f", {size(known['bytes_from_cache'])} came from memory" if known["bytes_from_cache"] else ""
    moved = f", {size(known['bytes_moved'])} moved between workers" if known["bytes_moved"] else ""
    placed = (
        f"; {number(known['tasks_at_home'])} of {number(known['tasks_placed'])} tasks ran where their data were"
        if known["tasks_placed"] and result["peak_bytes"].get("workers")
        else ""
    )
    return f"{size(known['bytes_read'])} were read{kept}{moved}{placed}."
