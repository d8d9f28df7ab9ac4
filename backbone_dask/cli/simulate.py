"""backbone-dask simulate: a data set of the paper's generators, written out or as a recipe."""

from __future__ import annotations

from typing import Any

import click

from backbone_dask.cli.options import as_json, overwrite
from backbone_dask.cli.output import show
from backbone_dask.cli.progress import display
from backbone_dask.runtime.events import Event
from backbone_dask.store import Recipe, VirtualStore, write_recipe, write_store

CODING = "Features as drawn, float32; or cut into 0, 1 and 2, int8."


@click.command()
@click.argument("kind", type=click.Choice(["linear", "logistic", "tree"]))
@click.argument("out")
@click.option("--n", "n_samples", type=int, required=True, help="Samples.")
@click.option("--p", "n_features", type=int, required=True, help="Features.")
@click.option("--k", "n_relevant", type=int, required=True, help="Relevant features.")
@click.option("--rho", type=float, default=0.0, show_default=True, help="Correlation of neighbouring features.")
@click.option("--snr", type=float, default=2.0, show_default=True, help="Signal-to-noise ratio.")
@click.option("--depth", type=int, default=3, show_default=True, help="Depth of the true tree.")
@click.option(
    "--coding", type=click.Choice(["gaussian", "genotype"]), default="gaussian", show_default=True, help=CODING
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--draw", type=int, default=0, show_default=True, help="Another draw is a test set of the same truth.")
@click.option("--virtual", is_flag=True, help="Write only the recipe; columns are made when they are read.")
@overwrite
@as_json
def simulate(out: str, virtual: bool, overwrite: bool, as_json: bool, **fields: Any) -> None:
    """Simulate a KIND of data set into OUT."""
    recipe = Recipe(**fields)
    if virtual:
        write_recipe(recipe, out, overwrite=overwrite)
    else:
        _write(recipe, out, overwrite, as_json)
    form = "recipe" if virtual else "store"
    content = {"store": out, "virtual": virtual, "n_samples": recipe.n_samples, "n_features": recipe.n_features}
    show(content, f"{form} of {recipe.n_features:,} features x {recipe.n_samples:,} samples: {out}", as_json)


def _write(recipe: Recipe, out: str, overwrite: bool, quiet: bool) -> None:
    with display(quiet) as listen:
        write_store(
            VirtualStore(recipe),
            out,
            overwrite=overwrite,
            listen=lambda done, total: listen(Event("write", done, total, "columns")),
        )
