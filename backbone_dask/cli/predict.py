"""backbone-dask predict: a run's model on another store."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from backbone_dask.cli.options import as_json, missing, overwrite
from backbone_dask.cli.output import show
from backbone_dask.errors import RunDirectoryError
from backbone_dask.problems.model import LinearModel
from backbone_dask.problems.prediction import model_from_json, predict_store, tree_shares
from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.runtime.files import published, read_json
from backbone_dask.store import FeatureStore, open_store
from backbone_dask.store.schema import MissingPolicy


@click.command()
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("store")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="FILE.csv or FILE.npy.")
@click.option("--covariate", "covariates", multiple=True, help="Targets that hold the covariates, as in the fit.")
@missing
@overwrite
@as_json
def predict(
    run: Path,
    store: str,
    out: Path,
    covariates: tuple[str, ...],
    missing: MissingPolicy | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Predict the samples of STORE with the model of RUN; for classes, the label and the probability of the second.

    A tree gives the probability of every class.
    Features are found by name, or by position where STORE has no names.
    """
    if out.exists() and not overwrite:
        raise RunDirectoryError(f"{out} exists; choose another name, or use --overwrite")
    model = model_from_json(read_json(run / "model.json"))
    source = open_store(store, missing=missing)
    columns = _tree(model, source) if isinstance(model, TreeModel) else _linear(model, source, covariates)
    with published(out) as stream:
        stream.write(_encoded(columns, source.sample_ids, out.suffix))
    content = {"out": str(out), "n_samples": source.n_samples, "n_features": model.ids.size}
    show(content, f"{source.n_samples:,} predictions from {model.ids.size} features: {out}", as_json)


def _tree(model: TreeModel, source: FeatureStore) -> dict[str, NDArray[Any]]:
    """The label, and the share of every class in the sample's leaf."""
    shares = tree_shares(model, source)
    called = model.labels or [f"{label:g}" for label in model.classes]
    named = {f"probability_{name}": share for name, share in zip(called, shares.T, strict=True)}
    return {"prediction": _labels(model)[shares.argmax(axis=1)], **named}


def _labels(model: LinearModel | TreeModel) -> NDArray[Any]:
    """What the classes are called, or their values."""
    return np.array(model.labels or model.classes)


def _linear(model: LinearModel, source: FeatureStore, covariates: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    beside = {name: source.target(name) for name in covariates} or None
    predictor = predict_store(model, source, beside)
    if not model.classes:
        return {"prediction": predictor}
    return {"prediction": _labels(model)[(predictor > 0).astype(int)], "probability": np.asarray(expit(predictor))}


def _encoded(columns: dict[str, NDArray[Any]], sample_ids: Sequence[str] | None, suffix: str) -> bytes:
    """Comma-separated with a header, or the last column as an array."""
    if suffix == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, list(columns.values())[-1], allow_pickle=False)
        return buffer.getvalue()
    samples = range(len(next(iter(columns.values())))) if sample_ids is None else sample_ids
    text = io.StringIO()
    # The csv module writes floats as repr does, and puts quotes round a name with a comma in it.
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["sample", *columns])
    writer.writerows(zip(samples, *(values.tolist() for values in columns.values()), strict=True))
    return text.getvalue().encode()
