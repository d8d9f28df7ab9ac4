"""backbone-dask predict: a run's model on another store."""

from __future__ import annotations

import io
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from backbone_dask.cli.options import as_json, missing, overwrite
from backbone_dask.cli.output import show
from backbone_dask.errors import RunDirectoryError
from backbone_dask.problems.model import LinearModel
from backbone_dask.problems.prediction import predict_store
from backbone_dask.runtime.files import published, read_json
from backbone_dask.store import open_store
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

    Features are found by name, or by position where STORE has no names.
    """
    if out.exists() and not overwrite:
        raise RunDirectoryError(f"{out} exists; choose another name, or use --overwrite")
    model = LinearModel.from_json(read_json(run / "model.json"))
    source = open_store(store, missing=missing)
    beside = {name: source.target(name) for name in covariates} or None
    predictions = predict_store(model, source, beside)
    with published(out) as stream:
        stream.write(_encoded(_columns(model, predictions), out.suffix))
    content = {"out": str(out), "n_samples": predictions.size, "n_features": model.ids.size}
    show(content, f"{predictions.size:,} predictions from {model.ids.size} features: {out}", as_json)


def _columns(model: LinearModel, predictor: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    if not model.classes:
        return {"prediction": predictor}
    labels = np.array(model.classes)[(predictor > 0).astype(int)]
    return {"prediction": labels, "probability": np.asarray(expit(predictor))}


def _encoded(columns: dict[str, NDArray[np.float64]], suffix: str) -> bytes:
    """Comma-separated with a header, or the last column as an array."""
    if suffix == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, list(columns.values())[-1], allow_pickle=False)
        return buffer.getvalue()
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    lines = [",".join(map(repr, (at, *row))) for at, row in enumerate(rows)]
    return "\n".join([f"sample,{','.join(columns)}", *lines, ""]).encode()
