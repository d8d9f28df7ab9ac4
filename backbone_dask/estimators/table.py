"""What all estimators share: parameters, and tables of every kind as stores."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from backbone_dask.errors import InvalidDataError
from backbone_dask.estimators.inputs import TableLike, TargetLike, as_target, header, is_stored
from backbone_dask.store import FeatureStore, MemoryStore, as_store
from backbone_dask.store.frames import eager_frame, is_lazy, lazy_array


class TableEstimator(BaseEstimator):
    """An estimator that takes what scikit-learn takes, and stores, paths and lazy arrays besides.

    `feature_names_in_` is there if the columns of a table had names that are all strings. Of a store only the names of
    the features in the model are kept, and looked up in the tables that it is used on.
    """

    _checks: ClassVar[dict[str, Any]] = {}

    def _take(self, given: dict[str, Any]) -> None:
        """Keep the parameters of the constructor as they are."""
        for name in self._get_param_names():
            setattr(self, name, given[name])

    def _training_data(self, X: TableLike, y: TargetLike) -> tuple[FeatureStore, NDArray[Any]]:
        self._by_name = False
        if is_stored(X):
            return self._stored(X, y)
        target = _given(y)
        if is_lazy(X):
            return self._lazy(X, reset=True), target
        rules = {**self._checks, **self._rules()}
        table, target = validate_data(self, eager_frame(X), target, ensure_min_samples=2, **rules)
        return self._in_memory(X, table, self._names()), target

    def _stored(self, X: TableLike, y: TargetLike) -> tuple[FeatureStore, NDArray[Any]]:
        store = as_store(X, missing=self._missing)
        validate_data(self, header(None, store.n_features), skip_check_array=True)
        self._by_name = store.named
        return store, store.target(y) if y is None or isinstance(y, str) else as_target(y)

    def _table(self, X: TableLike) -> FeatureStore:
        """A table that the fitted model is used on, refused as by scikit-learn if its columns are others."""
        if is_stored(X) or self._by_name:
            return as_store(X, missing=self._missing)
        if is_lazy(X):
            return self._lazy(X, reset=False)
        return self._in_memory(X, validate_data(self, eager_frame(X), reset=False, **self._rules()))

    def _lazy(self, X: TableLike, *, reset: bool) -> MemoryStore:
        array, names = lazy_array(X)
        if array.ndim == 2 and not np.isnan(array.shape).any():
            validate_data(self, header(names, array.shape[1]), reset=reset, skip_check_array=True)
        return self._in_memory(X, array, self._names() if reset else None)

    def _names(self) -> list[str] | None:
        return self.feature_names_in_.tolist() if hasattr(self, "feature_names_in_") else None

    def _in_memory(self, X: TableLike, table: Any, names: list[str] | None = None) -> MemoryStore:
        """What scikit-learn made of X, called what X was."""
        store = MemoryStore(table, names=names, missing=self._missing)
        store.location = f"a {type(X).__name__} in memory"
        return store

    def _truth(self, X: TableLike, y: TargetLike) -> NDArray[Any]:
        """What predictions of X are compared with."""
        if is_stored(X) and (y is None or isinstance(y, str)):
            return as_store(X, missing=self._missing).target(y)
        return _given(y)

    @property
    def _missing(self) -> Any:
        return self.missing

    def _rules(self) -> dict[str, Any]:
        finite = "allow-nan" if self._missing == "mean" else True
        kinds = [np.float64, np.float32, np.int8, np.uint8]
        return {"accept_sparse": "csc", "dtype": kinds, "ensure_all_finite": finite}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._missing == "mean"
        return tags


def seed_of(random_state: Any) -> int:
    """A whole number for scikit-learn's ways of saying where randomness comes from."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def _given(y: TargetLike) -> NDArray[Any]:
    """The target of a table that is no store."""
    if y is None:
        raise InvalidDataError("requires y to be passed, but the target y is None")
    if isinstance(y, str):
        raise InvalidDataError(f"y is the word {y!r}; only a store has targets by name: give one value for each sample")
    return as_target(y)
