"""backbone-dask simulate: a data set of the paper's generators, written out or as a recipe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from backbone_dask.cli.execution import executor_of
from backbone_dask.cli.options import Place, as_json, cluster_options, overwrite, quiet
from backbone_dask.cli.output import show
from backbone_dask.cli.progress import display
from backbone_dask.runtime.events import Event
from backbone_dask.store import Recipe, VirtualStore, write_recipe, write_store
from backbone_dask.store.copying import draft_of

# This process makes and writes about as much in the seconds that a cluster takes to start and to end.
SMALL_BYTES = 512 << 20
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
@cluster_options
@overwrite
@quiet
@as_json
def simulate(out: str, virtual: bool, place: Place, overwrite: bool, quiet: bool, as_json: bool, **fields: Any) -> None:
    """Simulate a KIND of data set into OUT."""
    recipe = Recipe(**fields)
    if virtual:
        write_recipe(recipe, out, overwrite=overwrite)
    else:
        _write(VirtualStore(recipe), out, place, overwrite=overwrite, quiet=quiet or as_json)
    form = "recipe" if virtual else "store"
    content = {"store": out, "virtual": virtual, "n_samples": recipe.n_samples, "n_features": recipe.n_features}
    show(content, f"{form} of {recipe.n_features:,} features x {recipe.n_samples:,} samples: {out}", as_json)


def _write(store: VirtualStore, out: str, place: Place, *, overwrite: bool, quiet: bool) -> None:
    width = store.n_samples * store.itemsize
    small = store.n_features * width < SMALL_BYTES
    # A name that is taken or a disk that is too small is refused before workers are started.
    draft_of(store, out, overwrite=overwrite)
    if place.is_local and place.workers is None and small and not place.tls:
        place = replace(place, workers=0)
    with executor_of(place) as executor, display(quiet, executor) as listen:
        write_store(
            store,
            out,
            overwrite=overwrite,
            executor=executor,
            listen=lambda done, total: listen(Event("write", done, total, "columns", unit_bytes=width)),
        )
