"""A model on another table: its features are found by name where the table has names, else by position."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.problems.model import LinearModel
from backbone_dask.store import FeatureStore
from backbone_dask.values import CandidateIds


def predict_store(model: LinearModel, store: FeatureStore) -> NDArray[np.float64]:
    """Predictions for every sample of the store, shape (samples,). Only the columns of the support are read."""
    ids = store.find(list(model.names)) if store.named else _positions(model, store)
    order = np.argsort(ids)
    return model.predict(store.gather(ids[order])[np.argsort(order)])


def _positions(model: LinearModel, store: FeatureStore) -> CandidateIds:
    if model.ids.size and model.ids[-1] >= store.n_features:
        raise InvalidDataError(
            f"the model uses feature {model.ids[-1]}, but {store.location} has only {store.n_features} features"
        )
    return model.ids
