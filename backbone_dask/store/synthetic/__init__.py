"""Synthetic tables of the paper, made column by column where they are wanted: a recipe instead of bytes on a disk."""

from backbone_dask.store.synthetic.gaussian import columns, gather
from backbone_dask.store.synthetic.kinds import target, truth
from backbone_dask.store.synthetic.recipe import Recipe
from backbone_dask.store.synthetic.truths import LinearTruth, TreeTruth, Truth, truth_from_json

__all__ = ["LinearTruth", "Recipe", "TreeTruth", "Truth", "columns", "gather", "target", "truth", "truth_from_json"]
