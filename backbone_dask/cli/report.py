"""backbone-dask report: a finished run as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from backbone_dask.cli.options import as_json
from backbone_dask.cli.output import show
from backbone_dask.report.page import write_report


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="FILE.html.  [default: report.html in RUN]")
@as_json
def report(run: Path, out: Path | None, as_json: bool) -> None:
    """Draw the page of RUN: one file that needs no network."""
    path = write_report(run, out)
    show({"run": str(run), "out": str(path)}, f"report: {path}", as_json)
