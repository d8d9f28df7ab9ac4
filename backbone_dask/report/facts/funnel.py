"""How many features are left after each phase."""

from __future__ import annotations

from dataclasses import dataclass

from backbone_dask.report.material import Material


@dataclass(frozen=True, slots=True)
class Stage:
    """What remains, how many of them, and what that means."""

    name: str
    count: int
    meaning: str


def funnel(material: Material) -> tuple[Stage, ...]:
    """From all features to those of the model."""
    result = material.result
    first = result["levels"][0]
    survivors = first["candidates"] if material.screening is None else int(material.screening.candidates.size)
    examined = round(first["coverage"] * first["candidates"])
    return (
        Stage("features", result["store"]["n_features"], "columns of the table"),
        Stage("screened", survivors, "survivors of the screen, which looks at each column by itself"),
        Stage("sampled", examined, "survivors that some subproblem examined together with others"),
        Stage("backbone", len(result["backbone"]), "found relevant, and given to the exact solve"),
        Stage("support", len(result["support"]["ids"]), "in the model"),
    )
