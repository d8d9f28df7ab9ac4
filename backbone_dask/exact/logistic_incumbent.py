"""Good supports for logistic loss: a quadratic model proposes swaps, the true objective accepts them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.linalg import LinAlgError

from backbone_dask.exact.gram import Gram, Positions
from backbone_dask.exact.incumbent import cheapest
from backbone_dask.exact.logistic_data import Incumbent, LogisticData
from backbone_dask.exact.logistic_model import Metric

_LEAST_FALL = 1e-10
"""Relative to the objective: a smaller fall may be rounding."""
_TRIED = 5
"""Single swaps that are tried when the model's own descent leads nowhere."""


def truncate(data: LogisticData, support: Positions, n_nonzero: int) -> Incumbent:
    """The fit on a support, after the features that cost least were dropped, by and by, down to n_nonzero."""
    found = data.evaluate(np.unique(support))
    while found.support.size > n_nonzero:
        found = data.evaluate(np.delete(found.support, cheapest(data.costs(found), n_nonzero)), found)
    return found


def improve(data: LogisticData, support: Positions, n_nonzero: int, deadline: float) -> Incumbent:
    """Descend from a support until no proposed support is better, or time is up."""
    best = truncate(data, support, n_nonzero)
    while time.monotonic() < deadline:
        found = _improved(data, best, n_nonzero)
        if found is None:
            return best
        best = found
    return best


def _improved(data: LogisticData, best: Incumbent, n_nonzero: int) -> Incumbent | None:
    for support in _proposals(data, best, n_nonzero):
        found = data.evaluate(support, best)
        if found.objective < best.objective * (1 - _LEAST_FALL):
            return found
    return None


def _proposals(data: LogisticData, best: Incumbent, n_nonzero: int) -> Iterator[Positions]:
    """What the quadratic model at the fit thinks best, then single steps."""
    gram = quadratic_model(data, best)
    try:
        support = data.descend(gram, best, n_nonzero)
        if not np.array_equal(support, best.support):
            yield support
    except LinAlgError:
        pass
    if best.support.size < n_nonzero:
        yield _with_the_steepest(data, best)
    else:
        yield from neighbours(data, gram, best, n_nonzero, _TRIED)


def quadratic_model(data: LogisticData, found: Incumbent) -> Gram:
    """The loss at a fit as a squared one."""
    return Metric.at(data, found.fit.predictor).gram(data, found.fit.predictor)


def neighbours(data: LogisticData, gram: Gram, found: Incumbent, n_nonzero: int, count: int) -> list[Positions]:
    """The supports one swap away that cost least by the quadratic model, best first; none where it has no minimum."""
    try:
        return data.neighbours(gram, found, n_nonzero, count)
    except LinAlgError:
        return []


def _with_the_steepest(data: LogisticData, found: Incumbent) -> Positions:
    scores = data.scores(found.fit.dual)
    if found.support.size == scores.size:
        return found.support
    scores[found.support] = -1.0
    return np.union1d(found.support, [int(np.argmax(scores))])
