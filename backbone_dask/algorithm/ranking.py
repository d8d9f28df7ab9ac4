"""Top lists that merge: the best candidates of parts give the best of the whole, ties broken by id."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from backbone_dask.errors import InvalidDataError
from backbone_dask.values import CandidateIds, Ranking, Screening, Utilities


def top(ids: CandidateIds, utilities: Utilities, count: int) -> tuple[CandidateIds, Utilities]:
    """The `count` candidates of largest utility, by id; among equals the lowest ids win. Linear time."""
    if ids.size <= count:
        return ids, utilities
    cut = np.partition(utilities, -count)[-count]
    chosen = utilities > cut
    ties = np.flatnonzero(utilities == cut)
    chosen[ties[: count - np.count_nonzero(chosen)]] = True
    return ids[chosen], utilities[chosen]


def merge(rankings: Iterable[Ranking], count: int) -> Ranking:
    """The best `count` of disjoint rankings, whatever their order or number."""
    parts = list(rankings)
    ids = np.concatenate([np.empty(0, np.int64), *(part.candidates for part in parts)])
    utilities = np.concatenate([np.empty(0), *(part.utilities for part in parts)])
    order = np.argsort(ids)
    best, values = top(ids[order], utilities[order], count)
    return Ranking(best, values, sum(part.n_scored for part in parts), sum(part.n_constant for part in parts))


def survivors(ranking: Ranking) -> Screening:
    """The final ranking as the screening that the levels start from."""
    if not ranking.candidates.size:
        raise InvalidDataError(f"all {ranking.n_scored} features are constant; there is nothing to fit")
    return Screening(ranking.candidates, ranking.utilities, ranking.n_scored, ranking.n_constant)


def beyond(screening: Screening, chance: float) -> Screening:
    """The survivors of a higher utility than chance gives; the best one of all where none has."""
    above = screening.utilities > chance
    if not above.any():
        above[screening.utilities.argmax()] = True
    return replace(screening.restrict(screening.candidates[above]), chance=chance)
