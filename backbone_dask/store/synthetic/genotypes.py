"""Genotypes from the Gaussian columns: 0, 1 or 2 copies of an allele, in Hardy-Weinberg proportions.

A column has an allele frequency q by its address. Its normals are cut where 0 has the share (1 - q)^2, 1 has
2 q (1 - q) and 2 has q^2, so neighbours are correlated as their normals are, only less.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from backbone_dask.store.synthetic.addresses import Purpose, key
from backbone_dask.store.synthetic.noise import fill_sixteen_bits
from backbone_dask.store.synthetic.recipe import Recipe
from backbone_dask.values import CandidateIds

LEAST, MOST = 0.05, 0.5
"""The range of allele frequencies."""


def frequencies(recipe: Recipe, ids: CandidateIds) -> NDArray[np.float64]:
    """Allele frequencies, shape of ids: uniform in [0.05, 0.5], by (seed, column); the same in every draw."""
    found: NDArray[np.float64] = _frequency_table()[_levels(recipe, ids)]
    return found


def cuts(recipe: Recipe, ids: CandidateIds) -> NDArray[np.float32]:
    """Above which normals there is a first and a second copy, shape (ids.size, 2)."""
    found: NDArray[np.float32] = _cut_table()[_levels(recipe, ids)]
    return found


def moments(recipe: Recipe, ids: CandidateIds) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of columns by their law, not by their samples; two arrays of the shape of ids."""
    if recipe.coding == "gaussian":
        return np.zeros(ids.size), np.ones(ids.size)
    q = frequencies(recipe, ids)
    return 2 * q, np.sqrt(2 * q * (1 - q))


def _levels(recipe: Recipe, ids: CandidateIds) -> NDArray[np.uint16]:
    levels = np.empty(ids.size, np.uint16)
    fill_sixteen_bits(key(recipe.seed, Purpose.FREQUENCIES), ids, levels)
    return levels


@cache
def _frequency_table() -> NDArray[np.float64]:
    return LEAST + (MOST - LEAST) * (np.arange(65_536) + 0.5) / 65_536


@cache
def _cut_table() -> NDArray[np.float32]:
    q = _frequency_table()
    return np.stack([ndtri((1 - q) ** 2), ndtri(1 - q**2)], axis=1).astype(np.float32)
