"""The features of a linear model, the strongest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Term:
    """A feature in the model; `effect` is what one standard deviation of it does, where that is known."""

    id: int
    name: str
    coefficient: float
    effect: float | None

    @property
    def strength(self) -> float:
        return abs(self.coefficient if self.effect is None else self.effect)


def terms(result: dict[str, Any]) -> tuple[Term, ...]:
    """By the effect of a standard deviation, or by coefficient in runs that do not know it; of equals the first."""
    ids, names, coefficients = result["support"]["ids"], result["support"]["names"], result["coefficients"]
    scales = result.get("scales") or [None] * len(ids)
    effects = [None if scale is None else c * scale for c, scale in zip(coefficients, scales, strict=True)]
    found = [Term(*each) for each in zip(ids, names, coefficients, effects, strict=True)]
    return tuple(sorted(found, key=lambda term: -term.strength))


def free_terms(result: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    """What is in the model without being chosen: the intercept and the covariates."""
    covariates = result["covariates"]
    beside = covariates["beside"]
    names = covariates.get("names") or [f"covariate {at}" for at in range(len(beside))]
    tied = covariates["features"].items()
    return (("intercept", result["intercept"]), *tied, *zip(names, beside, strict=True))
