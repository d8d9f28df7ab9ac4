"""The model: in words, as a table, and as a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.report.charts.bars import Bar, linear_bars
from backbone_dask.report.charts.dots import Dot, effect_dots
from backbone_dask.report.charts.frame import NAME_LETTERS
from backbone_dask.report.facts.ridge import WITHOUT, ridge_words
from backbone_dask.report.facts.rules import Rule, rules
from backbone_dask.report.facts.terms import Term, free_terms, terms, with_short_names
from backbone_dask.report.facts.words import odds_words, regression_words
from backbone_dask.report.html import (
    details,
    distinct,
    element,
    fact,
    paragraph,
    section,
    short,
    table,
    text,
    whole_name,
)
from backbone_dask.report.material import Material
from backbone_dask.report.numbers import number, percent
from backbone_dask.report.sections.figure import figure
from backbone_dask.report.tree_svg import tree_picture

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
    shown = [_cells(term) for term in found]
    free = [
        [whole_name(called), fact(value, number(value), "free"), "", ""]
        for called, value in free_terms(material.result)
    ]
    head = ["feature", f"coefficient ({unit})", "per standard deviation", WITHOUT]
    listed = table(*without_empty(head, [*shown, *free]), "model")
    ridge = paragraph(ridge_words(material.result), "note")
    wide = any(len(term.name) > _LETTERS for term in found)
    return section("model", "The model", paragraph(said, "lead"), ridge, listed, wide=wide)


def _cells(term: Term) -> list[str]:
    known = [(term.coefficient, "coefficient"), (term.effect, "effect"), (term.unpenalised, "unpenalised")]
    numbers = ["" if value is None else fact(value, number(value), called) for value, called in known]
    return [whole_name(term.name), *numbers]


def without_empty(head: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Only the columns that have something to say."""
    kept = [at for at in range(len(head)) if any(row[at] for row in rows)]
    return [head[at] for at in kept], [[row[at] for at in kept] for row in rows]


def _effects(material: Material, found: tuple[Term, ...]) -> str:
    shown = [term for term in found[:_DRAWN] if term.effect is not None]
    if not shown:
        return ""
    unit = "log odds" if material.labels else short(material.target, _LETTERS // 2)
    cut = with_short_names(shown, NAME_LETTERS)
    strongest = ", ".join(
        f"{term.name} {number(term.effect or 0.0, 3)}" for term in with_short_names(shown, _LETTERS)[:5]
    )
    drawing = effect_dots(
        [Dot(term.name, term.effect or 0.0) for term in cut],
        f"{unit} per standard deviation",
        "effects",
        f"Effect of one standard deviation of {len(shown)} of {len(found)} features",
        f"The strongest: {strongest}.",
    )
    of_all = f"The {len(shown)} strongest of {len(found)} features. " if len(found) > len(shown) else ""
    numbered = _numbered([term.name for term in shown], [term.name for term in cut])
    caption = f"{of_all}A standard deviation makes features with different units comparable.{numbered}"
    rows = [[whole_name(term.name), fact(term.effect or 0.0, number(term.effect or 0.0), "drawn")] for term in shown]
    return section("effects", "What matters most", figure(drawing, caption, ["feature", "effect"], rows))


def _numbered(names: Sequence[str], shown: Sequence[str]) -> str:
    """What the numbers behind names mean, where there are some."""
    plain = [short(each, NAME_LETTERS) for each in names]
    return "" if plain == list(shown) else " Names that look alike when cut carry the number of their column."


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
    asked = " and ".join(map(str, rule.conditions))
    said = f"{short(target, _LETTERS)} = {short(rule.label, _LETTERS)}"
    weight = fact(rule.weight, number(rule.weight), "rule-weight")
    share = fact(rule.share, percent(rule.share), "rule-share")
    condition = f"If {text(asked)}: " if asked else "Always: "
    return element("li", condition, element("strong", text(said)), f" ({share} of {weight} samples)")


def _importances(material: Material, model: TreeModel) -> str:
    short_names = distinct(model.names, model.ids.tolist(), NAME_LETTERS)
    called = zip(model.names, short_names, strict=True)
    shares = sorted(zip(material.result["importances"], called, strict=True), key=lambda each: -each[0])
    if not shares:
        return ""
    bars = [Bar(cut, share, percent(share)) for share, (_, cut) in shares[:_DRAWN]]
    said = ", ".join(f"{bar.name} {bar.said}" for bar in bars[:5])
    drawing = linear_bars(bars, "importances", f"Part of {len(bars)} features in the tree", f"The largest: {said}.")
    rows = [[whole_name(whole), fact(share, percent(share), "importance")] for share, (whole, _) in shares]
    cut = short_names != model.names
    caption = f"The share of each feature in the fall of the Gini impurity.{_numbered(model.names, short_names)}"
    # Paper has no other place for the names that are cut everywhere else.
    drawn = figure(drawing, caption, ["feature", "part"], rows, kind="on-paper" if cut else None)
    return section("importances", "What matters most", drawn)


def _drawn(material: Material, model: TreeModel) -> str:
    labels = [short(label, _LETTERS) for label in material.labels]
    picture = tree_picture(replace(model, names=fitting_names(model)), labels)
    # It shrinks a little to fit, and scrolls where that would be too little to read.
    fits = f"--natural: {picture.width:.0f}px"
    whole = element(
        "div", picture.svg, class_="scroll tree", tabindex=0, role="region", aria_label="The tree", style=fits
    )
    as_text = details("The tree as text", element("pre", text_lines(material.result["text"])))
    return section("tree", "The tree", whole, as_text, wide=True)


def fitting_names(model: TreeModel) -> tuple[str, ...]:
    """Names that do not make boxes as wide as the page, and still tell features apart; the table has them whole."""
    return distinct(model.names, model.ids.tolist(), _LETTERS)


def text_lines(whole: str) -> str:
    """Lines stay lines."""
    return "\n".join(text(each) for each in whole.splitlines())
