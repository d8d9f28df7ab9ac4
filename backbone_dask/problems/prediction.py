"""A model on another table: its features are found by name where the table has names, else by position."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.errors import InvalidDataError
from backbone_dask.problems.covariates import beside_table
from backbone_dask.problems.model import LinearModel
from backbone_dask.problems.tree_model import FORMAT as TREE_FORMAT
from backbone_dask.problems.tree_model import TreeModel
from backbone_dask.store import FeatureStore
from backbone_dask.values import CandidateIds


class Features(Protocol):
    """Features of the table that a model was fitted to."""

    @property
    def ids(self) -> CandidateIds: ...

    @property
    def names(self) -> tuple[str, ...]: ...


def predict_store(model: LinearModel, store: FeatureStore, covariates: Any = None) -> NDArray[np.float64]:
    """The linear predictor of every sample of the store, shape (samples,). Only columns of the model are read.

    `covariates` (samples, q) are those that the model was given beside its table.
    """
    beside = _beside(model, covariates, store.n_samples)
    tied = model.covariates(columns_of(model.covariates, store)) if model.covariates.ids.size else 0.0
    return np.asarray(model.intercept + model.support(columns_of(model.support, store)) + tied + beside @ model.beside)


def model_from_json(content: Any) -> LinearModel | TreeModel:
    """The model that either `to_json` wrote."""
    is_tree = isinstance(content, dict) and content.get("format") == TREE_FORMAT
    return TreeModel.from_json(content) if is_tree else LinearModel.from_json(content)


def tree_shares(model: TreeModel, store: FeatureStore) -> NDArray[np.float64]:
    """The share of every class for every sample of the store (samples, classes). Only columns of the tree are read."""
    if not model.ids.size:
        return np.tile(model.tree.sums[0] / model.tree.sums[0].sum(), (store.n_samples, 1))
    return model.shares(columns_of(model, store))


def columns_of(terms: Features, store: FeatureStore) -> Columns:
    """Columns of the features in another table, in their order."""
    ids = store.find(list(terms.names)) if store.named else _positions(terms, store)
    order = np.argsort(ids)
    return store.gather(ids[order])[np.argsort(order)]


def _positions(terms: Features, store: FeatureStore) -> CandidateIds:
    if terms.ids.size and terms.ids.max() >= store.n_features:
        raise InvalidDataError(
            f"the model uses feature {terms.ids.max()}, but {store.location} has only {store.n_features} features"
        )
    return terms.ids


def _beside(model: LinearModel, covariates: Any, n_samples: int) -> NDArray[np.float64]:
    table, names = (np.empty((n_samples, 0)), ()) if covariates is None else beside_table(covariates)
    if table.shape != (n_samples, model.beside.size):
        called = f" ({', '.join(model.beside_names)})" if model.beside_names else ""
        raise InvalidDataError(
            f"the model was fitted with {model.beside.size} covariates beside its table{called}; give covariates "
            f"(--covariate) of shape {(n_samples, model.beside.size)}, not {table.shape}"
        )
    wrong = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if wrong.size:
        raise InvalidDataError(f"covariates contain NaN or infinity at sample {wrong[0]}; clean them first")
    ordered = table[:, _order(model.beside_names, names)] if model.beside_names and names else table
    # The bits of a product depend on how a table lies in memory.
    return np.ascontiguousarray(ordered)


def _order(wanted: tuple[str, ...], given: tuple[str, ...]) -> list[int]:
    """Where the covariates of the fit are among those given."""
    if sorted(wanted) != sorted(given):
        raise InvalidDataError(
            f"the model was fitted with the covariates {', '.join(wanted)}; give these, not {', '.join(given)}"
        )
    return [given.index(name) for name in wanted]
