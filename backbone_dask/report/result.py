"""A finished run as plain data: the content of result.json."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np

from backbone_dask.algorithm.advice import recommend
from backbone_dask.certificate import Certificate, Certify
from backbone_dask.problems.fitting import Fitted
from backbone_dask.problems.model import LinearModel
from backbone_dask.problems.tree_fitting import FittedTree
from backbone_dask.problems.tree_text import export_text
from backbone_dask.report.metrics import recovery, tree_recovery
from backbone_dask.report.summary import FORMAT
from backbone_dask.store import FeatureStore
from backbone_dask.store.synthetic import TreeTruth
from backbone_dask.values import CandidateIds, GridPoint, Screening, TracePoint, TreePoint

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


def result_json(
    fitted: Fitted | FittedTree, store: FeatureStore, about: dict[str, Any], peak_bytes: dict[str, Any]
) -> dict[str, Any]:
    """Everything that was found, proved, set and measured, as a reader of result.json finds it.

    `about` has the task, the target and what was given besides.
    """
    finding, model = fitted.finding, fitted.model
    content = {
        "format": FORMAT,
        **about,
        "store": {
            "location": store.location,
            "n_samples": store.n_samples,
            "n_features": store.n_features,
            "n_constant": finding.screening.n_constant,
        },
        "screen": _screened(finding.screening, fitted.settings.screen_size, bool(about.get("given", {}).get("groups"))),
        "support": {"ids": model.ids.tolist(), "names": list(model.names)},
        **(_tree(fitted) if isinstance(fitted, FittedTree) else _linear(fitted, store)),
        **({"labels": list(model.labels)} if model.labels else {}),
        "training": fitted.training,
        "backbone": finding.backbone.tolist(),
        "objective": finding.outcome.objective,
        "reduced": {"bound": finding.outcome.bound, "gap": finding.outcome.gap},
        **_certified(fitted, store),
        "termination": finding.outcome.termination.value,
        "rounds": finding.outcome.rounds,
        "trace": [_moment(point) for point in finding.outcome.trace],
        "validation": [_point(point) for point in finding.grid],
        "levels": [_level(record) for record in finding.levels],
        "settings": asdict(fitted.settings),
        "seed": fitted.settings.seed,
        "seconds": {**finding.seconds, "total": sum(finding.seconds.values())},
        "peak_bytes": peak_bytes,
        "traffic": fitted.traffic,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    }
    return json.loads(json.dumps(content | _recovery(fitted, store), allow_nan=False))  # type: ignore[no-any-return]


def _screened(screening: Screening, most: int, grouped: bool) -> dict[str, Any]:
    """How many survived of at most how many; if chance decided it, its best score and how many of them exceed that.

    Of groups all members count, for they have the best score among them; they may be more than `most`.
    """
    survivors = {"survivors": screening.candidates.size, "most": most}
    if screening.chance is None:
        return survivors
    beyond = int((screening.utilities > screening.chance).sum())
    return {**survivors, "chance": screening.chance, "beyond": beyond, "grouped": grouped}


def over_all(
    certificate: Certificate, asked: Certify, objective: float, support: CandidateIds, store: FeatureStore
) -> dict[str, Any]:
    """What is proven over all columns of a store, and which features of the support were priced in."""
    return {
        **certificate.to_json(),
        "asked": asdict(asked),
        "table": store.identity,
        "gap": certificate.gap(objective),
        "support": np.intersect1d(support, certificate.priced).tolist(),
    }


def _certified(fitted: Fitted | FittedTree, store: FeatureStore) -> dict[str, Any]:
    finding = fitted.finding
    if isinstance(fitted, FittedTree) or finding.certificate is None:
        return {}
    asked = fitted.settings.certify or Certify()
    return {"global": over_all(finding.certificate, asked, finding.outcome.objective, fitted.model.ids, store)}


def _recovery(fitted: Fitted | FittedTree, store: FeatureStore) -> dict[str, Any]:
    """How well the truth was found, where it is known."""
    if store.truth is None:
        return {}
    ids = fitted.model.ids
    known = recovery(ids, fitted.finding.backbone, store.truth.ids)
    if isinstance(store.truth, TreeTruth):
        depth = fitted.model.tree.depth if isinstance(fitted, FittedTree) else None
        known |= tree_recovery(ids, store.truth.ids, depth=depth)
    return {"recovery": known | {"relevant": store.truth.ids.tolist()}}


def _linear(fitted: Fitted, store: FeatureStore) -> dict[str, Any]:
    model = fitted.model
    return {
        "coefficients": model.coefficients.tolist(),
        "scales": fitted.scales.tolist(),
        "unpenalised": None if fitted.unpenalised is None else fitted.unpenalised.tolist(),
        "intercept": model.intercept,
        "covariates": _covariates(model),
        "n_nonzero": fitted.n_nonzero,
        "gamma": fitted.gamma,
        "advice": asdict(recommend(store.n_samples, store.n_features, fitted.n_nonzero)),
    }


def _tree(fitted: FittedTree) -> dict[str, Any]:
    model = fitted.model
    return {
        "tree": model.nested(),
        "text": export_text(model),
        "importances": model.importances().tolist(),
        "chosen": asdict(fitted.goal),
        "depth": model.tree.depth,
        "n_splits": model.tree.n_splits,
    }


def _covariates(model: LinearModel) -> dict[str, Any]:
    tied = dict(zip(model.covariates.names, model.covariates.coefficients.tolist(), strict=True))
    return {"features": tied, "beside": model.beside.tolist(), "names": list(model.beside_names)}


def _moment(point: TracePoint) -> dict[str, Any]:
    """JSON has no number for a bound that is not known yet."""
    return {**asdict(point), "bound": point.bound if math.isfinite(point.bound) else None}


def _point(point: GridPoint | TreePoint) -> dict[str, Any]:
    return {**asdict(point), "error": point.error}


def _level(record: Any) -> dict[str, Any]:
    return {
        "candidates": record.n_candidates,
        "planned": record.n_planned,
        "solved": len(record.answers),
        "coverage": record.coverage,
        "backbone": int(record.backbone.size),
    }
