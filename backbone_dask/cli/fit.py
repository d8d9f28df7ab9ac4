"""backbone-dask fit: from a store to a model in a run directory."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from backbone_dask.cli.certify_options import certify_from, certify_options
from backbone_dask.cli.execution import executor_of, workers_of
from backbone_dask.cli.options import (
    Place,
    as_json,
    cluster_options,
    extras_options,
    given_json,
    locality,
    missing,
    overwrite,
    quiet,
    settings_options,
    target,
    task,
)
from backbone_dask.cli.output import note, show
from backbone_dask.cli.progress import display
from backbone_dask.cli.tasks import Prepared, fitted, prepared, usual_task
from backbone_dask.cli.tree_options import tree_options
from backbone_dask.launch.local import local_worker_bytes
from backbone_dask.problems.fitting import Fitted
from backbone_dask.problems.tree_fitting import FittedTree
from backbone_dask.protocols import Executor
from backbone_dask.report.model_table import LETTERS_OF_A_TERMINAL
from backbone_dask.report.page import run_page
from backbone_dask.report.result import result_json
from backbone_dask.report.summary import summary
from backbone_dask.report.tree_svg import tree_svg
from backbone_dask.runtime.budget import require_memory
from backbone_dask.runtime.checkpoint import RunDirectory, claim_run, digest
from backbone_dask.runtime.events import together
from backbone_dask.runtime.files import read_json, write_json, write_text
from backbone_dask.runtime.memory import peak_bytes
from backbone_dask.store import open_store
from backbone_dask.store.schema import MissingPolicy


@click.command()
@click.argument("store")
@task
@target
@missing
@locality
@settings_options
@certify_options
@tree_options
@extras_options
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Directory of the run.")
@cluster_options
@click.option("--resume", is_flag=True, help="Go on with an interrupted run.")
@overwrite
@quiet
@as_json
def fit(
    store: str,
    task: str | None,
    target: str | None,
    missing: MissingPolicy | None,
    locality: Path | None,
    out: Path,
    place: Place,
    resume: bool,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit a sparse model to STORE and keep everything about it in a run directory."""
    if resume and overwrite:
        raise click.UsageError("--resume goes on with a run, --overwrite replaces it; use one of them")
    source = open_store(store, missing=missing, locality=read_json(locality) if locality else None)
    target, y = source.target_name(target), source.target(target)
    certify_from(options)
    given = given_json(options) | {"missing": missing}
    ready = prepared(task, source, target, options)
    task = task or usual_task(source, target)
    asked = {"task": task, "missing": source.missing, **asdict(ready.settings)}
    identity = {"store": source.identity, "y": digest(y), "extras": ready.extras_json, **asked}
    _require_memory(ready, place)
    with claim_run(out, identity, resume=resume, overwrite=overwrite) as directory:
        if overwrite or not (out / "result.json").exists():
            about = {"task": task, "target": target, "given": given}
            _run(ready, directory, place, about, quiet=quiet or as_json, overwrite=overwrite)
    result = read_json(out / "result.json")
    show(result, summary(result, LETTERS_OF_A_TERMINAL), as_json)
    note(f"report: {out / 'report.html'}", as_json)


def _require_memory(ready: Prepared, place: Place) -> None:
    """Before the run directory is touched: a fit that cannot start must not cost an earlier one."""
    if place.is_local and place.workers != 0:
        count = workers_of(place.workers)
        require_memory(ready.budget(count), ready.store.n_samples, local_worker_bytes(count))


def _run(
    ready: Prepared, directory: RunDirectory, place: Place, about: dict[str, Any], *, quiet: bool, overwrite: bool
) -> None:
    with executor_of(place) as executor, display(quiet, executor) as listen:
        # A cluster that cannot be had must not cost an earlier run.
        directory.begin(overwrite=overwrite)
        found = fitted(ready, executor, journal=directory, listen=together(directory.log, listen))
        _keep(found, ready, directory, executor, about)


def _keep(
    found: Fitted | FittedTree, ready: Prepared, directory: RunDirectory, executor: Executor, about: dict[str, Any]
) -> None:
    peaks = {"coordinator": peak_bytes(), "workers": executor.peak_bytes()}
    result = result_json(found, ready.store, about, peaks)
    if isinstance(found, FittedTree):
        write_text(directory.path / "tree.svg", tree_svg(found.model))
    keep_result(directory.path, found.model.to_json(), result)


def keep_result(run: Path, model: dict[str, Any], result: dict[str, Any]) -> None:
    """Model, reports and result; the result comes last, for a run that has one is finished."""
    write_json(run / "model.json", model)
    write_text(run / "report.md", summary(result))
    _draw(run, result)
    write_json(run / "result.json", result)


def _draw(run: Path, result: dict[str, Any]) -> None:
    """A page that cannot be drawn must not cost the run: it can be drawn later, from the same files."""
    try:
        write_text(run / "report.html", run_page(run, result))
    except Exception as cause:
        click.echo(f"report.html was not written ({cause}); try: backbone-dask report {run}", err=True)
