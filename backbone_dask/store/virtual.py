"""A simulated store that holds nothing but its recipe, and makes its columns on demand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns, measured
from backbone_dask.store import synthetic
from backbone_dask.store.base import FeatureStore
from backbone_dask.values import CandidateIds, FeatureBlock, Target


class VirtualStore(FeatureStore):
    """Any width, no disk. The same bits as the store that is written from the same recipe."""

    def __init__(self, recipe: synthetic.Recipe, location: str = "a virtual store") -> None:
        self.recipe, self.location = recipe, location
        self.n_features, self.n_samples = recipe.n_features, recipe.n_samples
        self.dtype = np.dtype(recipe.dtype)
        self.truth = synthetic.truth(recipe)

    def __reduce__(self) -> tuple[type[VirtualStore], tuple[synthetic.Recipe, str]]:
        return VirtualStore, (self.recipe, self.location)

    @cached_property
    def targets(self) -> Mapping[str, Target]:
        return {"y": synthetic.target(self.recipe)}

    @property
    def identity(self) -> str:
        return self.recipe.to_json()

    def raw(self, block: FeatureBlock) -> NDArray[Any]:
        return synthetic.columns(self.recipe, block.start, block.stop)

    def read(self, block: FeatureBlock) -> Columns:
        return measured(self.raw(block))[0]

    def gather(self, ids: CandidateIds) -> Columns:
        return measured(synthetic.gather(self.recipe, ids))[0]
