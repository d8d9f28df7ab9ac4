"""Which features the truth uses."""

from __future__ import annotations

import numpy as np

from backbone_dask.store.synthetic.addresses import Purpose, generator
from backbone_dask.store.synthetic.recipe import Recipe
from backbone_dask.values import CandidateIds


def relevant(recipe: Recipe) -> CandidateIds:
    """k features, uniformly without replacement; sorted, shape (k,). Memory of order k when k is far below p."""
    rng = generator(recipe.seed, Purpose.SUPPORT)
    return np.sort(rng.choice(recipe.n_features, recipe.n_relevant, replace=False, shuffle=False)).astype(np.int64)
