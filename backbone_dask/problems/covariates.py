"""Covariates: columns that are in every model, found in the table or given beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.problems.model import Terms
from backbone_dask.problems.sparse import raw_values
from backbone_dask.store import FeatureStore
from backbone_dask.values import CandidateIds, Target


@dataclass(frozen=True, slots=True)
class Covariates:
    """Values (samples, q): first those of the table, by id, then those given beside it."""

    values: NDArray[np.float64]
    ids: CandidateIds
    names: tuple[str, ...]
    means: NDArray[np.float64]

    def require_not(self, target: Target) -> None:
        """Refuse the target itself: with it in every model there is nothing to explain."""
        for at, column in enumerate(self.values.T):
            if np.array_equal(column, target):
                raise InvalidDataError(f"{self._called(at)} is the target itself; leave it out, or take another target")

    def _called(self, at: int) -> str:
        return f"covariate {self.names[at]}" if at < len(self.names) else f"covariate {at - len(self.names)}"

    def terms(self, coefficients: NDArray[np.float64]) -> tuple[Terms, NDArray[np.float64]]:
        """Coefficients (q,) as those of the table's features, and those of what was beside it."""
        own = coefficients[: self.ids.size]
        return Terms(self.ids, self.names, own, self.means), coefficients[self.ids.size :]


def find_covariates(given: Any, store: FeatureStore) -> Covariates:
    """From None, a list of names or ids of the store's features, or a table (samples,) or (samples, q)."""
    if given is None:
        return beside(np.empty((store.n_samples, 0)))
    if isinstance(given, list | tuple) and all(isinstance(each, str | int | np.integer) for each in given):
        return _of_the_table(list(given), store)
    table = np.asarray(given, np.float64)
    return beside(table[:, None] if table.ndim == 1 else table)


def beside(values: NDArray[np.float64]) -> Covariates:
    return Covariates(values, np.empty(0, np.int64), (), np.empty(0))


def _of_the_table(features: list[Any], store: FeatureStore) -> Covariates:
    named = [each for each in features if isinstance(each, str)]
    found = dict(zip(named, store.find(named).tolist(), strict=True)) if named else {}
    ids = np.array([found.get(each, each) if isinstance(each, str) else each for each in features], np.int64)
    if np.unique(ids).size != ids.size:
        raise InvalidDataError("a covariate is named twice; name each feature once")
    ids = np.sort(ids)
    columns = store.gather(ids)
    return Covariates(raw_values(columns).T, ids, tuple(store.names(ids)), columns.mean)
