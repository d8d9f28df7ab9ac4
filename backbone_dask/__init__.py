"""Sparse, interpretable models on tables with up to 10^8 columns: the backbone method on Dask."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backbone_dask.algorithm.advice import recommend as recommend
    from backbone_dask.estimators import Backbone as Backbone
    from backbone_dask.estimators import BackboneClassifier as BackboneClassifier
    from backbone_dask.estimators import BackboneRegressor as BackboneRegressor
    from backbone_dask.estimators import BackboneSelector as BackboneSelector
    from backbone_dask.estimators import BackboneTreeClassifier as BackboneTreeClassifier
    from backbone_dask.estimators.ingesting import ingest as ingest
    from backbone_dask.estimators.screening import screen as screen
    from backbone_dask.launch.clusters import cluster as cluster
    from backbone_dask.problems.registering import register_exact_solver as register_exact_solver
    from backbone_dask.problems.registering import register_screen as register_screen
    from backbone_dask.problems.registering import register_subproblem_solver as register_subproblem_solver
    from backbone_dask.report.page import write_report as write_report
    from backbone_dask.report.tree_svg import tree_svg as tree_svg
    from backbone_dask.store import FeatureStore as FeatureStore
    from backbone_dask.store import open_store as open_store
    from backbone_dask.store import write_store as write_store

__version__ = "0.1.0"
# Whether anyone sees what is logged is for the program to say that uses this.
logging.getLogger(__name__).addHandler(logging.NullHandler())

_HOMES = {
    "Backbone": "backbone_dask.estimators",
    "BackboneClassifier": "backbone_dask.estimators",
    "BackboneRegressor": "backbone_dask.estimators",
    "BackboneSelector": "backbone_dask.estimators",
    "BackboneTreeClassifier": "backbone_dask.estimators",
    "FeatureStore": "backbone_dask.store",
    "cluster": "backbone_dask.launch.clusters",
    "ingest": "backbone_dask.estimators.ingesting",
    "open_store": "backbone_dask.store",
    "recommend": "backbone_dask.algorithm.advice",
    "register_exact_solver": "backbone_dask.problems.registering",
    "register_screen": "backbone_dask.problems.registering",
    "register_subproblem_solver": "backbone_dask.problems.registering",
    "screen": "backbone_dask.estimators.screening",
    "tree_svg": "backbone_dask.report.tree_svg",
    "write_report": "backbone_dask.report.page",
    "write_store": "backbone_dask.store",
}
__all__ = [
    "Backbone",
    "BackboneClassifier",
    "BackboneRegressor",
    "BackboneSelector",
    "BackboneTreeClassifier",
    "FeatureStore",
    "__version__",
    "cluster",
    "ingest",
    "open_store",
    "recommend",
    "register_exact_solver",
    "register_screen",
    "register_subproblem_solver",
    "screen",
    "tree_svg",
    "write_report",
    "write_store",
]


def __getattr__(name: str) -> Any:
    # A worker that only screens need not import the solvers.
    if name not in _HOMES:
        raise AttributeError(f"module 'backbone_dask' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
