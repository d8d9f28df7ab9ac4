"""One table as every library has it."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import xarray as xr
from scipy import sparse

from backbone_dask.store import MemoryStore, write_store

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
SPARSE = {f"{kind} {form}": getattr(sparse, f"{kind}_{form}") for kind in FORMATS for form in ("array", "matrix")}


def named(X):
    return [f"gene {j}" for j in range(X.shape[1])]


def data_array(X):
    return xr.DataArray(X, dims=["person", "gene"], coords={"gene": named(X)})


def dask_frame(X):
    import dask.dataframe as dd

    return dd.from_pandas(pd.DataFrame(X, columns=named(X)), npartitions=2)


EAGER = {
    "lists": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
    "pandas": lambda X: pd.DataFrame(X, columns=named(X)),
    "pandas with numbers for names": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=named(X)),
    "xarray": data_array,
    "xarray without coordinates": xr.DataArray,
}
LAZY = {
    "dask": lambda X: da.from_array(X, chunks=(40, 17)),
    "dask frame": dask_frame,
    "lazy xarray": lambda X: data_array(X).chunk({"person": 50}),
}
NAMED = ("pandas", "polars", "xarray", "dask frame", "lazy xarray")
TARGETS = {
    "list": lambda y: y.tolist(),
    "pandas": pd.Series,
    "polars": lambda y: pl.Series(y.tolist()),
    "xarray": xr.DataArray,
    "dask": lambda y: da.from_array(y, chunks=13),
}


def stored(X, y, place):
    """The path of a store of the table."""
    write_store(MemoryStore(X, targets={"y": y}, names=named(X)), place)
    return place
