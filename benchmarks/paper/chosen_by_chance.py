"""The columns that score higher than any does for shuffled responses: for our fits, and for those of others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backbone_dask import BackboneRegressor, BackboneTreeClassifier
from benchmarks.paper.permuted import Expanded

ALL_SURVIVORS = {"screen_size": "chance", "n_subproblems": 0}
"""What chance does not explain, and no subproblems: so few columns are the backbone themselves."""


def by_correlation(data: Expanded, most: int, seed: int) -> NDArray[np.int64]:
    """Ids of the survivors, sorted."""
    model = BackboneRegressor(1, backbone_max=most, executor="serial", random_state=seed, **ALL_SURVIVORS)
    return np.asarray(model.fit(data.X, data.y).backbone_)


def by_entropy(data: Expanded, most: int, seed: int) -> NDArray[np.int64]:
    """The same for classes."""
    asked = {"depth": 1, "min_bucket": 1, "complexity": 0.01, "backbone_max": most, "pricing_rounds": 0}
    model = BackboneTreeClassifier(executor="serial", random_state=seed, **asked, **ALL_SURVIVORS)
    return np.asarray(model.fit(data.X, data.y).backbone_)
