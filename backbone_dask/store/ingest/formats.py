"""Formats by name and by how a file is called; a format is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from backbone_dask.errors import InvalidDataError, UnknownNameError
from backbone_dask.store.ingest.table import Opener

SUFFIXES: dict[str, tuple[str, ...]] = {
    "csv": (".csv", ".tsv", ".txt", ".data", ".csv.gz", ".tsv.gz", ".txt.gz", ".data.gz"),
    "parquet": (".parquet", ".pq"),
    "numpy": (".npy", ".npz"),
    "svmlight": (".svm", ".svmlight", ".libsvm", ".svm.gz", ".svmlight.gz", ".libsvm.gz"),
    "plink": (".bed",),
    "vcf": (".vcf", ".vcf.gz", ".bcf"),
    "vcfzarr": (".vcz",),
    "anndata": (".h5ad",),
    "zarr": (".zarr",),
}
"""Each is a module of this package with a function `open_table`. The longest suffix that fits decides."""

TEXT = frozenset({"csv", "svmlight"})
"""Formats that say themselves what is needed in a file that is empty."""

BELOW = frozenset({"svmlight"})
"""Formats whose files lie one below another even if some are wider than others: they are opened as one table."""


def format_of(location: str) -> str:
    """The format of a file by its suffix; where there is none of these, people have to name it."""
    fitting = [
        (len(suffix), name)
        for name, suffixes in SUFFIXES.items()
        for suffix in suffixes
        if location.lower().rstrip("/").endswith(suffix)
    ]
    if not fitting:
        known = ", ".join(sorted(SUFFIXES))
        raise InvalidDataError(f"{location} has no suffix that tells its format; say --format, one of {known}")
    return max(fitting)[1]


def opener(name: str) -> Opener:
    """The function that opens files of a format."""
    if name not in SUFFIXES:
        raise UnknownNameError(f"no format is called {name!r} (known: {', '.join(sorted(SUFFIXES))})")
    found: Opener = import_module(f"backbone_dask.store.ingest.{name}").open_table
    return found
