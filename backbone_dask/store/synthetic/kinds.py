"""Truth and target of a recipe, by its kind."""

from __future__ import annotations

from collections.abc import Callable

from backbone_dask.store.synthetic.linear import linear_target, linear_truth, logistic_target
from backbone_dask.store.synthetic.recipe import Kind, Recipe
from backbone_dask.store.synthetic.trees import tree_target, tree_truth
from backbone_dask.store.synthetic.truths import Truth
from backbone_dask.values import Target

_TRUTHS: dict[Kind, Callable[[Recipe], Truth]] = {
    "linear": linear_truth,
    "logistic": linear_truth,
    "tree": tree_truth,
}
_TARGETS: dict[Kind, Callable[[Recipe], Target]] = {
    "linear": linear_target,
    "logistic": logistic_target,
    "tree": tree_target,
}


def truth(recipe: Recipe) -> Truth:
    """What the data set is made from; the same for every draw of the same seed."""
    return _TRUTHS[recipe.kind](recipe)


def target(recipe: Recipe) -> Target:
    """The response of every sample, shape (samples,): real, -1 or +1, or a class counted from 0, by the kind."""
    return _TARGETS[recipe.kind](recipe)
