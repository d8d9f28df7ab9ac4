"""A result in words: the page that a person reads."""

from __future__ import annotations

from typing import Any

from backbone_dask.report.facts.advice import advice_words
from backbone_dask.report.facts.certificate import global_words, passes_words
from backbone_dask.report.facts.chance import chance_words
from backbone_dask.report.facts.cost import memory_words, traffic_words
from backbone_dask.report.facts.proof import gap_words
from backbone_dask.report.facts.quality import QUALITY
from backbone_dask.report.facts.validation import chosen_words, cut_words, measure
from backbone_dask.report.model_table import model_table
from backbone_dask.report.tree_summary import tree_model, tree_proof, tree_validation

FORMAT = 2
"""Of the result that is read here."""


def summary(result: dict[str, Any], letters: int | None = None) -> str:
    """The result as Markdown, readable in a terminal as it is; names in the table of the model have so many letters."""
    if "tree" in result:
        own = [tree_model(result), _recovery(result), tree_proof(result), tree_validation(result)]
    else:
        own = [
            model_table(result, letters),
            _recovery(result),
            _proof(result),
            _over_all(result),
            _advice(result),
            _validation(result),
        ]
    parts = [_headline(result), *own, _levels(result), _times(result), _cost(result)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _headline(result: dict[str, Any]) -> str:
    store, found = result["store"], len(result["support"]["ids"])
    constant = f" ({store['n_constant']} of them constant)" if store["n_constant"] else ""
    return (
        f"# {found} of {store['n_features']:,} features{constant} explain {store['n_samples']:,} samples\n\n"
        f"{store['location']}: {result['task']}, on the training samples {_quality(result['training'])}, "
        f"backbone of {len(result['backbone'])} features, seed {result['seed']}"
    )


def _quality(training: dict[str, float]) -> str:
    return ", ".join(f"{QUALITY[name]} {value:.3f}" for name, value in training.items())


def _recovery(result: dict[str, Any]) -> str:
    if "recovery" not in result:
        return ""
    known = result["recovery"]
    return (
        "## Recovery of the known truth\n\n"
        f"{known['n_found']} of {known['n_relevant']} relevant features found (accuracy {known['accuracy']:.3f}), "
        f"false alarms {known['false_alarm']:.3f}, in the backbone {known['backbone_accuracy']:.3f}"
        + (
            f"; {known['fraction_relevant']:.1%} of the features used are relevant"
            if "fraction_relevant" in known
            else ""
        )
    )


def _proof(result: dict[str, Any]) -> str:
    return (
        "## Proof for the reduced problem\n\n"
        f"objective {result['objective']:.6g}, lower bound {result['reduced']['bound']:.6g}: "
        f"certified gap on the backbone {result['reduced']['gap']:.4%} ({_ended(result)}). {gap_words(result)}"
    )


def _over_all(result: dict[str, Any]) -> str:
    if "global" not in result:
        return ""
    proven = result["global"]
    return (
        f"## Proof over all {result['store']['n_features']:,} columns\n\n"
        f"objective {result['objective']:.6g}, lower bound over all columns {proven['bound']:.6g}: "
        f"gap over all columns {proven['gap']:.4%} after {passes_words(result)}. {' '.join(global_words(result))}"
    )


def _ended(fit: dict[str, Any]) -> str:
    return str(fit["termination"]).replace("_", " ")


def _advice(result: dict[str, Any]) -> str:
    said = advice_words(result)
    return f"## Samples\n\n{said}" if said else ""


def _validation(result: dict[str, Any]) -> str:
    if not result["validation"]:
        return ""
    rows = [
        f"| {point['n_nonzero']} | {point['gamma']:.3g} | {point['error']:.6g} | {point['gap']:.2%} | {_ended(point)} |"
        for point in result["validation"]
    ]
    head = [f"| features | gamma | {measure(result)} | largest gap | ended |", "| ---: | ---: | ---: | ---: | :--- |"]
    return "\n".join(["## Validation", "", *head, *rows, "", chosen_words(result), *cut_words(result)])


def _levels(result: dict[str, Any]) -> str:
    rows = [
        f"| {at} | {level['candidates']} | {level['solved']} of {level['planned']} "
        f"| {level['coverage']:.1%} | {level['backbone']} |"
        for at, level in enumerate(result["levels"])
    ]
    head = ["| level | candidates | subproblems | coverage | backbone |", "| ---: | ---: | ---: | ---: | ---: |"]
    return "\n".join(["## Levels", "", *head, *rows, *_chance(result)])


def _chance(result: dict[str, Any]) -> list[str]:
    screen = result.get("screen", {})
    return ["", f"{screen['survivors']:,} survived the screen: {chance_words(screen)}."] if "chance" in screen else []


def _times(result: dict[str, Any]) -> str:
    rows = [f"| {phase} | {seconds:.2f} |" for phase, seconds in result["seconds"].items()]
    return "\n".join(["## Time", "", "| phase | seconds |", "| :--- | ---: |", *rows])


def _cost(result: dict[str, Any]) -> str:
    said = " ".join(filter(None, (memory_words(result), traffic_words(result))))
    return f"## Memory and data\n\n{said}"
