"""Features that a person names: covariates, members of groups."""

from __future__ import annotations

import numpy as np

from backbone_dask.errors import InvalidDataError, UnknownFeatureError
from backbone_dask.store import FeatureStore
from backbone_dask.values import CandidateIds

_SHOWN = 3


def find_named(names: list[str], store: FeatureStore) -> CandidateIds:
    """Ids of the named features, in the order of the names; the first name that no feature has is refused."""
    try:
        return store.find(names)
    except UnknownFeatureError as cause:
        known = ", ".join(store.names(np.arange(min(store.n_features, _SHOWN))))
        raise InvalidDataError(
            f"{store.location} has no feature called {cause.names[0]!r}; its features are called {known}, ..."
        ) from cause
