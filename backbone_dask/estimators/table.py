"""What all estimators share: parameters, and tables of every kind as stores."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import FeatureStore, MemoryStore, as_store


class TableEstimator(BaseEstimator):
    """An estimator that takes what scikit-learn takes, and stores, paths and lazy arrays besides."""

    _checks: ClassVar[dict[str, Any]] = {}

    def _take(self, given: dict[str, Any]) -> None:
        """Keep the parameters of the constructor as they are."""
        for name in self._get_param_names():
            setattr(self, name, given[name])

    def _training_data(self, X: Any, y: Any) -> tuple[FeatureStore, Any]:
        if not _is_plain(X):
            store = self._table(X, reset=True)
            return store, store.target(y) if y is None or isinstance(y, str) else np.asarray(y)
        if y is None:
            raise InvalidDataError("requires y to be passed, but the target y is None")
        table, target = validate_data(self, X, y, ensure_min_samples=2, **self._checks, **self._rules())
        names = [str(name) for name in self.feature_names_in_] if hasattr(self, "feature_names_in_") else None
        return self._in_memory(X, table, names), target

    def _table(self, X: Any, *, reset: bool) -> FeatureStore:
        if _is_plain(X):
            return self._in_memory(X, validate_data(self, X, reset=reset, **self._rules()))
        store = as_store(X, missing=self.missing)
        if reset:
            self.n_features_in_ = store.n_features
        return store

    def _in_memory(self, X: Any, table: Any, names: list[str] | None = None) -> MemoryStore:
        """What scikit-learn made of X, called what X was."""
        store = MemoryStore(table, names=names, missing=self.missing)
        store.location = f"a {type(X).__name__} in memory"
        return store

    def _truth(self, X: Any, y: Any) -> Any:
        """What predictions of X are compared with."""
        if not _is_plain(X) and (y is None or isinstance(y, str)):
            return as_store(X, missing=self.missing).target(y)
        if y is None:
            raise InvalidDataError("requires y to be passed, but the target y is None")
        return y

    def _rules(self) -> dict[str, Any]:
        finite = "allow-nan" if self.missing == "mean" else True
        kinds = [np.float64, np.float32, np.int8, np.uint8]
        return {"accept_sparse": "csc", "dtype": kinds, "ensure_all_finite": finite}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags


def seed_of(random_state: Any) -> int:
    """A whole number for scikit-learn's ways of saying where randomness comes from."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def _is_plain(X: Any) -> bool:
    """Whether scikit-learn's own validation applies: not a store, not a path, not lazy."""
    return not (isinstance(X, FeatureStore | str) or hasattr(X, "__fspath__") or hasattr(X, "dask"))
