"""A finished run as plain data: the content of result.json."""

from __future__ import annotations

import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from backbone_dask.algorithm.advice import recommend
from backbone_dask.problems.fitting import Fitted
from backbone_dask.problems.model import LinearModel
from backbone_dask.report.metrics import recovery, tree_recovery
from backbone_dask.report.summary import FORMAT
from backbone_dask.store import FeatureStore
from backbone_dask.store.synthetic import TreeTruth
from backbone_dask.values import GridPoint

LIBRARIES = (
    "backbone-dask",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "dask",
    "distributed",
    "zarr",
    "pyomo",
    "highspy",
)


def result_json(fitted: Fitted, store: FeatureStore, *, task: str, peak_bytes: dict[str, Any]) -> dict[str, Any]:
    """Everything that was found, proved, set and measured."""
    finding, model = fitted.finding, fitted.model
    screening = finding.screening
    content = {
        "format": FORMAT,
        "task": task,
        "store": {
            "location": store.location,
            "n_samples": store.n_samples,
            "n_features": store.n_features,
            "n_constant": screening.n_constant,
        },
        "support": {"ids": model.ids.tolist(), "names": list(model.names)},
        "coefficients": model.coefficients.tolist(),
        "intercept": model.intercept,
        "covariates": _covariates(model),
        "training": fitted.training,
        "backbone": finding.backbone.tolist(),
        **_proof(fitted, store),
        "levels": [_level(record) for record in finding.levels],
        "settings": asdict(fitted.settings),
        "seed": fitted.settings.seed,
        "seconds": {**finding.seconds, "total": sum(finding.seconds.values())},
        "peak_bytes": peak_bytes,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    }
    if store.truth is not None:
        content["recovery"] = recovery(model.ids, finding.backbone, store.truth.ids)
    if isinstance(store.truth, TreeTruth):
        content["recovery"] |= tree_recovery(model.ids, store.truth.ids, depth=None)
    return content


def _proof(fitted: Fitted, store: FeatureStore) -> dict[str, Any]:
    outcome = fitted.finding.outcome
    return {
        "objective": outcome.objective,
        "bound": outcome.bound,
        "gap": outcome.gap,
        "termination": outcome.termination.value,
        "rounds": outcome.rounds,
        "n_nonzero": fitted.n_nonzero,
        "gamma": fitted.gamma,
        "validation": [_point(point) for point in fitted.finding.grid],
        "advice": asdict(recommend(store.n_samples, store.n_features, fitted.n_nonzero)),
    }


def _covariates(model: LinearModel) -> dict[str, Any]:
    tied = dict(zip(model.covariates.names, model.covariates.coefficients.tolist(), strict=True))
    return {"features": tied, "beside": model.beside.tolist(), "names": list(model.beside_names)}


def _point(point: GridPoint) -> dict[str, Any]:
    return {**asdict(point), "termination": point.termination.value, "error": point.error}


def _level(record: Any) -> dict[str, Any]:
    return {
        "candidates": record.n_candidates,
        "planned": record.n_planned,
        "solved": len(record.answers),
        "coverage": record.coverage,
        "backbone": int(record.backbone.size),
    }
