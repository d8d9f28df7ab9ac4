"""What must hold of every recorded solve."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from backbone_dask.values import Outcome

MOST_POINTS = 300


def check_trace(outcome: Outcome[Any]) -> None:
    """Time goes on, the objective never rises, the bound never falls, and the end is the outcome."""
    trace = outcome.trace
    assert trace, "nothing is recorded"
    assert len(trace) <= MOST_POINTS
    assert trace[0].seconds >= 0
    last = trace[-1]
    assert (last.objective, last.bound, last.seconds) == (outcome.objective, outcome.bound, outcome.seconds)
    for earlier, later in pairwise(trace):
        assert earlier.seconds <= later.seconds
        assert earlier.objective >= later.objective
        assert earlier.bound <= later.bound
