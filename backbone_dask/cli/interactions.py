"""backbone-dask interactions: all products of two features of a store, as a store that takes no disk."""

from __future__ import annotations

import click

from backbone_dask.cli.options import as_json, overwrite
from backbone_dask.cli.output import show
from backbone_dask.store import write_interactions


@click.command()
@click.argument("store")
@click.argument("out")
@overwrite
@as_json
def interactions(store: str, out: str, overwrite: bool, as_json: bool) -> None:
    """Write to OUT a small file that opens as all products of two features of STORE."""
    made = write_interactions(store, out, overwrite=overwrite)
    content = {
        "store": out,
        "base": store,
        "n_samples": made.n_samples,
        "n_features": made.n_features,
        "dtype": made.dtype.name,
    }
    text = f"interactions of {made.base.n_features:,} features: {made.n_features:,} x {made.n_samples:,} samples: {out}"
    show(content, text, as_json)
