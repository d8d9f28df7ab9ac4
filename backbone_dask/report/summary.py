"""A result in words: the page that a person reads."""

from __future__ import annotations

from typing import Any

from backbone_dask.report.tree_summary import tree_model, tree_proof, tree_validation

FORMAT = 1
"""Of the result that is read here."""


def summary(result: dict[str, Any]) -> str:
    """The result as Markdown, readable in a terminal as it is."""
    if "tree" in result:
        own = [tree_model(result), _recovery(result), tree_proof(result), tree_validation(result)]
    else:
        own = [_model(result), _recovery(result), _proof(result), _advice(result), _validation(result)]
    parts = [_headline(result), *own, _levels(result), _times(result), _traffic(result)]
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
    words = {"r2": "R2", "auc": "AUC", "accuracy": "accuracy"}
    return ", ".join(f"{words[name]} {value:.3f}" for name, value in training.items())


def _model(result: dict[str, Any]) -> str:
    # A bar in a name would end its cell.
    names = [name.replace("|", "\\|") for name in result["support"]["names"]]
    width = max([len("intercept"), *map(len, names)])
    order = sorted(range(len(names)), key=lambda at: -abs(result["coefficients"][at]))
    rows = [f"| {names[at]:{width}} | {result['coefficients'][at]:>12.5g} |" for at in order]
    head = [f"| {'feature':{width}} |  coefficient |", f"| {'-' * width} | -----------: |"]
    free = [("intercept", result["intercept"]), *_covariates(result["covariates"])]
    tail = [f"| {name:{width}} | {value:>12.5g} |" for name, value in free]
    return "\n".join(["## Model", "", *head, *rows, *tail, *_classes(result)])


def _classes(result: dict[str, Any]) -> list[str]:
    labels = result.get("labels", ())
    return ["", f"The sum is the log odds of {labels[1]} against {labels[0]}."] if len(labels) == 2 else []


def _covariates(covariates: dict[str, Any]) -> list[tuple[str, float]]:
    beside = covariates["beside"]
    names = covariates.get("names") or [f"covariate {at}" for at in range(len(beside))]
    free = [*covariates["features"].items(), *zip(names, beside, strict=True)]
    return [(name.replace("|", "\\|"), value) for name, value in free]


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
        f"objective {result['objective']:.6g}, lower bound {result['bound']:.6g}: "
        f"certified gap {result['gap']:.4%} ({_ended(result)})"
    )


def _ended(fit: dict[str, Any]) -> str:
    return str(fit["termination"]).replace("_", " ")


def _advice(result: dict[str, Any]) -> str:
    advice, n = result["advice"], result["store"]["n_samples"]
    verdict = "enough" if advice["enough_samples"] else "fewer than that"
    return (
        "## Samples\n\n"
        f"The theorem asks for {advice['needed_samples']:,} samples at signal to noise 2; {n:,} are {verdict}."
    )


def _validation(result: dict[str, Any]) -> str:
    if not result["validation"]:
        return ""
    rows = [
        f"| {point['n_nonzero']} | {point['gamma']:.3g} | {point['error']:.6g} | {point['gap']:.2%} | {_ended(point)} |"
        for point in result["validation"]
    ]
    head = ["| features | gamma | error | largest gap | ended |", "| ---: | ---: | ---: | ---: | :--- |"]
    chosen = f"Chosen: {result['n_nonzero']} features, gamma {result['gamma']:.3g}."
    return "\n".join(["## Validation", "", *head, *rows, "", chosen, *_cut(result["validation"])])


def _cut(points: list[dict[str, Any]]) -> list[str]:
    cut = sum(point["termination"] == "time_limit" for point in points)
    if not cut:
        return []
    return [
        f"The time limit cut {cut} of {len(points)} points: another machine, or another run, may choose otherwise; "
        "a longer time limit or fewer points make the choice repeatable."
    ]


def _levels(result: dict[str, Any]) -> str:
    rows = [
        f"| {at} | {level['candidates']} | {level['solved']} of {level['planned']} "
        f"| {level['coverage']:.1%} | {level['backbone']} |"
        for at, level in enumerate(result["levels"])
    ]
    head = ["| level | candidates | subproblems | coverage | backbone |", "| ---: | ---: | ---: | ---: | ---: |"]
    return "\n".join(["## Levels", "", *head, *rows])


def _times(result: dict[str, Any]) -> str:
    rows = [f"| {phase} | {seconds:.2f} |" for phase, seconds in result["seconds"].items()]
    return "\n".join(["## Time", "", "| phase | seconds |", "| :--- | ---: |", *rows])


def _traffic(result: dict[str, Any]) -> str:
    known = result.get("traffic")
    if not known:
        return ""
    kept = f", {_size(known['bytes_from_cache'])} from memory" if known["bytes_from_cache"] else ""
    return (
        "## Data\n\n"
        f"{_size(known['bytes_read'])} read{kept}, {_size(known['bytes_moved'])} moved between workers; "
        f"{known['tasks_at_home']:,} of {known['tasks_placed']:,} tasks ran where their data were."
    )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.2f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.1f} MB"
