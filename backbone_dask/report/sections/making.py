"""What the run cost, and how to make it again."""

from __future__ import annotations

from typing import Any

from backbone_dask.report.charts.bars import Bar, linear_bars
from backbone_dask.report.facts.advice import advice_words, again_words
from backbone_dask.report.facts.cost import memory_words, traffic_words
from backbone_dask.report.html import details, fact, name, paragraph, section, short, table, text
from backbone_dask.report.material import Material
from backbone_dask.report.numbers import duration, number
from backbone_dask.report.sections.figure import figure

_MEANING = {
    "validation": "choosing by validation",
    "screen": "screening every column",
    "compact": "gathering the survivors",
    "levels": "solving subproblems",
    "extend": "pricing what the tree lacks",
    "reduced": "solving the reduced problem",
    "certify": "pricing all columns, and solving again with those that came in",
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
    return section(
        "times", "Time, memory, traffic", drawn, *map(paragraph, (memory_words(result), traffic_words(result)))
    )


def _resumed(restarts: int) -> str:
    if not restarts:
        return ""
    times = "once" if restarts == 1 else f"{restarts} times"
    return f" The run was resumed {times}: these are the times of the last process only."


def settings_section(material: Material) -> str:
    """Seed, settings and versions, and whether the same ones make the same model."""
    result = material.result
    shown = [[text(called), name(_value(value), 120)] for called, value in result["settings"].items()]
    used = [[text(called), text(version)] for called, version in result["versions"].items()]
    settings = details("All settings", table(["setting", "value"], shown, "settings"), kind="on-paper")
    versions = details("Versions", table(["library", "version"], used, "versions"), kind="on-paper")
    said = [paragraph(each) for each in (f"Seed {result['seed']}. {again_words(result)}", advice_words(result)) if each]
    return section("settings", "How to make it again", *said, settings, versions)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_value(each) for each in value)
    return number(value) if isinstance(value, float) else short(value, 200)
