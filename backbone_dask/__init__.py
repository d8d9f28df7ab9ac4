"""Sparse, interpretable models on tables with up to 10^8 columns: the backbone method on Dask."""

__version__ = "0.1.0"
