"""backbone-dask info: what a store or a run is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backbone_dask.cli.options import as_json
from backbone_dask.cli.output import show
from backbone_dask.report.material import read_result
from backbone_dask.report.model_table import LETTERS_OF_A_TERMINAL
from backbone_dask.report.summary import summary
from backbone_dask.store import FeatureStore, open_store


@click.command()
@click.argument("path")
@as_json
def info(path: str, as_json: bool) -> None:
    """Describe the store or the run at PATH."""
    if (Path(path) / "settings.json").exists():
        result = read_result(Path(path))
        show(result, summary(result, LETTERS_OF_A_TERMINAL), as_json)
    else:
        content = store_json(open_store(path))
        show(content, "\n".join(f"{name:11} {value}" for name, value in content.items()), as_json)


def store_json(store: FeatureStore) -> dict[str, Any]:
    """A store as plain data."""
    return {
        "location": store.location,
        "kind": type(store).__name__,
        "n_features": store.n_features,
        "n_samples": store.n_samples,
        "dtype": store.dtype.name,
        "missing": store.missing,
        "named": store.named,
        "targets": sorted(store.targets),
        "blocks": len(store.blocks()),
        "sample_ids": store.sample_ids is not None,
        "labels": {name: list(labels) for name, labels in store.labels.items()},
        "sources": [each["path"] for each in (store.origin or {}).get("files", ())],
        "relevant": store.truth.ids.tolist() if store.truth is not None else None,
    }
