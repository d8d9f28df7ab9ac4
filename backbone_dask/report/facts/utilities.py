"""How the survivors of the screen ranked, and where the chosen ones stood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backbone_dask.report.material import Material
from backbone_dask.values import Screening

MOST_POINTS = 240

Points = tuple[tuple[int, float], ...]
"""Ranks, the best being 1, with utilities."""


@dataclass(frozen=True, slots=True)
class RankedUtilities:
    """Utilities by rank: the curve at some ranks, and exactly at those in the backbone, chosen, or overlooked.

    `overlooked` are relevant survivors that are not in the model, where the truth is known.
    """

    n_survivors: int
    curve: Points
    backbone: Points
    chosen: Points
    overlooked: Points


def ranked_utilities(material: Material) -> RankedUtilities | None:
    """None where the run has no survivors on file."""
    screening, result = material.screening, material.result
    if screening is None or not screening.candidates.size:
        return None
    order = np.lexsort((screening.candidates, -screening.utilities))
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(1, order.size + 1)
    chosen = result["support"]["ids"]
    relevant = result.get("recovery", {}).get("relevant", [])
    return RankedUtilities(
        n_survivors=int(order.size),
        curve=_curve(screening.utilities[order]),
        backbone=_placed(screening, ranks, np.setdiff1d(result["backbone"], chosen)),
        chosen=_placed(screening, ranks, chosen),
        overlooked=_placed(screening, ranks, np.setdiff1d(relevant, chosen)),
    )


def _curve(falling: np.ndarray) -> Points:
    """The curve at ranks whose logarithms are evenly spread; the first and the last are among them."""
    at = np.unique(np.geomspace(1, falling.size, MOST_POINTS).round().astype(np.int64))
    return tuple(zip(at.tolist(), falling[at - 1].tolist(), strict=True))


def _placed(screening: Screening, ranks: np.ndarray, ids: Sequence[int] | np.ndarray) -> Points:
    there = np.isin(screening.candidates, np.asarray(ids, np.int64))
    found = zip(ranks[there].tolist(), screening.utilities[there].tolist(), strict=True)
    return tuple(sorted(found))
