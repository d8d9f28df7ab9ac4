"""The model: in words, as a table, and as a drawing."""

from __future__ import annotations

from dataclasses import replace

from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.report.charts.bars import Bar, linear_bars
from backbone_dask.report.charts.dots import Dot, effect_dots
from backbone_dask.report.facts.rules import Rule, rules
from backbone_dask.report.facts.terms import Term, free_terms, terms
from backbone_dask.report.facts.words import odds_words, regression_words
from backbone_dask.report.html import details, element, fact, name, paragraph, section, short, table, text
from backbone_dask.report.material import Material
from backbone_dask.report.numbers import number, percent
from backbone_dask.report.sections.figure import figure
from backbone_dask.report.tree_svg import tree_svg

_DRAWN, _RULES, _LETTERS = 25, 6, 24


def model_sections(material: Material) -> list[str]:
    """What the model is, for either kind."""
    if isinstance(material.model, TreeModel):
        return _tree(material, material.model)
    found = terms(material.result)
    return [_linear(material, found), _effects(material, found)]


def _linear(material: Material, found: tuple[Term, ...]) -> str:
    target = material.target
    if material.labels:
        said, unit = odds_words(target, material.labels[1], found), "log odds per unit"
    else:
        said, unit = regression_words(target, found), "per unit"
    rows = [
        [name(term.name), fact(term.coefficient, number(term.coefficient), "coefficient"), _effect(term)]
        for term in found
    ]
    free = [[name(called), fact(value, number(value), "free"), ""] for called, value in free_terms(material.result)]
    listed = table(["feature", f"coefficient ({unit})", "per standard deviation"], [*rows, *free], "model")
    return section("model", "The model", paragraph(said, "lead"), listed)


def _effect(term: Term) -> str:
    return "" if term.effect is None else fact(term.effect, number(term.effect), "effect")


def _effects(material: Material, found: tuple[Term, ...]) -> str:
    shown = [term for term in found[:_DRAWN] if term.effect is not None]
    if not shown:
        return ""
    unit = "log odds" if material.labels else short(material.target, _LETTERS // 2)
    strongest = ", ".join(f"{short(term.name, _LETTERS)} {number(term.effect or 0.0, 3)}" for term in shown[:5])
    drawing = effect_dots(
        [Dot(term.name, term.effect or 0.0) for term in shown],
        f"{unit} per standard deviation",
        "effects",
        f"Effect of one standard deviation of {len(shown)} of {len(found)} features",
        f"The strongest: {strongest}.",
    )
    of_all = f"The {len(shown)} strongest of {len(found)} features. " if len(found) > len(shown) else ""
    caption = f"{of_all}A standard deviation makes features with different units comparable."
    rows = [[name(term.name), fact(term.effect or 0.0, number(term.effect or 0.0), "drawn")] for term in shown]
    return section("effects", "What matters most", figure(drawing, caption, ["feature", "effect"], rows))


def _tree(material: Material, model: TreeModel) -> list[str]:
    found = rules(replace(model, names=fitting_names(model)), material.labels)
    lead = f"A tree of depth {material.result['depth']} with {material.result['n_splits']} splits."
    if not model.ids.size:
        lead = f"No split is worth it: the tree predicts {material.target} = {found[0].label} for every sample."
    listed = [_rule(rule, material.target) for rule in found]
    shown = element("ul", *listed[:_RULES], class_="rules")
    more = details(f"{len(found) - _RULES} more rules", element("ul", *listed[_RULES:], class_="rules"))
    rest = more if len(found) > _RULES else ""
    words = section("model", "The model", paragraph(lead, "lead"), shown, rest)
    return [words, _importances(material, model), _drawn(material, model)]


def _rule(rule: Rule, target: str) -> str:
    asked = " and ".join(rule.conditions).replace(" <= ", " ≤ ")
    said = f"{short(target, _LETTERS)} = {short(rule.label, _LETTERS)}"
    weight = fact(rule.weight, number(rule.weight), "rule-weight")
    share = fact(rule.share, percent(rule.share), "rule-share")
    condition = f"If {text(asked)}: " if asked else "Always: "
    return element("li", condition, element("strong", text(said)), f" ({share} of {weight} samples)")


def _importances(material: Material, model: TreeModel) -> str:
    shares = sorted(zip(material.result["importances"], model.names, strict=True), key=lambda each: -each[0])
    if not shares:
        return ""
    bars = [Bar(called, share, percent(share)) for share, called in shares[:_DRAWN]]
    said = ", ".join(f"{short(bar.name, _LETTERS)} {bar.said}" for bar in bars[:5])
    drawing = linear_bars(bars, "importances", f"Part of {len(bars)} features in the tree", f"The largest: {said}.")
    rows = [[name(called), fact(share, percent(share), "importance")] for share, called in shares]
    caption = "The share of each feature in the fall of the Gini impurity."
    return section("importances", "What matters most", figure(drawing, caption, ["feature", "part"], rows))


def _drawn(material: Material, model: TreeModel) -> str:
    svg = tree_svg(replace(model, names=fitting_names(model)), [short(label, _LETTERS) for label in material.labels])
    # It shrinks a little to fit, and scrolls where that would be too little to read.
    natural = svg.split('width="', 1)[1].split('"', 1)[0]
    fits = f"--natural: {natural}px"
    whole = element("div", svg, class_="scroll tree", tabindex=0, role="region", aria_label="The tree", style=fits)
    as_text = details("The tree as text", element("pre", text_lines(material.result["text"])))
    return section("tree", "The tree", whole, as_text, wide=True)


def fitting_names(model: TreeModel) -> tuple[str, ...]:
    """Names that do not make boxes as wide as the page, and still tell features apart; the table has them whole."""
    cut = [short(each, _LETTERS) for each in model.names]
    return tuple(
        each if cut.count(each) == 1 else f"{short(each, _LETTERS // 2)} (column {at})"
        for each, at in zip(cut, model.ids.tolist(), strict=True)
    )


def text_lines(whole: str) -> str:
    """Lines stay lines."""
    return "\n".join(text(each) for each in whole.splitlines())
