"""backbone-dask certify: a bound over all columns for a run that is finished."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import numpy as np

from backbone_dask.certificate import Certificate
from backbone_dask.cli.certify_options import limit_options, limits_from
from backbone_dask.cli.execution import executor_of
from backbone_dask.cli.fit import keep_result
from backbone_dask.cli.options import Place, as_json, cluster_options, extras_from, quiet
from backbone_dask.cli.output import note, show
from backbone_dask.cli.progress import display
from backbone_dask.errors import RunDirectoryError, StoreError
from backbone_dask.problems.certifying import Known
from backbone_dask.problems.fitting import Preparation, prepare
from backbone_dask.problems.recertifying import after, certify_known
from backbone_dask.report.certified import certified_result
from backbone_dask.report.material import read_result
from backbone_dask.report.model_table import LETTERS_OF_A_TERMINAL
from backbone_dask.report.summary import summary
from backbone_dask.runtime.checkpoint import RunDirectory, claim_run, digest
from backbone_dask.runtime.events import together
from backbone_dask.runtime.files import read_json
from backbone_dask.settings import Settings
from backbone_dask.store import FeatureStore, open_store
from backbone_dask.store.schema import MissingPolicy
from backbone_dask.values import CandidateIds


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--store", help="Where the table is now.  [default: where it was]")
@limit_options()
@cluster_options
@quiet
@as_json
def certify(run: Path, store: str | None, place: Place, quiet: bool, as_json: bool, **options: Any) -> None:
    """Bound the model of RUN over all columns of its table; columns that it lacks come back.

    Model, reports and result.json of RUN are written anew. Called again after an interruption, it goes on.
    """
    result, identity = read_result(run), read_json(run / "settings.json")
    if "tree" in result:
        raise RunDirectoryError(f"the model of {run} is a tree; a bound over all columns is for linear models")
    with claim_run(run, identity, resume=True, overwrite=False) as directory:
        ready = _prepared(result, store, limits_from(options))
        _require_same(ready, result, identity, moved=store is not None)
        model, result = _certified(ready, result, directory, place, quiet=quiet or as_json)
        keep_result(run, model, result)
    show(result, summary(result, LETTERS_OF_A_TERMINAL), as_json)
    note(f"report: {run / 'report.html'}", as_json)


def _prepared(result: dict[str, Any], store: str | None, limits: dict[str, Any]) -> Preparation:
    """The problem of the run as it was, for the size and ridge weight that it chose."""
    source = _table(store or result["store"]["location"], result["given"]["missing"])
    kept = {field.name: result["settings"][field.name] for field in fields(Settings)}
    chosen = {"n_nonzero": result["n_nonzero"], "gamma": result["gamma"], "certify": limits or True}
    return prepare(
        source,
        source.target(result["target"]),
        Settings(**kept | chosen),
        task=result["task"],
        extras=extras_from(dict(result["given"]), source),
        labels=source.class_names(result["target"]),
    )


def _table(location: str, missing: MissingPolicy) -> FeatureStore:
    try:
        return open_store(location, missing=missing)
    except StoreError as cause:
        raise RunDirectoryError(f"{cause}; name the table with --store if it was moved") from cause


def _require_same(ready: Preparation, result: dict[str, Any], identity: dict[str, Any], *, moved: bool) -> None:
    """Refuse another table: the bound would be about other data than the model."""
    same = {
        "its target": identity["y"] == digest(ready.store.target(result["target"])),
        "its weights or covariates": identity["extras"] == ready.extras_json,
        "the number of columns": result["store"]["n_features"] == ready.store.n_features,
        "the table": moved or ready.store.identity in (identity["store"], result.get("global", {}).get("table")),
    }
    changed = [what for what, kept in same.items() if not kept]
    if changed:
        what = changed[0]
        raise RunDirectoryError(
            f"{what} changed since the run ({ready.store.location}); name the table with --store if it was moved, or "
            "fit again with --certify"
        )


def _certified(
    ready: Preparation, result: dict[str, Any], directory: RunDirectory, place: Place, *, quiet: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    kept = result.get("global", {})
    # A bound is about the table that it was proven of.
    earlier = Certificate.from_json(kept) if kept.get("table") == ready.store.identity else None
    bound = 0.0 if earlier is None else earlier.bound
    known = Known(_ids(result["backbone"]), _ids(result["support"]["ids"]), result["objective"], bound)
    with executor_of(place) as executor, display(quiet, executor) as listen:
        heard = together(directory.log, listen)
        certificate, fitted, seconds = certify_known(ready, executor, known, journal=directory, listen=heard)
    if earlier is not None:
        certificate = after(earlier, certificate)
    model = read_json(directory.path / "model.json") if fitted is None else fitted.model.to_json()
    return model, certified_result(result, ready, certificate, fitted, seconds)


def _ids(kept: list[int]) -> CandidateIds:
    return np.array(kept, np.int64)
