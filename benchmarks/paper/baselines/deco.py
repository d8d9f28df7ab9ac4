"""DECO (Wang, Dunson and Leng 2016): decorrelate columns, choose in blocks of them by the lasso, fit the chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.paper.baselines.sis_enet import fit_net

BLOCKS = 5
RIDGE = 1.0
"""r of the paper, which recommends 1."""
LASSO = (1.0,)
_PARTITION = 27_182
Matrix = NDArray[np.float64]
Ids = NDArray[np.int64]


def deco_columns(X: NDArray[Any], y: NDArray[np.float64], *, seed: int, blocks: int = BLOCKS) -> Ids:
    """Ids of the columns that the lasso chooses in one of the blocks, sorted; lambda by a hold-out of rows."""
    F = decorrelation(X)
    response = F @ (y - y.mean())
    chosen = [part[_lasso(X[:, part], F, response, seed)] for part in partition(X.shape[1], blocks, seed)]
    return np.sort(np.concatenate(chosen))


def partition(n_columns: int, blocks: int, seed: int) -> list[Ids]:
    """Random blocks of about the same size, each sorted."""
    order = np.random.default_rng([_PARTITION, seed]).permutation(n_columns)
    return [np.sort(part) for part in np.array_split(order, blocks)]


def decorrelation(X: NDArray[Any], ridge: float = RIDGE, at_a_time: int = 8192) -> Matrix:
    """F = (XX'/p + r/p I)^(-1/2) of the standardised columns, shape (n, n); blocks only ever add to XX'."""
    n, p = X.shape
    products = np.zeros((n, n))
    for start in range(0, p, at_a_time):
        columns = standardised(X[:, start : start + at_a_time])
        products += columns @ columns.T
    values, vectors = np.linalg.eigh((products + ridge * np.eye(n)) / p)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def standardised(X: NDArray[Any]) -> Matrix:
    """Columns of mean 0 and variance 1; constant ones are zeros."""
    centred = X - X.mean(axis=0, dtype=np.float64)
    spread = centred.std(axis=0)
    return np.asarray(np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0))


def _lasso(X: NDArray[Any], F: Matrix, response: NDArray[np.float64], seed: int) -> Ids:
    columns = F @ standardised(X)
    return fit_net(columns, response, "linear", seed=seed, mixes=LASSO).support
