"""What is proven over all columns, pass by pass, and what the bound would need to be better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backbone_dask.certificate import LEAST_ADVISED, relative_gap
from backbone_dask.report.numbers import duration, number, percent

_ENDED = {
    "tolerance": "Pricing stopped because this is within the tolerance of {tolerance}.",
    "no_column_left": "No column is left that would improve it: more passes prove nothing more.",
    "pass_limit": "Pricing stopped after {passes}, while columns still came in: more passes may prove more.",
    "column_limit": "Pricing stopped at its limit of {columns} columns, while more still came in.",
    "time_limit": "Pricing stopped at its limit of {seconds}, while columns still came in.",
}


@dataclass(frozen=True, slots=True)
class Priced:
    """The best bound and objective after one pass over all columns, and how many columns it brought in."""

    number: int
    objective: float
    bound: float
    gap: float
    entering: int


def priced(result: dict[str, Any]) -> tuple[Priced, ...]:
    """The passes of a run; none where all columns were not priced."""
    kept = result.get("global", {}).get("trace", [])
    return tuple(
        Priced(at, each["objective"], each["bound"], relative_gap(each["objective"], each["bound"]), each["entering"])
        for at, each in enumerate(kept, start=1)
    )


def global_words(result: dict[str, Any]) -> tuple[str, ...]:
    """What the bound over all columns compares the model with, why it is not better, and what pricing brought."""
    limits = f"at most {result['n_nonzero']:,} features, and gamma {number(result['gamma'], 3)}"
    first = (
        f"This gap compares the model with the best that is possible with any of the {result['store']['n_features']:,} "
        f"columns, {limits}; columns that the screen or the subproblems dropped are among them, constant ones are not."
    )
    return (first, _ended(result), *_weak(result), *_brought(result))


def passes_words(result: dict[str, Any]) -> str:
    count = result["global"]["passes"]
    return f"{count} pass" if count == 1 else f"{count} passes"


def _ended(result: dict[str, Any]) -> str:
    asked = result["global"]["asked"]
    seconds = duration(asked["seconds"]) if asked["seconds"] is not None else ""
    return _ENDED[result["global"]["ended"]].format(
        tolerance=percent(asked["tolerance"]),
        passes=passes_words(result),
        columns=f"{asked['columns']:,}",
        seconds=seconds,
    )


def _weak(result: dict[str, Any]) -> tuple[str, ...]:
    """A bound by relaxation is weak where the ridge is."""
    proven, would = result["global"], max(result["global"]["asked"]["tolerance"], LEAST_ADVISED)
    left = relative_gap(result["objective"], proven["relaxed"])
    if min(left, proven["gap"]) <= would:
        return ()
    return (
        f"The bound is weak because gamma is large: at gamma {number(result['gamma'], 3)} bounds of this kind leave at "
        f"least {percent(left)}, however many passes there are. {_advised(proven['advised_gamma'], percent(would))} "
        "A wide gap does not mean that the model is bad.",
    )


def _advised(gamma: float | None, gap: str) -> str:
    if gamma is None:
        return f"No gamma was found at which the columns looked at so far would leave {gap}."
    return f"At a gamma of about {number(gamma, 2)} the columns looked at so far would leave {gap}."


def _brought(result: dict[str, Any]) -> tuple[str, ...]:
    """What was priced into the backbone, and into the model."""
    joined, used = len(result["global"]["priced"]), len(result["global"]["support"])
    if not joined:
        return ("No column had to join the backbone.",)
    columns = "column" if joined == 1 else "columns"
    return (f"{joined:,} {columns} joined the backbone by price, {used:,} of them in the model.",)
