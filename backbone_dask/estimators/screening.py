"""Screening by itself, for people who want the best columns and nothing else.

Examples
--------
>>> import numpy as np
>>> from backbone_dask import screen
>>> X = np.random.default_rng(0).normal(size=(100, 300))
>>> (found,) = screen(X, 3 * X[:, 7] - 2 * X[:, 42], keep=2).values()
>>> found.candidates.tolist()
[7, 42]
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.estimators.execution import chosen_executor
from backbone_dask.estimators.inputs import TableLike, TargetLike
from backbone_dask.problems.questions import assign_folds, inquire
from backbone_dask.problems.rounds import screen_in_rounds
from backbone_dask.problems.screening import screen_store
from backbone_dask.protocols import Executor
from backbone_dask.runtime.narration import Narrator
from backbone_dask.screens.panels import Question
from backbone_dask.store import FeatureStore, as_store
from backbone_dask.store.schema import MissingPolicy
from backbone_dask.values import Screening, Target


def screen(
    data: TableLike,
    y: TargetLike = None,
    *,
    screen: str = "correlation",
    keep: int = 1000,
    folds: int | Sequence[int] | NDArray[np.integer[Any]] | None = None,
    targets: Sequence[str] | None = None,
    missing: MissingPolicy = "refuse",
    rounds: int = 1,
    n_nonzero: int = 10,
    executor: str = "auto",
    keep_blocks: bool = False,
    random_state: int = 0,
) -> dict[Question, Screening]:
    """The `keep` best columns by their marginal utility, from a single pass over the data.

    Parameters
    ----------
    data : a samples x features table, a FeatureStore, or the path of one.
    y : array (samples,), or (samples, targets), or the name of a store's target; None is the store's only one.
    screen : correlation, logistic, logistic-loss, svm, splines or entropy.
    folds : number of folds, or the fold of every sample (-1 is never left out); each is a question that leaves it out.
    targets : names of several targets of a store.
    missing : "mean" takes NaN for the mean of its column over all samples, those of a fold that is left out included.
        Whole numbers in memory are all values; in a store that declares it, -128 (int8) and 255 (uint8) are missing.
    rounds : passes over the columns, with "correlation" or "logistic-loss" and one target. Each later one asks what
        a column adds to a sparse model of the survivors so far, of at most `n_nonzero` features.
    keep_blocks : whether workers keep the blocks of a store in memory, as far as they fit, for the next pass.

    Returns a dict from Question(target, fold) to Screening.

    Examples
    --------
    >>> import numpy as np
    >>> from backbone_dask import screen
    >>> X = np.random.default_rng(0).normal(size=(100, 1000))
    >>> answers = screen(X, X[:, 7] + 0.5 * X[:, 42], keep=2, folds=3)
    >>> [(question.fold, best.candidates.tolist()) for question, best in answers.items()]
    [(None, [7, 42]), (0, [7, 42]), (1, [7, 42]), (2, [7, 42])]
    """
    store = as_store(data, missing=missing)
    known, work = _targets(store, y, targets), chosen_executor(executor, keep_blocks=keep_blocks)
    asked = {"screen": screen, "keep": _checked(keep), "rounds": rounds, "n_nonzero": n_nonzero}
    if rounds > 1:
        return _in_rounds(store, known, folds, work, **asked)
    inquiry = inquire(screen, known, _folds(folds, store.n_samples, random_state))
    return screen_store(store, inquiry, keep, work, listen=Narrator())


def _checked(keep: int) -> int:
    if keep < 1:
        raise InvalidSettingError(f"keep is {keep}; it must be at least 1")
    return keep


def _in_rounds(
    store: FeatureStore, known: dict[str, Target], folds: Any, work: Executor, **asked: Any
) -> dict[Question, Screening]:
    if len(known) > 1 or folds is not None:
        raise InvalidSettingError("several rounds take one target and no folds")
    ((name, target),) = known.items()
    return {Question(name, None): screen_in_rounds(store, target, work, listen=Narrator(), **asked)}


def _targets(store: FeatureStore, y: TargetLike, names: Sequence[str] | None) -> dict[str, Target]:
    if names is not None:
        return {name: store.target(name) for name in names}
    if y is None or isinstance(y, str):
        return {y or store.only_target: store.target(y)}
    table = np.asarray(y, np.float64)
    if table.shape[0] != store.n_samples or table.ndim > 2:
        raise InvalidDataError(f"y has shape {table.shape}, the table has {store.n_samples} samples")
    return {"y": table} if table.ndim == 1 else {f"y{at}": column for at, column in enumerate(table.T)}


def _folds(folds: Any, n_samples: int, seed: int) -> Any:
    return assign_folds(n_samples, int(folds), seed) if isinstance(folds, Integral) else folds
