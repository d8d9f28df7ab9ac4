"""The paper's real tables, and permuted copies of their columns: what a method must not choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.paper.data import data_file

MOST_MISSING = 10
TEST_SHARE = 0.2
_SPLIT, _TRAIN, _TEST = 57_721, 57_722, 57_723
"""Addresses of the draws of one case, far from the small seeds of the methods: equal streams are equal permutations."""
Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Table:
    """Samples x features, and the response: numbers, or classes 0 and 1."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Expanded:
    """Training and test samples; the first `n_original` columns are real, all others permuted copies of them."""

    X: Matrix
    y: NDArray[np.float64]
    X_test: Matrix
    y_test: NDArray[np.float64]
    n_original: int

    def original(self) -> Expanded:
        """The same without the copies: what an oracle sees."""
        return self.take(np.arange(self.n_original))

    def take(self, ids: NDArray[np.int64]) -> Expanded:
        """Some of the columns, in this order."""
        return Expanded(self.X[:, ids], self.y, self.X_test[:, ids], self.y_test, self.n_original)

    def samples(self, training: NDArray[np.int64], test: NDArray[np.int64]) -> Expanded:
        """Some of the training samples, and others of them in place of the test samples."""
        return Expanded(self.X[training], self.y[training], self.X[test], self.y[test], self.n_original)


def communities(file: Path) -> Table:
    """Without the five columns that name a place, those with more than ten values missing, and incomplete rows."""
    frame = pd.read_csv(file, header=None, na_values="?").iloc[:, 5:]
    kept = frame.loc[:, frame.isna().sum() <= MOST_MISSING].dropna().to_numpy(np.float64)
    return Table(kept[:, :-1], kept[:, -1])


def housing(file: Path) -> Table:
    """With the squares of what is not binary, and all products of pairs."""
    values = np.loadtxt(file)
    X, y = values[:, :-1], values[:, -1]
    squares = [column**2 for column in X.T if np.unique(column).size > 2]
    pairs = [X[:, i] * X[:, j] for i, j in combinations(range(X.shape[1]), 2)]
    return Table(np.column_stack([X, *squares, *pairs]), y)


def breast_cancer(file: Path) -> Table:
    """Malignant or not; the 16 rows with a missing value are left out."""
    frame = pd.read_csv(file, header=None, na_values="?").dropna()
    return Table(frame.iloc[:, 1:-1].to_numpy(np.float64), (frame.iloc[:, -1] == 4).to_numpy(np.float64))


def ionosphere(file: Path) -> Table:
    """Good or bad radar returns, without the column that is constant."""
    frame = pd.read_csv(file, header=None)
    X = frame.iloc[:, :-1].to_numpy(np.float64)
    return Table(X[:, np.ptp(X, axis=0) > 0], (frame.iloc[:, -1] == "g").to_numpy(np.float64))


TABLES: dict[str, tuple[str, Callable[[Path], Table]]] = {
    "communities": ("uci/communities.data", communities),
    "housing": ("uci/housing.data", housing),
    "breast cancer": ("uci/breast-cancer-wisconsin.data", breast_cancer),
    "ionosphere": ("uci/ionosphere.data", ionosphere),
}


def load(name: str) -> Table:
    """One of the four tables, from the folder that the user named."""
    file, read = TABLES[name]
    return read(data_file(file))


def expanded(name: str, *, split: int, expansion: int, copies: int) -> Expanded:
    """A split of a table into four parts to train on and one to test on, each with copies of its own permutations."""
    table = load(name)
    training, test = parts(table.y.size, split)
    X, X_test = table.X[training], table.X[test]
    return Expanded(
        with_copies(X, copies, np.random.default_rng([_TRAIN, split, expansion])),
        table.y[training],
        with_copies(X_test, copies, np.random.default_rng([_TEST, split, expansion])),
        table.y[test],
        X.shape[1],
    )


def parts(n_samples: int, split: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Samples to train on and samples to test on, sorted."""
    order = np.random.default_rng([_SPLIT, split]).permutation(n_samples)
    n_test = round(TEST_SHARE * n_samples)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def with_copies(X: NDArray[np.float64], copies: int, rng: np.random.Generator) -> Matrix:
    """X (n, p) and behind it `copies` permutations of each column, one column after the other; columns lie together."""
    n, p = X.shape
    rows = np.empty((p * (1 + copies), n), np.float32)
    rows[:p] = X.T
    for at, column in enumerate(rows[:p]):
        own = rows[p + at * copies : p + (at + 1) * copies]
        own[:] = column
        rng.permuted(own, axis=1, out=own)
    return rows.T
