"""Who is held out when: folds by a seed, and what a method gets to see of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from benchmarks.real.data import CLASSES, Data


@dataclass(frozen=True)
class Fold:
    """One of `n_folds`: sample numbers to learn from and to judge by; no sample is in both."""

    repeat: int
    index: int
    n_folds: int
    train: NDArray[np.int64]
    test: NDArray[np.int64]

    @property
    def label(self) -> str:
        return f"r{self.repeat}f{self.index}"

    @property
    def digest(self) -> str:
        """The same for the same samples in the same roles, of as many folds."""
        found = hashlib.sha256(f"{self.n_folds} {self.train.size} {self.test.size}".encode())
        for samples in (self.train, self.test):
            found.update(samples.astype("<i8").tobytes())
        return found.hexdigest()


@dataclass(frozen=True)
class Split:
    """What a method sees: the answers of the samples that are held out are not there."""

    task: str
    X: Any
    y: NDArray[Any]
    covariates: NDArray[np.float64] | None
    X_new: Any
    covariates_new: NDArray[np.float64] | None
    seed: int


def folds(data: Data, n_folds: int, repeats: int) -> Iterator[Fold]:
    """Classes in equal shares, groups as a whole."""
    for repeat in range(repeats):
        parts = _splitter(data, n_folds, repeat)
        for index, (train, test) in enumerate(parts):
            yield Fold(repeat, index, n_folds, train, test)


def _splitter(data: Data, n_folds: int, seed: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    how: dict[str, Any] = {"n_splits": n_folds, "shuffle": True, "random_state": seed}
    rows = np.zeros((data.y.size, 1))
    if data.together is not None:
        return GroupKFold(**how).split(rows, groups=data.together)
    if data.task == CLASSES:
        return StratifiedKFold(**how).split(rows, data.y)
    return KFold(**how).split(rows)


def split(data: Data, fold: Fold) -> Split:
    X, X_new = data.X[fold.train], data.X[fold.test]
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and np.isnan(X).any():
        means = np.nanmean(X, axis=0)
        X, X_new = _filled(X, means), _filled(X_new, means)
    rows = data.covariates
    free, free_new = (None, None) if rows is None else (rows[fold.train], rows[fold.test])
    return Split(data.task, X, data.y[fold.train], free, X_new, free_new, fold.repeat)


def _filled(X: NDArray[Any], means: NDArray[Any]) -> NDArray[Any]:
    """Unknown values stand for the mean of the samples to learn from."""
    return np.where(np.isnan(X), means, X)
