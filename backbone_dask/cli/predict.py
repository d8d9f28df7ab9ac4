"""backbone-dask predict: a run's model on another store."""

from __future__ import annotations

import io
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

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
@missing
@overwrite
@as_json
def predict(run: Path, store: str, out: Path, missing: MissingPolicy | None, overwrite: bool, as_json: bool) -> None:
    """Predict the samples of STORE with the model of RUN.

    Features are found by name, or by position where STORE has no names.
    """
    if out.exists() and not overwrite:
        raise RunDirectoryError(f"{out} exists; choose another name, or use --overwrite")
    model = LinearModel.from_json(read_json(run / "model.json"))
    predictions = predict_store(model, open_store(store, missing=missing))
    with published(out) as stream:
        stream.write(_encoded(predictions, out.suffix))
    content = {"out": str(out), "n_samples": predictions.size, "n_features": model.ids.size}
    show(content, f"{predictions.size:,} predictions from {model.ids.size} features: {out}", as_json)


def _encoded(predictions: NDArray[np.float64], suffix: str) -> bytes:
    if suffix == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, predictions, allow_pickle=False)
        return buffer.getvalue()
    rows = "".join(f"{at},{value!r}\n" for at, value in enumerate(predictions.tolist()))
    return f"sample,prediction\n{rows}".encode()
