"""Every method by name: the library that it needs, and how it fits which kind of problem.

A fit takes a table (samples, features), a response, and what is asked, and gives a `Model`. Libraries are imported by
the fit that needs them, for no environment has them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

import numpy as np

from benchmarks.peers import linear, logistic, trees
from benchmarks.peers.model import Asked, Model

Kind = Literal["linear", "logistic", "tree"]
Fit = Callable[[np.ndarray, np.ndarray, Asked], Model]


@dataclass(frozen=True)
class Method:
    """A method of a library.

    Attributes
    ----------
    module : what must be importable
    fits : its fit for every kind of problem that it knows
    told_k : whether it is told how many features are relevant (of trees: how deep the true tree is)
    """

    module: str
    fits: Mapping[Kind, Fit]
    told_k: bool = True


METHODS: dict[str, Method] = {
    "backbone_dask": Method("backbone_dask", {"linear": linear.ours, "logistic": logistic.ours, "tree": trees.ours}),
    "backbone_dask, gamma by hold-out": Method(
        "backbone_dask", {"linear": linear.ours_with_grid, "logistic": logistic.ours_with_grid}
    ),
    "backbone_dask, certified": Method("backbone_dask", {"linear": linear.ours_certified}),
    "BackboneLearn": Method("backbone_learn", {"linear": linear.backbone_learn}),
    "abess": Method("abess", {"linear": linear.abess, "logistic": logistic.abess}),
    "l0bnb": Method("l0bnb", {"linear": linear.l0bnb}),
    "celer, lasso by CV": Method("celer", {"linear": linear.celer}, told_k=False),
    "skglm, MCP": Method("skglm", {"linear": linear.skglm}, told_k=False),
    "skglm, l1": Method("skglm", {"logistic": logistic.skglm}, told_k=False),
    "SelectKBest, then lasso by CV": Method(
        "sklearn", {"linear": linear.select_and_lasso, "logistic": logistic.select_and_l1}, told_k=False
    ),
    "SelectKBest in every fold + lasso": Method(
        "sklearn",
        {"linear": linear.select_in_folds_and_lasso, "logistic": logistic.select_in_folds_and_l1},
        told_k=False,
    ),
    "RFE": Method("sklearn", {"linear": linear.rfe, "logistic": logistic.rfe}),
    "CART": Method("sklearn", {"tree": trees.cart}),
    "CART, depth by CV": Method("sklearn", {"tree": trees.tuned_cart}, told_k=False),
    "pystreed on 20 columns": Method("pystreed", {"tree": trees.pystreed_on_few}),
    "pystreed on all columns": Method("pystreed", {"tree": trees.pystreed_on_all}),
}


def methods_for(kind: Kind) -> dict[str, Method]:
    return {name: method for name, method in METHODS.items() if kind in method.fits}


def version_of(module: str) -> str:
    """The version of the package that a module comes from."""
    return version("scikit-learn" if module == "sklearn" else module)
