"""backbone-dask screen: the best columns of a store, by one pass over it."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from backbone_dask.cli.execution import executor_of
from backbone_dask.cli.options import as_json, missing, overwrite, workers
from backbone_dask.cli.output import show
from backbone_dask.cli.progress import display
from backbone_dask.errors import RunDirectoryError
from backbone_dask.problems.questions import Inquiry, assign_folds, inquire
from backbone_dask.problems.screening import screen_store
from backbone_dask.runtime.checkpoint import digest, open_run
from backbone_dask.runtime.files import published
from backbone_dask.screens.catalogue import screens
from backbone_dask.screens.panels import Question
from backbone_dask.store import FeatureStore, open_store
from backbone_dask.store.schema import MissingPolicy
from backbone_dask.store.utilities import create_utilities
from backbone_dask.values import Screening


@click.command()
@click.argument("store")
@click.option("--screen", "name", type=click.Choice(screens.names()), default="correlation", show_default=True)
@click.option("--keep", type=click.IntRange(1), default=1000, show_default=True, help="Columns to keep.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="CSV: target, fold, id, name, utility.")
@click.option("--target", "targets", multiple=True, help="Name of a target; several from one pass.")
@click.option("--folds", type=click.IntRange(2), help="Also the utilities with each of so many folds left out.")
@click.option("--utilities", type=click.Path(path_type=Path), help="Also keep the utilities of all columns, as zarr.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the folds.")
@missing
@workers
@overwrite
@click.option("--quiet", is_flag=True, help="No progress display.")
@as_json
def screen(
    store: str,
    name: str,
    keep: int,
    out: Path,
    targets: tuple[str, ...],
    folds: int | None,
    utilities: Path | None,
    seed: int,
    missing: MissingPolicy | None,
    workers: int | None,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Score every column of STORE and keep the best. A killed screen goes on when it is called again."""
    if out.exists() and not overwrite:
        raise RunDirectoryError(f"{out} exists; choose another name, or use --overwrite")
    source = open_store(store, missing=missing)
    known = {each: source.target(each) for each in targets} or {"y": source.target()}
    inquiry = inquire(name, known, assign_folds(source.n_samples, folds, seed) if folds else None)
    asked = {"screen": name, "keep": keep, "folds": folds, "seed": seed, "missing": source.missing}
    identity = {"store": source.identity, "targets": {each: digest(y) for each, y in known.items()}, **asked}
    found = _resumable(source, inquiry, keep, identity, out, utilities, workers, quiet or as_json)
    with published(out) as stream:
        stream.write(_table(source, found))
    shutil.rmtree(_scratch(out))
    content = _content(source, name, out, found)
    show(content, f"the best {content['kept']:,} of {source.n_features:,} columns: {out}", as_json)


def _resumable(
    source: FeatureStore,
    inquiry: Inquiry,
    keep: int,
    identity: dict[str, Any],
    out: Path,
    utilities: Path | None,
    workers: int | None,
    quiet: bool,
) -> Mapping[Question, Screening]:
    def open_sink(n_questions: int, chunk: int) -> Any:
        return create_utilities(utilities or "", n_questions, source.n_features, chunk)

    with (
        open_run(_scratch(out), identity, resume=True, overwrite=False) as journal,
        executor_of(workers) as executor,
        display(quiet) as listen,
    ):
        sink = open_sink if utilities else None
        return screen_store(source, inquiry, keep, executor, journal=journal, listen=listen, open_sink=sink)


def _scratch(out: Path) -> Path:
    return out.with_name(out.name + ".partial")


def _table(source: FeatureStore, found: Mapping[Question, Screening]) -> bytes:
    """Best first, question by question."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["target", "fold", "id", "name", "utility"])
    for question, screening in found.items():
        names = source.names(screening.candidates)
        fold = "" if question.fold is None else question.fold
        for at in np.lexsort((screening.candidates, -screening.utilities)):
            utility = repr(float(screening.utilities[at]))
            writer.writerow([question.target, fold, screening.candidates[at], names[at], utility])
    return text.getvalue().encode()


def _content(source: FeatureStore, name: str, out: Path, found: Mapping[Question, Screening]) -> dict[str, Any]:
    first = next(iter(found.values()))
    return {
        "out": str(out),
        "screen": name,
        "n_features": source.n_features,
        "n_constant": first.n_constant,
        "kept": int(first.candidates.size),
        "questions": [{"target": question.target, "fold": question.fold} for question in found],
    }
