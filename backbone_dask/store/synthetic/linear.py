"""Sparse regression: a regressor with k coefficients of +-1, and a response with an exact signal-to-noise ratio."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from backbone_dask.store.synthetic.addresses import Purpose, generator
from backbone_dask.store.synthetic.gaussian import gather
from backbone_dask.store.synthetic.genotypes import moments
from backbone_dask.store.synthetic.recipe import Recipe
from backbone_dask.store.synthetic.support import relevant
from backbone_dask.store.synthetic.truths import LinearTruth
from backbone_dask.values import Target

_BATCH = 64


def linear_truth(recipe: Recipe) -> LinearTruth:
    """The true regressor of a linear or a logistic recipe, in the units of its features."""
    rng, ids = generator(recipe.seed, Purpose.COEFFICIENTS), relevant(recipe)
    signs = rng.choice(np.array([-1.0, 1.0]), recipe.n_relevant)
    return LinearTruth(ids, signs / moments(recipe, ids)[1])


def linear_target(recipe: Recipe) -> Target:
    """y = X w + noise, shape (samples,); X is centred."""
    clean = signal(recipe, linear_truth(recipe))
    return clean + response_noise(recipe, clean)


def logistic_target(recipe: Recipe) -> Target:
    """y = sign(X w + noise), -1 or +1, shape (samples,); the sign of 0 is +1."""
    return np.where(linear_target(recipe) >= 0, 1.0, -1.0)


def signal(recipe: Recipe, truth: LinearTruth) -> NDArray[np.float64]:
    """X w with the features centred by their law, shape (samples,).

    Added up feature by feature: BLAS would give other bits on other machines.
    """
    centres = moments(recipe, truth.ids)[0]
    total = np.zeros(recipe.n_samples)
    for first in range(0, truth.ids.size, _BATCH):
        batch = slice(first, first + _BATCH)
        made = gather(recipe, truth.ids[batch])
        for weight, centre, column in zip(truth.coefficients[batch], centres[batch], made, strict=True):
            total += weight * (column - centre)
    return total


def response_noise(recipe: Recipe, clean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normal noise, shape (samples,), scaled so that |clean| / |noise| is the square root of the recipe's snr."""
    noise = generator(recipe.seed, Purpose.RESPONSE, recipe.draw).standard_normal(recipe.n_samples)
    return noise * (_norm(clean) / (_norm(noise) * math.sqrt(recipe.snr)))


def _norm(vector: NDArray[np.float64]) -> float:
    """Correctly rounded, so the same on every machine."""
    return math.sqrt(math.fsum((vector * vector).tolist()))
