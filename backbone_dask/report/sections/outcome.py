"""What explains what, how well, and how much of a known truth was found."""

from __future__ import annotations

from typing import Any

from backbone_dask.report.facts.losses import Recovery, recovery_facts
from backbone_dask.report.facts.quality import QUALITY
from backbone_dask.report.html import element, fact, name, paragraph, section, text
from backbone_dask.report.material import Material
from backbone_dask.report.numbers import duration, number, percent


def header(material: Material) -> str:
    """The page in a line, and the numbers that people ask for first."""
    result = material.result
    found, store = len(result["support"]["ids"]), result["store"]
    title = element("h1", *_title(found, store["n_features"], material.target))
    kind = {
        "regression": "Sparse linear regression",
        "classification": "Sparse logistic regression",
        "tree": "Decision tree",
    }
    origin = element(
        "p", text(f"{kind[result['task']]} on "), name(store["location"]), _constant(store), class_="origin"
    )
    return element("header", title, origin, element("dl", *_asked_first(result, found), class_="facts"))


def _title(found: int, n_features: int, target: str) -> tuple[str, ...]:
    chosen = fact(found, number(found), "n-chosen")
    of_all = fact(n_features, number(n_features), "n-features")
    verb = "explains" if found == 1 else "explain"
    if not found:
        return text("No feature of "), of_all, text(" explains "), name(target, 40)
    return chosen, text(" of "), of_all, text(f" features {verb} "), name(target, 40)


def _constant(store: dict[str, Any]) -> str:
    if not store["n_constant"]:
        return ""
    return text(f"; {store['n_constant']:,} of its columns are constant")


def _asked_first(result: dict[str, Any], found: int) -> list[str]:
    store = result["store"]
    quality = [
        (QUALITY.get(called, called), value, f"{value:.3f}", called) for called, value in result["training"].items()
    ]
    shown = [
        ("samples (n)", store["n_samples"], number(store["n_samples"]), "n-samples"),
        ("features (p)", store["n_features"], number(store["n_features"]), "p"),
        ("in the model (k)", found, number(found), "k"),
        *((f"{said}, training", value, words, called) for said, value, words, called in quality),
        *_proven(result),
        ("time", result["seconds"]["total"], duration(result["seconds"]["total"]), "total-seconds"),
    ]
    return [
        element("div", element("dt", text(said)), element("dd", fact(value, words, called)))
        for said, value, words, called in shown
    ]


def _proven(result: dict[str, Any]) -> list[tuple[str, float, str, str]]:
    """A local search proves next to nothing, which is no headline."""
    if result["settings"]["exact"] == "local-search":
        return []
    kinds = [
        ("gap on the backbone", "reduced", "headline-gap"),
        ("gap over all columns", "global", "headline-global-gap"),
    ]
    return [(said, result[of]["gap"], percent(result[of]["gap"]), name) for said, of, name in kinds if of in result]


def recovery_section(material: Material) -> str:
    """Empty where the truth is not known."""
    facts = recovery_facts(material)
    if facts is None:
        return ""
    shown = [
        ("found", facts.found, f"{number(facts.found)} of {number(facts.relevant)}", "n-found"),
        ("false alarms", facts.false_alarm, percent(facts.false_alarm), "false-alarm"),
        ("in the backbone", facts.in_backbone, percent(facts.in_backbone), "backbone-accuracy"),
    ]
    numbers = [element("div", element("dt", text(a)), element("dd", fact(b, c, d))) for a, b, c, d in shown]
    listed = element("dl", *numbers, class_="facts")
    meaning = (
        "The data were made, so it is known which features matter. False alarms are features in the model that do not."
    )
    return section(
        "recovery", "Recovery of the known truth", listed, paragraph(_lost(facts)), paragraph(meaning, "note")
    )


def _lost(facts: Recovery) -> str:
    if facts.found == facts.relevant:
        return f"All {number(facts.relevant)} relevant features are in the model."
    missing = facts.relevant - facts.found
    verb = "is" if missing == 1 else "are"
    said = f"{number(missing)} of {number(facts.relevant)} relevant features {verb} not in the model"
    if facts.lost_in_screen is None:
        return f"{said}."
    phases = (
        ("by the screen", facts.lost_in_screen),
        ("by the subproblems", facts.lost_in_levels),
        ("by the last fit", facts.lost_in_fit),
    )
    parts = [f"{number(count)} {phase}" for phase, count in phases if count]
    return f"{said}: lost {', '.join(parts)}."
