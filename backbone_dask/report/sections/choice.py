"""How k and gamma, or the limits of a tree, were chosen, and what the exact solve proved."""

from __future__ import annotations

from typing import Any

from backbone_dask.report.charts.lines import Curve, curves
from backbone_dask.report.charts.steps import Plot, Steps, step_lines
from backbone_dask.report.facts.proof import Moment, around, ended_words, reach_words, trace, trace_words, worth_drawing
from backbone_dask.report.facts.validation import Curves, chosen_words, curve_name, cut_words, validation_curves
from backbone_dask.report.html import element, fact, paragraph, section, text
from backbone_dask.report.material import Material
from backbone_dask.report.numbers import duration, number, percent
from backbone_dask.report.sections.figure import figure


def validation_section(material: Material) -> str:
    """Errors of all that was tried; empty where nothing was to choose."""
    facts = validation_curves(material.result)
    if facts is None:
        return ""
    said = chosen_words(material.result)
    drawing = curves(
        [
            Curve(curve_name(facts, series), series.errors, emphasised=at == facts.chosen[0])
            for at, series in enumerate(facts.series)
        ],
        tuple(number(value, 2) for value in facts.values),
        facts.chosen[1],
        axes=(facts.over, facts.measure),
        called="validation",
        title=f"{facts.measure.capitalize()} over {facts.over}, for {len(facts.series)} values of {facts.by}",
        description=f"{said} {_error_words(facts)}",
    )
    caption = " ".join([f"{facts.measure.capitalize()}, less is better.", said, *cut_words(material.result)])
    head, rows = _tried(material.result)
    return section("validation", "How it was chosen", figure(drawing, caption, head, rows))


def _error_words(facts: Curves) -> str:
    return "" if facts.chosen_error is None else f"Its error is {number(facts.chosen_error)}."


def _tried(result: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Everything that was tried, the least error first."""
    settings = ["depth", "min_bucket", "complexity"] if "tree" in result else ["n_nonzero", "gamma"]
    named = {"min_bucket": "least leaf", "n_nonzero": "features"}
    points = sorted(result["validation"], key=lambda point: float(point["error"]))
    rows = [
        [
            *(fact(point[each], number(point[each], 3), each) for each in settings),
            fact(point["error"], number(point["error"]), "error"),
        ]
        for point in points
    ]
    return [*(named.get(each, each) for each in settings), "error"], rows


def proof_section(material: Material) -> str:
    """Objective, bound and gap on the backbone, and how to read them honestly."""
    result = material.result
    proven = result["reduced"]
    shown = [
        ("objective", result["objective"], number(result["objective"], 6), "objective"),
        ("lower bound on the backbone", proven["bound"], number(proven["bound"], 6), "bound"),
        ("gap on the backbone", proven["gap"], percent(proven["gap"]), "gap"),
    ]
    numbers = element("dl", *(_known(*each) for each in shown), class_="facts")
    read = [paragraph(each) for each in (ended_words(result), *reach_words(result))]
    return section("proof", "What is proven, and what is not", numbers, *read)


def _known(said: str, value: float, words: str, called: str) -> str:
    return element("div", element("dt", text(said)), element("dd", fact(value, words, called)))


def trace_section(material: Material) -> str:
    """Incumbent and bound over time; empty where the run kept none."""
    moments = trace(material.result)
    if not moments:
        return ""
    drawn, end = worth_drawing(moments), moments[-1].seconds
    lines = [Steps("best objective", "incumbent", [(each.seconds, each.objective) for each in drawn], end)]
    bounds = [(each.seconds, each.bound) for each in drawn if each.bound is not None]
    if bounds:
        lines.append(Steps("lower bound", "bound", bounds, end))
    off = " First guesses that were far off are in the numbers only." if len(drawn) < len(moments) else ""
    said = trace_words(moments) + off
    title = f"Best objective and lower bound over {duration(end)}"
    plot = Plot("seconds of the exact solve", around(moments[-1].objective), on_x=(0.0,))
    drawing = step_lines(lines, plot, "trace", title, said)
    head = ["seconds", "objective", "lower bound", "gap"]
    return section(
        "trace", "The exact solve over time", figure(drawing, said, head, [_moment(each) for each in moments])
    )


def _moment(moment: Moment) -> list[str]:
    bound = "" if moment.bound is None else fact(moment.bound, number(moment.bound, 6), "trace-bound")
    gap = "" if moment.gap is None else fact(moment.gap, percent(moment.gap), "trace-gap")
    objective = fact(moment.objective, number(moment.objective, 6), "trace-objective")
    return [fact(moment.seconds, f"{moment.seconds:.3g}", "trace-seconds"), objective, bound, gap]
