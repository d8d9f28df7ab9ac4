"""The bound over all columns, pass by pass."""

from __future__ import annotations

from backbone_dask.report.charts.steps import Plot, Steps, step_lines
from backbone_dask.report.facts.certificate import Priced, global_words, passes_words, priced
from backbone_dask.report.facts.proof import around
from backbone_dask.report.html import element, fact, paragraph, section, text
from backbone_dask.report.material import Material
from backbone_dask.report.numbers import number, percent
from backbone_dask.report.sections.figure import figure


def certificate_section(material: Material) -> str:
    """Bound and incumbent against passes; empty where all columns were not priced."""
    passes = priced(material.result)
    if not passes:
        return ""
    proven = material.result["global"]
    shown = [
        ("lower bound over all columns", proven["bound"], number(proven["bound"], 6), "global-bound"),
        ("gap over all columns", proven["gap"], percent(proven["gap"]), "global-gap"),
        ("passes over all columns", proven["passes"], number(proven["passes"]), "global-passes"),
    ]
    numbers = [element("div", element("dt", text(a)), element("dd", fact(b, c, d))) for a, b, c, d in shown]
    read = [paragraph(each) for each in global_words(material.result)]
    drawn = _figure(passes, passes_words(material.result))
    return section("certificate", "Proven over all columns", element("dl", *numbers, class_="facts"), drawn, *read)


def _figure(passes: tuple[Priced, ...], counted: str) -> str:
    end = passes[-1].number + 0.5
    lines = [
        Steps("best objective", "incumbent", [(float(each.number), each.objective) for each in passes], end),
        Steps("lower bound over all columns", "bound", [(float(each.number), each.bound) for each in passes], end),
    ]
    said = f"After {counted} over all columns the gap over all columns is {percent(passes[-1].gap)}."
    plot = Plot("pass over all columns", around(passes[-1].objective), 1.0)
    drawing = step_lines(lines, plot, "passes", f"Best objective and lower bound over {counted}", said)
    head = ["pass", "objective", "lower bound", "gap", "columns that came in"]
    return figure(drawing, said, head, [_row(each) for each in passes])


def _row(each: Priced) -> list[str]:
    return [
        fact(each.number, number(each.number), "pass"),
        fact(each.objective, number(each.objective, 6), "pass-objective"),
        fact(each.bound, number(each.bound, 6), "pass-bound"),
        fact(each.gap, percent(each.gap), "pass-gap"),
        fact(each.entering, number(each.entering), "pass-entering"),
    ]
