"""Screening by itself, for people who want the best columns and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.estimators.execution import chosen_executor
from backbone_dask.problems.questions import assign_folds, inquire
from backbone_dask.problems.screening import screen_store
from backbone_dask.screens.panels import Question
from backbone_dask.store import FeatureStore, as_store
from backbone_dask.store.schema import MissingPolicy
from backbone_dask.values import Screening, Target


def screen(
    data: Any,
    y: Any = None,
    *,
    screen: str = "correlation",
    keep: int = 1000,
    folds: Any = None,
    targets: Sequence[str] | None = None,
    missing: MissingPolicy = "refuse",
    executor: str = "auto",
    random_state: int = 0,
) -> dict[Question, Screening]:
    """The `keep` best columns by their marginal utility, from a single pass over the data.

    Parameters
    ----------
    data : a samples x features table, a FeatureStore, or the path of one.
    y : array (samples,), or (samples, targets), or the name of a store's target; None is the store's only one.
    screen : correlation, logistic, logistic-loss, svm, splines or entropy.
    folds : number of folds, or the fold of every sample (-1 is never left out). Each fold is a question of its own, in
        which its samples are left out.
    targets : names of several targets of a store.

    Returns
    -------
    dict from Question(target, fold) to Screening; without folds and with one target it has one entry.
    """
    if keep < 1:
        raise InvalidSettingError(f"keep is {keep}; it must be at least 1")
    store = as_store(data, missing=missing)
    inquiry = inquire(screen, _targets(store, y, targets), _folds(folds, store.n_samples, random_state))
    return screen_store(store, inquiry, keep, chosen_executor(executor))


def _targets(store: FeatureStore, y: Any, names: Sequence[str] | None) -> dict[str, Target]:
    if names is not None:
        return {name: store.target(name) for name in names}
    if y is None or isinstance(y, str):
        return {y or "y": store.target(y)}
    table = np.asarray(y, np.float64)
    if table.shape[0] != store.n_samples or table.ndim > 2:
        raise InvalidDataError(f"y has shape {table.shape}, the table has {store.n_samples} samples")
    return {"y": table} if table.ndim == 1 else {f"y{at}": column for at, column in enumerate(table.T)}


def _folds(folds: Any, n_samples: int, seed: int) -> Any:
    return assign_folds(n_samples, folds, seed) if isinstance(folds, int) else folds
