"""The features of a linear model, the strongest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from backbone_dask.report.html import distinct


@dataclass(frozen=True, slots=True)
class Term:
    """A feature in the model; `effect` is what one standard deviation of it does, where that is known.

    `unpenalised` is the coefficient that it would have without a ridge, where that is known.
    """

    id: int
    name: str
    coefficient: float
    effect: float | None
    unpenalised: float | None = None

    @property
    def strength(self) -> float:
        return abs(self.coefficient if self.effect is None else self.effect)


def terms(result: dict[str, Any]) -> tuple[Term, ...]:
    """By the effect of a standard deviation, or by coefficient in runs that do not know it; of equals the first."""
    ids, names, coefficients = result["support"]["ids"], result["support"]["names"], result["coefficients"]
    scales = result.get("scales") or [None] * len(ids)
    effects = [None if scale is None else c * scale for c, scale in zip(coefficients, scales, strict=True)]
    without = result.get("unpenalised") or [None] * len(ids)
    found = [Term(*each) for each in zip(ids, names, coefficients, effects, without, strict=True)]
    return tuple(sorted(found, key=lambda term: -term.strength))


def free_terms(result: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    """What is in the model without being chosen: the intercept and the covariates."""
    covariates = result["covariates"]
    beside = covariates["beside"]
    names = covariates.get("names") or [f"covariate {at}" for at in range(len(beside))]
    tied = covariates["features"].items()
    return (("intercept", result["intercept"]), *tied, *zip(names, beside, strict=True))


def with_short_names(found: Sequence[Term], most: int) -> tuple[Term, ...]:
    """The same with names of at most so many letters, all different."""
    names = distinct([term.name for term in found], [term.id for term in found], most)
    return tuple(replace(term, name=name) for term, name in zip(found, names, strict=True))
