"""Covariates: columns that are in every model, found in the table or given beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.adjustment import as_numbers
from backbone_dask.errors import InvalidDataError
from backbone_dask.problems.model import Terms
from backbone_dask.problems.names import find_named
from backbone_dask.problems.sparse import raw_values
from backbone_dask.store import FeatureStore
from backbone_dask.values import CandidateIds, Target

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Covariates:
    """Values (samples, q): first those of the table, by id, then those given beside it, which may have names."""

    values: Table
    ids: CandidateIds
    names: tuple[str, ...]
    means: NDArray[np.float64]
    beside: tuple[str, ...] = ()

    def require_not(self, target: Target) -> None:
        """Refuse the target itself: with it in every model there is nothing to explain."""
        for at, column in enumerate(self.values.T):
            if np.array_equal(column, target):
                called = dict(enumerate(self.names + self.beside)).get(at, str(at))
                raise InvalidDataError(f"covariate {called} is the target itself; leave it out, or take another target")

    def terms(self, coefficients: NDArray[np.float64]) -> tuple[Terms, NDArray[np.float64]]:
        """Coefficients (q,) as those of the table's features, and those of what was beside it."""
        own = coefficients[: self.ids.size]
        return Terms(self.ids, self.names, own, self.means), coefficients[self.ids.size :]


def find_covariates(given: Any, store: FeatureStore) -> Covariates:
    """From None, a list of names or ids of the store's features, or what `beside_table` takes."""
    if given is None:
        given = np.empty((store.n_samples, 0))
    if isinstance(given, str):
        raise InvalidDataError(f"covariates is the word {given!r}; give a list of names, [{given!r}], or a table")
    if isinstance(given, list | tuple) and all(_is_name_or_id(each) for each in given):
        return _of_the_table(list(given), store)
    values, names = beside_table(given)
    return Covariates(values, np.empty(0, np.int64), (), np.empty(0), names)


def beside_table(given: Any) -> tuple[Table, tuple[str, ...]]:
    """Covariates (samples, q) and their names, if they have some.

    From a vector (samples,), a table (samples, q), a frame with named columns, or a mapping from names to vectors.
    """
    if isinstance(given, Mapping):
        columns = [as_numbers(f"covariate {name}", values) for name, values in given.items()]
        if len({column.shape for column in columns}) > 1:
            raise InvalidDataError(
                f"covariates {', '.join(map(str, given))} differ in length; give one for each sample"
            )
        return np.stack(columns, axis=-1), tuple(map(str, given))
    table = as_numbers("covariates", given)
    names = tuple(map(str, given.columns)) if hasattr(given, "columns") else ()
    return table[:, None] if table.ndim == 1 else table, names


def _is_name_or_id(each: Any) -> bool:
    return isinstance(each, str | int | np.integer) and not isinstance(each, bool)


def _of_the_table(features: list[Any], store: FeatureStore) -> Covariates:
    named = [each for each in features if isinstance(each, str)]
    found = dict(zip(named, find_named(named, store).tolist(), strict=True)) if named else {}
    ids = np.array([found.get(each, each) if isinstance(each, str) else each for each in features], np.int64)
    if np.unique(ids).size != ids.size:
        raise InvalidDataError("a covariate is named twice; name each feature once")
    ids = np.sort(ids)
    columns = store.gather(ids)
    return Covariates(raw_values(columns).T, ids, tuple(store.names(ids)), columns.mean)
