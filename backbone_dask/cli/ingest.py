"""backbone-dask ingest: from the files that people have to a feature store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import click

from backbone_dask.cli.execution import executor_of
from backbone_dask.cli.options import Place, as_json, cluster_options, overwrite
from backbone_dask.cli.output import show
from backbone_dask.cli.progress import display
from backbone_dask.estimators.ingesting import ingest as ingest_sources
from backbone_dask.runtime.events import Event, Listener
from backbone_dask.store.ingest.formats import SUFFIXES
from backbone_dask.store.ingest.ingesting import Ingested
from backbone_dask.store.ingest.joining import Unmatched
from backbone_dask.store.ingest.sources import expanded, total_bytes
from backbone_dask.store.ingest.table import Told
from backbone_dask.store.schema import DTYPES, MissingPolicy

# This process reads and writes about as much in the seconds that a cluster takes to start and to end.
SMALL_BYTES = 512 << 20
SHOWN_CLASSES = 10
TARGET = "A column of the table, which comes first; a CSV, TSV or Parquet FILE; or FILE:COLUMN. Several are allowed."
SAMPLE_ID = (
    "The column that tells samples apart, in the table and in a FILE of targets, which is joined by it; TABLE=FILE "
    "where they call it differently. PLINK, VCF, AnnData and row names have ids of their own: COLUMN may then be "
    "one of the FILE alone."
)
FORMAT = "Of the sources; NPZ, also of a sparse matrix, must fit in every worker's memory.  [default: by their suffix]"
HEADER = "Whether the first line of a text file has the names; without, they are x0, x1, ...  [default: by that line]"
UNMATCHED = "Samples without a target, and targets without a sample."


@click.command()
@click.argument("sources", nargs=-1, required=True)
@click.argument("out")
@click.option("--format", type=click.Choice(sorted(SUFFIXES)), help=FORMAT)
@click.option("--header/--no-header", default=None, help=HEADER)
@click.option("--target", multiple=True, help=TARGET)
@click.option("--sample-id", metavar="COLUMN", help=SAMPLE_ID)
@click.option("--exclude", multiple=True, metavar="COLUMN", help="A column to leave out. Several are allowed.")
@click.option("--names", type=click.Path(exists=True, dir_okay=False), help="Names of the features, one a line.")
@click.option(
    "--missing",
    type=click.Choice(get_args(MissingPolicy)),
    help="What stands for a missing value: nothing, or the mean of its column.  [default: by format; mostly refuse]",
)
@click.option(
    "--dtype", type=click.Choice(["auto", *DTYPES]), default="auto", show_default=True, help="Of the features."
)
@click.option(
    "--unmatched", type=click.Choice(get_args(Unmatched)), default="refuse", show_default=True, help=UNMATCHED
)
@cluster_options
@overwrite
@click.option("--quiet", is_flag=True, help="No progress display.")
@as_json
def ingest(sources: tuple[str, ...], out: str, place: Place, quiet: bool, as_json: bool, **options: Any) -> None:
    """Write the store OUT from SOURCES: files of one format, a folder, or a pattern in quotes.

    Files with the same columns are put below one another, files with the same samples beside one another.
    """
    paths = expanded(sources)
    small = total_bytes(paths) < SMALL_BYTES
    if place.is_local and place.workers is None and small and not place.tls:
        place = replace(place, workers=0)
    with executor_of(place) as executor, display(quiet or as_json, executor) as listen:
        made = ingest_sources(list(paths), out, executor=executor, told=_told(listen), **options)
    show({**made.to_json(), "store": out}, _words(made, out), as_json)


def _told(listen: Listener) -> Told:
    return lambda phase, done, total, unit: listen(Event(phase, done, total, unit))


def _words(made: Ingested, out: str) -> str:
    """What was made, and what people should know of it."""
    targets = ", ".join(f"{name}{_classes(made, name)}" for name in made.targets)
    lines = [f"store of {made.n_features:,} features x {made.n_samples:,} samples ({made.dtype}): {out}"]
    lines += [f"targets: {targets}"] if targets else []
    lines += [f"left out: {made.dropped:,} samples"] if made.dropped else []
    return "\n".join([*lines, *(each.sentence("the table") for each in made.unmatched), *made.notes])


def _classes(made: Ingested, name: str) -> str:
    labels = made.labels.get(name, ())
    shown = [f"{code} = {label}" for code, label in enumerate(labels[:SHOWN_CLASSES])]
    more = [f"... {len(labels)} in all"] if len(labels) > SHOWN_CLASSES else []
    return f" ({', '.join([*shown, *more])})" if labels else ""
