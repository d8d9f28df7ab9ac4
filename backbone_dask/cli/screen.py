"""backbone-dask screen: the best columns of a store, by one pass over it."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from backbone_dask.cli.execution import executor_of
from backbone_dask.cli.options import Place, as_json, cluster_options, locality, missing, overwrite, quiet
from backbone_dask.cli.output import show
from backbone_dask.cli.progress import display
from backbone_dask.errors import RunDirectoryError
from backbone_dask.problems.questions import Inquiry, assign_folds, inquire
from backbone_dask.problems.rounds import screen_in_rounds
from backbone_dask.problems.screening import screen_store
from backbone_dask.protocols import Executor
from backbone_dask.runtime.checkpoint import Journal, digest, open_run
from backbone_dask.runtime.events import Listener
from backbone_dask.runtime.files import published, read_json
from backbone_dask.screens.catalogue import screens
from backbone_dask.screens.panels import Question
from backbone_dask.store import FeatureStore, open_store
from backbone_dask.store.schema import MissingPolicy
from backbone_dask.store.utilities import create_utilities, is_utilities
from backbone_dask.values import Screening, Target


@click.command()
@click.argument("store")
@click.option("--screen", "name", type=click.Choice(screens.names()), default="correlation", show_default=True)
@click.option("--keep", type=click.IntRange(1), default=1000, show_default=True, help="Columns to keep.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="CSV: target, fold, id, name, utility.")
@click.option("--target", "targets", multiple=True, help="Name of a target; several from one pass.")
@click.option("--folds", type=click.IntRange(2), help="Also the utilities with each of so many folds left out.")
@click.option("--rounds", type=click.IntRange(1), default=1, show_default=True, help="Passes; see --n-nonzero.")
@click.option(
    "-k",
    "--n-nonzero",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Features of the model to which a column of a later round must add something.",
)
@click.option("--utilities", type=click.Path(path_type=Path), help="Also keep the utilities of all columns, as zarr.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the folds.")
@missing
@locality
@cluster_options
@overwrite
@quiet
@as_json
def screen(
    store: str,
    name: str,
    keep: int,
    out: Path,
    targets: tuple[str, ...],
    folds: int | None,
    rounds: int,
    n_nonzero: int,
    utilities: Path | None,
    seed: int,
    missing: MissingPolicy | None,
    locality: Path | None,
    place: Place,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Score every column of STORE and keep the best. A killed screen goes on when it is called again."""
    _require_free(out, utilities, overwrite)
    source = open_store(store, missing=missing, locality=read_json(locality) if locality else None)
    known = {each: source.target(each) for each in targets} or {source.only_target: source.target()}
    asked = {"screen": name, "keep": keep, "folds": folds, "seed": seed, "rounds": rounds, "n_nonzero": n_nonzero}
    work = _work(source, known, asked, utilities)
    told = {"missing": source.missing, "utilities": _absolute(utilities), **asked}
    identity = {"store": source.identity, "targets": {each: digest(y) for each, y in known.items()}, **told}
    found = _resumable(work, identity, out, place, quiet or as_json)
    with published(out) as stream:
        stream.write(_table(source, found))
    shutil.rmtree(_scratch(out))
    content = _content(source, name, out, found)
    show(content, f"the best {content['kept']:,} of {source.n_features:,} columns: {out}", as_json)


Work = Callable[[Executor, Journal, Listener], Mapping[Question, Screening]]


def _work(source: FeatureStore, known: dict[str, Target], asked: dict[str, Any], utilities: Path | None) -> Work:
    """What is to be done, after every check that needs no pass."""
    folds, name = asked["folds"], asked["screen"]
    inquiry = inquire(name, known, assign_folds(source.n_samples, folds, asked["seed"]) if folds else None)
    if asked["rounds"] == 1:
        return _one_pass(source, inquiry, asked["keep"], utilities)
    if folds or utilities or len(known) > 1:
        raise click.UsageError("--rounds takes one target, and neither --folds nor --utilities")
    ((question, y),) = zip(inquiry.questions, known.values(), strict=True)
    return _in_rounds(source, question, y, {each: asked[each] for each in ("screen", "keep", "rounds", "n_nonzero")})


def _one_pass(source: FeatureStore, inquiry: Inquiry, keep: int, utilities: Path | None) -> Work:
    def open_sink(n_questions: int, chunk: int) -> Any:
        return create_utilities(utilities or "", n_questions, source.n_features, chunk)

    def work(executor: Executor, journal: Journal, listen: Listener) -> Mapping[Question, Screening]:
        sink = open_sink if utilities else None
        return screen_store(source, inquiry, keep, executor, journal=journal, listen=listen, open_sink=sink)

    return work


def _in_rounds(source: FeatureStore, question: Question, y: Target, asked: dict[str, Any]) -> Work:
    def work(executor: Executor, journal: Journal, listen: Listener) -> Mapping[Question, Screening]:
        return {question: screen_in_rounds(source, y, executor, journal=journal, listen=listen, **asked)}

    return work


def _resumable(
    work: Work, identity: dict[str, Any], out: Path, place: Place, quiet: bool
) -> Mapping[Question, Screening]:
    with (
        open_run(_scratch(out), identity, resume=True, overwrite=False) as journal,
        executor_of(place) as executor,
        display(quiet, executor) as listen,
    ):
        return work(executor, journal, listen)


def _require_free(out: Path, utilities: Path | None, overwrite: bool) -> None:
    """Before the pass starts: nothing is in the way but what an interrupted screen left, or what may be replaced."""
    if out.is_dir():
        raise RunDirectoryError(f"{out} is a folder; name a file")
    if out.exists() and not overwrite:
        raise RunDirectoryError(f"{out} exists; choose another name, or use --overwrite")
    if utilities is None:
        return
    if not utilities.exists():
        # Groups that were finished before it was there, or before it was removed, would be holes in it.
        shutil.rmtree(_scratch(out), ignore_errors=True)
    elif not is_utilities(utilities):
        raise RunDirectoryError(f"{utilities} is something else than utilities; choose another name")
    elif not _scratch(out).exists():
        if not overwrite:
            raise RunDirectoryError(f"{utilities} exists; choose another name, or use --overwrite")
        shutil.rmtree(utilities)


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


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
