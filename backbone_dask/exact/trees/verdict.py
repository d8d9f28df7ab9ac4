"""What may be said of a tree that a solver found: one rule for all of them."""

from __future__ import annotations

from backbone_dask.exact.trace import Recorder
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.tree import Tree
from backbone_dask.values import Outcome, Termination

ROUNDING = 1e-9
"""Shares of the weight that differ by less are equal."""


def closed(objective: float, bound: float) -> bool:
    """Whether nothing but rounding lies between them."""
    return objective - bound <= ROUNDING


def tree_verdict(
    tree: Tree, goal: Goal, bound: float, ended: Termination, rounds: int, recorder: Recorder
) -> Outcome[Tree]:
    """The outcome: proven only if no tree can be better, whatever ended the search."""
    objective = goal.objective(tree)
    proven = closed(objective, bound)
    if proven:
        ended = Termination.PROVEN
    elif ended is Termination.PROVEN:
        ended = Termination.ROUND_LIMIT
    bound, seconds = objective if proven else bound, recorder.seconds
    return Outcome(tree, objective, bound, ended, rounds, seconds, recorder.trace(objective, bound, seconds))
