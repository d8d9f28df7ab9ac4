"""What the run cost, and how to make it again."""

from __future__ import annotations

from typing import Any

from backbone_dask.report.charts.bars import Bar, linear_bars
from backbone_dask.report.html import details, fact, name, paragraph, section, short, table, text
from backbone_dask.report.material import Material
from backbone_dask.report.numbers import duration, number, size
from backbone_dask.report.sections.figure import figure

_MEANING = {
    "validation": "choosing by validation",
    "screen": "screening every column",
    "compact": "gathering the survivors",
    "levels": "solving subproblems",
    "extend": "pricing what the tree lacks",
    "reduced": "solving the reduced problem",
}


def times_section(material: Material) -> str:
    """Where the time went, and memory and traffic in words."""
    result = material.result
    seconds = {phase: value for phase, value in result["seconds"].items() if phase != "total"}
    bars = [Bar(phase, value, duration(value)) for phase, value in seconds.items()]
    said = ", ".join(f"{bar.name} {bar.said}" for bar in bars)
    drawing = linear_bars(
        bars, "times", f"Time of each phase, {duration(result['seconds']['total'])} in all", f"{said}."
    )
    rows = [
        [text(phase), fact(value, f"{value:.2f}", f"seconds-{phase}"), text(_MEANING.get(phase, ""))]
        for phase, value in seconds.items()
    ]
    caption = f"{duration(result['seconds']['total'])} in all.{_resumed(material.restarts)}"
    drawn = figure(drawing, caption, ["phase", "seconds", ""], rows)
    return section("times", "Time, memory, traffic", drawn, *map(paragraph, (_memory(result), _traffic(result))))


def _resumed(restarts: int) -> str:
    if not restarts:
        return ""
    times = "once" if restarts == 1 else f"{restarts} times"
    return f" The run was resumed {times}: these are the times of the last process only."


def _memory(result: dict[str, Any]) -> str:
    peaks = result["peak_bytes"]
    workers = peaks.get("workers") or []
    said = f"At its peak the coordinator held {size(peaks['coordinator'])}"
    return f"{said}, the largest worker {size(max(workers))}." if workers else f"{said}."


def _traffic(result: dict[str, Any]) -> str:
    known = result.get("traffic")
    if not known:
        return ""
    kept = f", {size(known['bytes_from_cache'])} came from memory" if known["bytes_from_cache"] else ""
    placed = (
        f"; {number(known['tasks_at_home'])} of {number(known['tasks_placed'])} tasks ran where their data were"
        if known["tasks_placed"]
        else ""
    )
    moved = f", {size(known['bytes_moved'])} moved between workers" if known["bytes_moved"] else ""
    return f"{size(known['bytes_read'])} were read{kept}{moved}{placed}."


def settings_section(material: Material) -> str:
    """Seed, settings and versions: the same ones make the same model."""
    result = material.result
    shown = [[text(called), name(_value(value), 120)] for called, value in result["settings"].items()]
    used = [[text(called), text(version)] for called, version in result["versions"].items()]
    settings = details("All settings", table(["setting", "value"], shown, "settings"), kind="on-paper")
    versions = details("Versions", table(["library", "version"], used, "versions"), kind="on-paper")
    said = f"Seed {result['seed']}. The same data, settings, seed and versions give the same model."
    return section("settings", "How to make it again", paragraph(said), paragraph(_advice(result)), settings, versions)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_value(each) for each in value)
    return number(value) if isinstance(value, float) else short(value, 200)


def _advice(result: dict[str, Any]) -> str:
    """The theorem's advice; trees have none."""
    advice = result.get("advice")
    if not advice:
        return ""
    verdict = "enough" if advice["enough_samples"] else "fewer than that"
    needed, n = advice["needed_samples"], result["store"]["n_samples"]
    return f"The theorem asks for {needed:,} samples at signal to noise 2; {n:,} are {verdict}."
