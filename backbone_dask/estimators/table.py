"""What all estimators share: parameters, and tables of every kind as stores."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from numbers import Integral
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from backbone_dask.errors import InvalidDataError
from backbone_dask.estimators.inputs import TableLike, TargetLike, as_target, header, is_stored
from backbone_dask.problems.classes import one_class_only
from backbone_dask.problems.linear import numbers
from backbone_dask.settings import Settings
from backbone_dask.store import FeatureStore, MemoryStore, as_store
from backbone_dask.store.frames import eager_frame, is_lazy, lazy_array, only_columns
from backbone_dask.store.missing import label, require_values
from backbone_dask.tree_settings import TreeSettings

SettingsT = TypeVar("SettingsT", Settings, TreeSettings)


class TableEstimator(BaseEstimator):
    """An estimator that takes what scikit-learn takes, and stores, paths and lazy arrays besides.

    `feature_names_in_` is there if the columns of a table had names that are all strings. Of a store only the names of
    the features in the model are kept, and looked up in the tables that it is used on.
    """

    _checks: ClassVar[dict[str, Any]] = {}
    _class_names: tuple[str, ...] = ()

    def _take(self, given: dict[str, Any]) -> None:
        """Keep the parameters of the constructor as they are."""
        for name in self._get_param_names():
            setattr(self, name, given[name])

    def _training_data(self, X: TableLike, y: TargetLike) -> tuple[FeatureStore, NDArray[Any]]:
        self._by_name, self._class_names = False, ()
        if is_stored(X):
            return self._stored(X, y)
        target = self._answers(_given(y))
        if is_lazy(X):
            return self._lazy(X, reset=True), target
        rules = {**self._checks, **self._rules()}
        table, target = validate_data(self, eager_frame(X), target, ensure_min_samples=2, **rules)
        return self._in_memory(X, self._with_values(table), self._names()), target

    def _stored(self, X: TableLike, y: TargetLike) -> tuple[FeatureStore, NDArray[Any]]:
        store = as_store(X, missing=self._missing)
        validate_data(self, header(None, store.n_features), skip_check_array=True)
        self._by_name = store.named
        if y is not None and not isinstance(y, str):
            return store, self._answers(as_target(y))
        self._class_names = store.class_names(y)
        return store, self._answers(store.answers(y))

    def _table(self, X: TableLike) -> FeatureStore:
        """A table that the fitted model is used on, refused as by scikit-learn if its columns are others."""
        if is_stored(X):
            return self._as_wide(as_store(X, missing=self._missing))
        if self._by_name:
            return self._as_wide(as_store(only_columns(X, self._used_names()), missing=self._missing))
        if is_lazy(X):
            return self._lazy(X, reset=False)
        return self._in_memory(X, self._with_values(validate_data(self, eager_frame(X), reset=False, **self._rules())))

    def _used_names(self) -> Collection[str]:
        """Names of the features that predictions are made from."""
        raise NotImplementedError

    def _as_wide(self, store: FeatureStore) -> FeatureStore:
        """Where columns have no names their places count, and there must be as many as in the fit."""
        if not store.named and store.n_features != self.n_features_in_:
            raise InvalidDataError(
                f"X has {store.n_features} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input"
            )
        return store

    def _with_values(self, table: Any) -> Any:
        """The table, refused by the column where it holds what is no number."""
        names = self._names()
        require_values(table, self._missing, lambda j: label(j, None if names is None else names[j]))
        return table

    def _answers(self, target: NDArray[Any]) -> NDArray[Any]:
        """The target, refused if it holds words where numbers are explained."""
        return numbers(target) if self._checks.get("y_numeric") and target.dtype.kind in "OUS" else target

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
            return self._called(as_store(X, missing=self._missing).answers(y))
        return self._called(_given(y))

    def _called(self, target: NDArray[Any]) -> NDArray[Any]:
        """Codes of classes as their names, where the model was fitted to a store that has names for them."""
        if not self._class_names or target.dtype.kind not in "iuf":
            return self._answers(target)
        known = np.arange(len(self._class_names))
        if not np.isin(target, known).all():
            raise InvalidDataError(
                f"y holds {target[~np.isin(target, known)][0]:g}, which is no class of the model; give the names "
                f"{', '.join(self._class_names)}, or their codes 0 to {known[-1]}"
            )
        return np.array(self._class_names)[target.astype(np.int64)]

    @property
    def _missing(self) -> Any:
        return self.missing

    def _rules(self) -> dict[str, Any]:
        kinds = [np.float64, np.float32, np.int8, np.uint8]
        # `_with_values` looks for NaN and infinity, and knows what can be done about them.
        return {"accept_sparse": "csc", "dtype": kinds, "ensure_all_finite": False}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._missing == "mean"
        return tags


def settings_of(estimator: BaseEstimator, kind: type[SettingsT], **other: Any) -> SettingsT:
    """Settings from the parameters of the same names; `other` take the place of some."""
    own = {field.name for field in fields(kind)} & set(estimator._get_param_names()) - set(other)
    given = {name: getattr(estimator, name) for name in own}
    return kind(**given, **other, seed=seed_of(estimator.random_state))


def coded(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes, sorted, and the place of every label among them; two classes or more."""
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if classes.size < 2:
        raise one_class_only(classes[0])
    return classes, codes


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
